//! Sockets: TCP, raw packets, netlink; their options.

use super::checked;
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, Backlog, LinkAddr, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, SockaddrLike,
    bind, connect, getsockopt, setsockopt, sockopt,
};
use nix::sys::time::TimeVal;
use nix::{getsockopt_impl, setsockopt_impl, sockopt_impl};
use std::ffi::OsString;
use std::io;
use std::mem::{size_of, zeroed};
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

sockopt_impl!(
    /// The number by which the kernel knows a socket.
    Cookie, GetOnly, libc::SOL_SOCKET, libc::SO_COOKIE, u64
);
sockopt_impl!(
    /// Sends past the queueing discipline.
    QdiscBypass, SetOnly, libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, bool
);

pub fn interface_index(name: &str) -> io::Result<u32> {
    Ok(nix::net::if_::if_nametoindex(name)?)
}

fn socket(family: AddressFamily, kind: SockType, flags: SockFlag) -> io::Result<OwnedFd> {
    Ok(nix::sys::socket::socket(family, kind, flags | SockFlag::SOCK_CLOEXEC, None)?)
}

/// To ask the kernel about devices with.
pub(super) fn datagram_socket() -> io::Result<OwnedFd> {
    socket(AddressFamily::Inet, SockType::Datagram, SockFlag::empty())
}

/// An option that `nix` has not, as the kernel lays it out.
pub fn set_option<T: Copy>(
    fd: BorrowedFd<'_>,
    level: libc::c_int,
    name: libc::c_int,
    value: &T,
) -> io::Result<()> {
    let len = size_of::<T>() as libc::socklen_t;
    // SAFETY: `value` is valid for reads of its own size.
    let done =
        unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, std::ptr::from_ref(value).cast(), len) };
    checked(done).map(drop)
}

/// An option as bytes; fewer come where the kernel knows fewer.
fn option_bytes(
    fd: BorrowedFd<'_>,
    level: libc::c_int,
    name: libc::c_int,
    out: &mut [u8],
) -> io::Result<usize> {
    let mut len = out.len() as libc::socklen_t;
    // SAFETY: `out` is valid for writes of `len` bytes, and the kernel writes no more.
    checked(unsafe { libc::getsockopt(fd.as_raw_fd(), level, name, out.as_mut_ptr().cast(), &mut len) })?;
    Ok(len as usize)
}

/// The number by which the kernel knows a socket.
pub fn cookie(fd: BorrowedFd<'_>) -> io::Result<u64> {
    Ok(getsockopt(&fd, Cookie)?)
}

/// Congestion control by name, for one socket.
pub fn set_congestion(fd: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    Ok(setsockopt(&fd, sockopt::TcpCongestion, &OsString::from(name))?)
}

/// TCP_INFO as bytes; what this kernel does not tell is left zero.
pub fn tcp_info(fd: BorrowedFd<'_>) -> io::Result<([u8; 256], usize)> {
    let mut out = [0; 256];
    let len = option_bytes(fd, libc::IPPROTO_TCP, libc::TCP_INFO, &mut out)?;
    Ok((out, len))
}

/// Packets of a protocol on one interface, or on all where its index is 0.
pub(super) fn bind_packets(fd: BorrowedFd<'_>, protocol: u16, interface: u32) -> io::Result<()> {
    // SAFETY: all zero is a valid address.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = protocol.to_be();
    address.sll_ifindex = interface as i32;
    let len = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: `address` is a valid sockaddr_ll of `len` bytes.
    let address = unsafe { LinkAddr::from_raw(std::ptr::from_ref(&address).cast(), Some(len)) };
    Ok(bind(fd.as_raw_fd(), &address.ok_or(Errno::EINVAL)?)?)
}

/// A packet socket that hears nothing before it is bound.
pub(super) fn unbound_packet_socket(kind: SockType) -> io::Result<OwnedFd> {
    socket(AddressFamily::Packet, kind, SockFlag::SOCK_NONBLOCK)
}

