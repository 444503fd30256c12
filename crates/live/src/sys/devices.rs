//! Network devices: what is asked by `ioctl`, of which no crate has these.

use super::checked;
use super::sockets::datagram_socket;
use std::io;
use std::os::fd::AsRawFd;

const SIOCETHTOOL: libc::c_ulong = 0x8946;

#[repr(C)]
struct EthtoolValue {
    command: u32,
    data: u32,
}

#[repr(C)]
struct InterfaceRequest {
    name: [u8; libc::IFNAMSIZ],
    data: *mut EthtoolValue,
    rest: [u8; 16],
}

/// One of the old ethtool settings that are a word each, off.
pub fn ethtool_off(interface: &str, command: u32) -> io::Result<()> {
    ethtool(interface, command).map(drop)
}

/// What one of them is.
pub fn ethtool(interface: &str, command: u32) -> io::Result<u32> {
    let fd = datagram_socket()?;
    let mut value = EthtoolValue { command, data: 0 };
    let mut request = InterfaceRequest { name: [0; libc::IFNAMSIZ], data: &mut value, rest: [0; 16] };
    for (to, from) in request.name.iter_mut().take(libc::IFNAMSIZ - 1).zip(interface.bytes()) {
        *to = from;
    }
    // SAFETY: the request is laid out as ifreq, and `value` as ethtool_value; both outlive the call.
    checked(unsafe { libc::ioctl(fd.as_raw_fd(), SIOCETHTOOL, &mut request) })?;
    Ok(value.data)
}

const TUNSETIFF: libc::c_ulong = 0x4004_54ca;

#[repr(C)]
struct InterfaceFlags {
    name: [u8; libc::IFNAMSIZ],
    flags: libc::c_short,
    rest: [u8; 22],
}

/// A TUN interface of this thread's namespace: each read is an IP packet that the kernel routed there, each write one
/// that it takes in. It is there as long as the descriptor is; reads do not wait.
pub fn tun(interface: &str) -> io::Result<std::fs::File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = std::fs::OpenOptions::new();
    let file = options.read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun")?;
    let flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    let mut request = InterfaceFlags { name: [0; libc::IFNAMSIZ], flags, rest: [0; 22] };
    for (to, from) in request.name.iter_mut().take(libc::IFNAMSIZ - 1).zip(interface.bytes()) {
        *to = from;
    }
    // SAFETY: the request is laid out as ifreq and outlives the call.
    checked(unsafe { libc::ioctl(file.as_raw_fd(), TUNSETIFF, &mut request) })?;
    Ok(file)
}