/// A raw packet socket on one interface, ready to receive.
pub fn packet_socket(protocol: u16, interface: u32) -> io::Result<OwnedFd> {
    // Bound before any protocol is heard: nothing of another interface ever comes.
    let fd = unbound_packet_socket(SockType::Raw)?;
    bind_packets(fd.as_fd(), protocol, interface)?;
    Ok(fd)
}

/// A TCP socket of this thread's namespace, with an address of its own.
pub fn tcp_socket(own: SocketAddrV4) -> io::Result<OwnedFd> {
    let fd = socket(AddressFamily::Inet, SockType::Stream, SockFlag::empty())?;
    setsockopt(&fd, sockopt::ReuseAddr, &true)?;
    bind(fd.as_raw_fd(), &SockaddrIn::from(own))?;
    Ok(fd)
}

/// Begins to connect; the socket must not block. It is connected, or has failed, once it can be written.
pub fn begin_connect(fd: BorrowedFd<'_>, to: SocketAddrV4) -> io::Result<()> {
    match connect(fd.as_raw_fd(), &SockaddrIn::from(to)) {
        Err(Errno::EINPROGRESS) => Ok(()),
        begun => Ok(begun?),
    }
}

pub fn listen(fd: BorrowedFd<'_>, backlog: i32) -> io::Result<()> {
    Ok(nix::sys::socket::listen(&fd, Backlog::new(backlog)?)?)
}

/// Packets that a packet socket lost for want of room since it was asked last.
pub fn packet_drops(fd: BorrowedFd<'_>) -> io::Result<u64> {
    let mut out = [0u8; size_of::<libc::tpacket_stats>()];
    option_bytes(fd, libc::SOL_PACKET, libc::PACKET_STATISTICS, &mut out)?;
    let word = |at: usize| u32::from_ne_bytes([out[at], out[at + 1], out[at + 2], out[at + 3]]);
    Ok(u64::from(word(4)))
}

/// A receive buffer beyond the machine's limit.
pub fn force_receive_buffer(fd: BorrowedFd<'_>, bytes: usize) -> io::Result<()> {
    Ok(setsockopt(&fd, sockopt::RcvBufForce, &bytes)?)
}

/// Receive buffer beyond the machine's limit where that is allowed, kernel timestamps.
pub fn prepare_receiver(fd: BorrowedFd<'_>, buffer_bytes: usize) -> io::Result<()> {
    if force_receive_buffer(fd, buffer_bytes).is_err() {
        setsockopt(&fd, sockopt::RcvBuf, &buffer_bytes)?;
    }
    Ok(setsockopt(&fd, sockopt::ReceiveTimestampns, &true)?)
}

/// Sends past the queueing discipline, and has room for bursts.
pub fn prepare_sender(fd: BorrowedFd<'_>, buffer_bytes: usize) -> io::Result<()> {
    if setsockopt(&fd, sockopt::SndBufForce, &buffer_bytes).is_err() {
        setsockopt(&fd, sockopt::SndBuf, &buffer_bytes)?;
    }
    Ok(setsockopt(&fd, QdiscBypass, &true)?)
}

/// A socket for one of the kernel's netlink families, of this thread's namespace, which gives up waiting after a while.
pub fn netlink(family: SockProtocol, patience: Duration) -> io::Result<OwnedFd> {
    let fd = nix::sys::socket::socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, family)?;
    let timeout = TimeVal::new(patience.as_secs() as i64, patience.subsec_micros().into());
    setsockopt(&fd, sockopt::ReceiveTimeout, &timeout)?;
    Ok(fd)
}

pub fn send(fd: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<()> {
    nix::sys::socket::send(fd.as_raw_fd(), bytes, MsgFlags::empty())?;
    Ok(())
}

pub fn receive(fd: BorrowedFd<'_>, bytes: &mut [u8]) -> io::Result<usize> {
    Ok(nix::sys::socket::recv(fd.as_raw_fd(), bytes, MsgFlags::empty())?)
}
