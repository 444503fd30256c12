//! System calls: all `unsafe` of this crate, wrapped so that nothing outside can misuse it.

pub mod bpf;
mod mounts;
mod packets;

pub use mounts::*;
pub use packets::*;
use std::ffi::CString;
use std::io;
use std::mem::{MaybeUninit, size_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

pub const ETH_P_ALL: u16 = libc::ETH_P_ALL as u16;
pub const ETH_P_IP: u16 = libc::ETH_P_IP as u16;
/// `sll_pkttype` of a packet that this host sent.
pub const OUTGOING: u8 = libc::PACKET_OUTGOING;

fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

#[derive(Clone, Copy, Debug)]
pub enum Clock {
    Monotonic,
    Realtime,
}

/// Nanoseconds.
pub fn clock(which: Clock) -> i64 {
    let id = match which {
        Clock::Monotonic => libc::CLOCK_MONOTONIC,
        Clock::Realtime => libc::CLOCK_REALTIME,
    };
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is valid for writes; both clocks exist on every Linux.
    unsafe { libc::clock_gettime(id, &mut t) };
    nanos(&t)
}

/// What all threads of this process have run, in user space and in the kernel; nanoseconds.
pub fn cpu_time() -> i64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is valid for writes; the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    nanos(&t)
}

fn nanos(t: &libc::timespec) -> i64 {
    t.tv_sec * 1_000_000_000 + t.tv_nsec
}

fn timespec(ns: i64) -> libc::timespec {
    libc::timespec { tv_sec: ns / 1_000_000_000, tv_nsec: ns % 1_000_000_000 }
}

/// A new network namespace for this thread alone.
pub fn unshare_net() -> io::Result<()> {
    // SAFETY: no pointers.
    checked(unsafe { libc::unshare(libc::CLONE_NEWNET) }).map(drop)
}

/// This thread enters a network namespace.
pub fn enter_net(ns: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: no pointers.
    checked(unsafe { libc::setns(ns.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
}

/// First in, first out, before everything that is not real-time. For this thread.
pub fn real_time(priority: i32) -> io::Result<()> {
    let param = libc::sched_param { sched_priority: priority };
    // SAFETY: `param` is valid for reads; 0 is the calling thread.
    checked(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &param) })
        .map(drop)
}

/// This thread's timers fire when they are due, not up to 50 us later.
pub fn exact_timers() {
    // SAFETY: no pointers; where it is refused timers stay as they are.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong, 0, 0, 0) };
}

pub fn effective_uid() -> u32 {
    // SAFETY: always succeeds.
    unsafe { libc::geteuid() }
}

/// The child runs in a network namespace, in a group of its own, and dies with the thread that starts it.
pub fn in_namespace(command: &mut Command, ns: RawFd) {
    let setup = move || {
        // SAFETY: setns, prctl and setpgid are async-signal-safe, and take no pointers here.
        unsafe {
            checked(libc::setns(ns, libc::CLONE_NEWNET))?;
            checked(libc::setpgid(0, 0))?;
            checked(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong, 0, 0, 0))?;
        }
        Ok(())
    };
    // SAFETY: the closure allocates nothing and only makes async-signal-safe calls.
    unsafe { command.pre_exec(setup) };
}

/// The child moves itself into a cgroup, by writing to this file of its own, before it becomes another program.
pub fn in_cgroup(command: &mut Command, processes: &std::fs::File) {
    let file = processes.as_raw_fd();
    let setup = move || {
        // SAFETY: write is async-signal-safe, and the byte is alive.
        checked(unsafe { libc::write(file, c"0".as_ptr().cast(), 1) } as libc::c_int).map(drop)
    };
    // SAFETY: the closure allocates nothing and only makes an async-signal-safe call.
    unsafe { command.pre_exec(setup) };
}

/// A signal to a process, or to a group of them where the number is negative.
pub fn signal(pid: i32, signal: libc::c_int) -> io::Result<()> {
    // SAFETY: no pointers.
    checked(unsafe { libc::kill(pid, signal) }).map(drop)
}

/// Takes the lock of a file without waiting; false if another process holds it.
pub fn try_lock(file: &std::fs::File) -> io::Result<bool> {
    // SAFETY: no pointers.
    match checked(unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) }) {
        Ok(_) => Ok(true),
        Err(e) if e.raw_os_error() == Some(libc::EWOULDBLOCK) => Ok(false),
        Err(e) => Err(e),
    }
}

pub fn interface_index(name: &str) -> io::Result<u32> {
    let name = CString::new(name)?;
    // SAFETY: the string ends in NUL and outlives the call.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error()),
        index => Ok(index),
    }
}

fn socket(domain: libc::c_int, kind: libc::c_int, protocol: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: no pointers; a descriptor that is given is new and nobody else's.
    unsafe {
        let fd = checked(libc::socket(domain, kind | libc::SOCK_CLOEXEC, protocol))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

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

/// The number by which the kernel knows a socket.
pub fn cookie(fd: BorrowedFd<'_>) -> io::Result<u64> {
    let mut cookie = 0u64;
    let mut len = size_of::<u64>() as libc::socklen_t;
    let to = std::ptr::from_mut(&mut cookie).cast();
    // SAFETY: `cookie` is valid for writes of `len` bytes.
    checked(unsafe { libc::getsockopt(fd.as_raw_fd(), libc::SOL_SOCKET, libc::SO_COOKIE, to, &mut len) })?;
    Ok(cookie)
}

/// Congestion control by name, for one socket.
pub fn set_congestion(fd: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    let len = name.len() as libc::socklen_t;
    // SAFETY: `name` is valid for reads of `len` bytes.
    let done = unsafe {
        libc::setsockopt(fd.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_CONGESTION, name.as_ptr().cast(), len)
    };
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

/// TCP_INFO as bytes; what this kernel does not tell is left zero.
pub fn tcp_info(fd: BorrowedFd<'_>) -> io::Result<([u8; 256], usize)> {
    let mut out = [0; 256];
    let len = option_bytes(fd, libc::IPPROTO_TCP, libc::TCP_INFO, &mut out)?;
    Ok((out, len))
}

/// A raw packet socket on one interface, ready to receive.
pub fn packet_socket(protocol: u16, interface: u32) -> io::Result<OwnedFd> {
    let protocol = protocol.to_be();
    // Bound before any protocol is heard: nothing of another interface ever comes.
    let fd = socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_NONBLOCK, 0)?;
    // SAFETY: all zero is a valid address.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = protocol;
    address.sll_ifindex = interface as i32;
    let len = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: `address` is a valid sockaddr_ll of `len` bytes.
    checked(unsafe { libc::bind(fd.as_raw_fd(), std::ptr::from_ref(&address).cast(), len) })?;
    Ok(fd)
}

fn socket_address(address: std::net::SocketAddrV4) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as u16,
        sin_port: address.port().to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from(*address.ip()).to_be() },
        sin_zero: [0; 8],
    }
}

/// A TCP socket of this thread's namespace, with an address of its own.
pub fn tcp_socket(own: std::net::SocketAddrV4) -> io::Result<OwnedFd> {
    use std::os::fd::AsFd;
    let fd = socket(libc::AF_INET, libc::SOCK_STREAM, 0)?;
    set_option(fd.as_fd(), libc::SOL_SOCKET, libc::SO_REUSEADDR, &1i32)?;
    let address = socket_address(own);
    let len = size_of::<libc::sockaddr_in>() as libc::socklen_t;
    // SAFETY: `address` is a valid sockaddr_in of `len` bytes.
    checked(unsafe { libc::bind(fd.as_raw_fd(), std::ptr::from_ref(&address).cast(), len) })?;
    Ok(fd)
}

/// Begins to connect; the socket must not block. It is connected, or has failed, once it can be written.
pub fn begin_connect(fd: BorrowedFd<'_>, to: std::net::SocketAddrV4) -> io::Result<()> {
    let address = socket_address(to);
    let len = size_of::<libc::sockaddr_in>() as libc::socklen_t;
    // SAFETY: `address` is a valid sockaddr_in of `len` bytes.
    let begun = unsafe { libc::connect(fd.as_raw_fd(), std::ptr::from_ref(&address).cast(), len) };
    match checked(begun) {
        Err(e) if e.raw_os_error() == Some(libc::EINPROGRESS) => Ok(()),
        begun => begun.map(drop),
    }
}

pub fn listen(fd: BorrowedFd<'_>, backlog: i32) -> io::Result<()> {
    // SAFETY: no pointers.
    checked(unsafe { libc::listen(fd.as_raw_fd(), backlog) }).map(drop)
}

/// Packets that a packet socket lost for want of room since it was asked last.
pub fn packet_drops(fd: BorrowedFd<'_>) -> io::Result<u64> {
    let mut out = [0u8; size_of::<libc::tpacket_stats>()];
    option_bytes(fd, libc::SOL_PACKET, libc::PACKET_STATISTICS, &mut out)?;
    let word = |at: usize| u32::from_ne_bytes([out[at], out[at + 1], out[at + 2], out[at + 3]]);
    Ok(u64::from(word(4)))
}

/// Receive buffer beyond the machine's limit where that is allowed, kernel timestamps.
pub fn prepare_receiver(fd: BorrowedFd<'_>, buffer_bytes: i32) -> io::Result<()> {
    if set_option(fd, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &buffer_bytes).is_err() {
        set_option(fd, libc::SOL_SOCKET, libc::SO_RCVBUF, &buffer_bytes)?;
    }
    set_option(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &1i32)
}

/// Sends past the queueing discipline, and has room for bursts.
pub fn prepare_sender(fd: BorrowedFd<'_>, buffer_bytes: i32) -> io::Result<()> {
    if set_option(fd, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &buffer_bytes).is_err() {
        set_option(fd, libc::SOL_SOCKET, libc::SO_SNDBUF, &buffer_bytes)?;
    }
    set_option(fd, libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &1i32)
}

/// What came with one received packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Received {
    /// CLOCK_REALTIME, nanoseconds; 0 if the kernel gave none.
    pub time: i64,
    /// On the wire, even if less was kept.
    pub len: usize,
    pub kind: u8,
}

/// Room for the control messages of one packet: a timestamp.
const CONTROL: usize = 64;

/// What `recvmmsg` fills, kept from call to call.
pub struct Receiving {
    headers: Vec<libc::mmsghdr>,
    pieces: Vec<libc::iovec>,
    addresses: Vec<libc::sockaddr_ll>,
    control: Vec<[u64; CONTROL / 8]>,
}

// SAFETY: the pointers inside are set anew in every call, to what that call borrows.
unsafe impl Send for Receiving {}

impl Receiving {
    pub fn new(most: usize) -> Receiving {
        // SAFETY: all three are plain C data for which zero is valid.
        unsafe {
            Receiving {
                headers: vec![zeroed(); most],
                pieces: vec![zeroed(); most],
                addresses: vec![zeroed(); most],
                control: vec![[0; CONTROL / 8]; most],
            }
        }
    }

    /// Receives without waiting, a packet into each of `buffers`; `out` gets what came. Zero: nothing is there.
    pub fn receive(
        &mut self,
        fd: BorrowedFd<'_>,
        buffers: &mut [&mut [u8]],
        out: &mut Vec<Received>,
    ) -> io::Result<usize> {
        out.clear();
        let n = buffers.len().min(self.headers.len());
        for (k, buffer) in buffers.iter_mut().take(n).enumerate() {
            self.pieces[k] = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
            let header = &mut self.headers[k].msg_hdr;
            header.msg_name = std::ptr::from_mut(&mut self.addresses[k]).cast();
            header.msg_namelen = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
            header.msg_iov = &mut self.pieces[k];
            header.msg_iovlen = 1;
            header.msg_control = self.control[k].as_mut_ptr().cast();
            header.msg_controllen = CONTROL as _;
            header.msg_flags = 0;
        }
        let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
        // SAFETY: the first `n` headers point to live buffers of the lengths that they say.
        let got = checked(unsafe {
            libc::recvmmsg(fd.as_raw_fd(), self.headers.as_mut_ptr(), n as u32, flags, std::ptr::null_mut())
        });
        let got = match got {
            Ok(got) => got as usize,
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => 0,
            Err(e) => return Err(e),
        };
        for k in 0..got {
            let header = &self.headers[k];
            out.push(Received {
                time: timestamp(&header.msg_hdr),
                len: header.msg_len as usize,
                kind: self.addresses[k].sll_pkttype,
            });
        }
        Ok(got)
    }
}

fn timestamp(header: &libc::msghdr) -> i64 {
    // SAFETY: the kernel filled the header's control buffer, which is alive; CMSG_* stay inside its length, and the
    // timestamp is read unaligned.
    unsafe {
        let mut part = libc::CMSG_FIRSTHDR(header);
        while let Some(c) = part.as_ref() {
            if c.cmsg_level == libc::SOL_SOCKET && c.cmsg_type == libc::SCM_TIMESTAMPNS {
                let t: libc::timespec = std::ptr::read_unaligned(libc::CMSG_DATA(c).cast());
                return nanos(&t);
            }
            part = libc::CMSG_NXTHDR(header, part);
        }
    }
    0
}

/// What `sendmmsg` reads, kept from call to call.
pub struct Sending {
    headers: Vec<libc::mmsghdr>,
    pieces: Vec<libc::iovec>,
}

// SAFETY: as in `Receiving`.
unsafe impl Send for Sending {}

impl Sending {
    pub fn new(most: usize) -> Sending {
        // SAFETY: both are plain C data for which zero is valid.
        unsafe { Sending { headers: vec![zeroed(); most], pieces: vec![zeroed(); most] } }
    }

    /// Sends as many of `packets` as the socket takes at once; how many.
    pub fn send(&mut self, fd: BorrowedFd<'_>, packets: &[&[u8]]) -> io::Result<usize> {
        let n = packets.len().min(self.headers.len());
        for (k, packet) in packets.iter().take(n).enumerate() {
            self.pieces[k] =
                libc::iovec { iov_base: packet.as_ptr().cast_mut().cast(), iov_len: packet.len() };
            let header = &mut self.headers[k].msg_hdr;
            header.msg_iov = &mut self.pieces[k];
            header.msg_iovlen = 1;
        }
        // SAFETY: the first `n` headers point to live packets of the lengths that they say; sendmmsg only reads them.
        let sent = unsafe {
            libc::sendmmsg(fd.as_raw_fd(), self.headers.as_mut_ptr(), n as u32, libc::MSG_DONTWAIT)
        };
        checked(sent).map(|n| n as usize)
    }
}

/// Waits until one of the descriptors can be read, at most so many nanoseconds; whether one can.
pub fn wait_readable(fds: &[RawFd], ns: i64) -> io::Result<bool> {
    wait(fds, libc::POLLIN, ns)
}

/// Waits until one descriptor can be read or written, as wanted, at most so many nanoseconds; whether it can.
pub fn wait_for(fd: RawFd, read: bool, write: bool, ns: i64) -> io::Result<bool> {
    let events = if read { libc::POLLIN } else { 0 } | if write { libc::POLLOUT } else { 0 };
    wait(&[fd], events, ns)
}

/// The same until one can be written; whether one can.
pub fn wait_writable(fds: &[RawFd], ns: i64) -> io::Result<bool> {
    wait(fds, libc::POLLOUT, ns)
}

fn wait(fds: &[RawFd], events: libc::c_short, ns: i64) -> io::Result<bool> {
    let mut polled: [MaybeUninit<libc::pollfd>; 256] = [const { MaybeUninit::uninit() }; 256];
    let n = fds.len().min(polled.len());
    for (slot, fd) in polled.iter_mut().zip(fds) {
        slot.write(libc::pollfd { fd: *fd, events, revents: 0 });
    }
    let timeout = timespec(ns.max(0));
    // SAFETY: the first `n` entries were written just now.
    let done =
        unsafe { libc::ppoll(polled.as_mut_ptr().cast(), n as libc::nfds_t, &timeout, std::ptr::null()) };
    match checked(done) {
        Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(false),
        done => done.map(|n| n > 0),
    }
}

/// Sleeps to a moment of the monotonic clock.
pub fn sleep_until(ns: i64) {
    let until = timespec(ns.max(0));
    // SAFETY: `until` is valid for reads; an interruption only wakes early.
    unsafe {
        libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &until, std::ptr::null_mut())
    };
}

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
    let fd = socket(libc::AF_INET, libc::SOCK_DGRAM, 0)?;
    let mut value = EthtoolValue { command, data: 0 };
    let mut request = InterfaceRequest { name: [0; libc::IFNAMSIZ], data: &mut value, rest: [0; 16] };
    for (to, from) in request.name.iter_mut().take(libc::IFNAMSIZ - 1).zip(interface.bytes()) {
        *to = from;
    }
    // SAFETY: the request is laid out as ifreq, and `value` as ethtool_value; both outlive the call.
    checked(unsafe { libc::ioctl(fd.as_raw_fd(), SIOCETHTOOL, &mut request) })?;
    Ok(value.data)
}

/// A socket for rtnetlink of this thread's namespace, which gives up waiting after a while.
pub fn netlink_socket(patience: Duration) -> io::Result<OwnedFd> {
    netlink(libc::NETLINK_ROUTE, patience)
}

/// A socket for one of the kernel's netlink families.
pub fn netlink(family: libc::c_int, patience: Duration) -> io::Result<OwnedFd> {
    let fd = socket(libc::AF_NETLINK, libc::SOCK_RAW, family)?;
    let timeout = libc::timeval {
        tv_sec: patience.as_secs() as libc::time_t,
        tv_usec: patience.subsec_micros() as libc::suseconds_t,
    };
    use std::os::fd::AsFd;
    set_option(fd.as_fd(), libc::SOL_SOCKET, libc::SO_RCVTIMEO, &timeout)?;
    Ok(fd)
}

pub fn send(fd: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<()> {
    // SAFETY: `bytes` is valid for reads of its length.
    let sent = unsafe { libc::send(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), 0) };
    if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

pub fn receive(fd: BorrowedFd<'_>, bytes: &mut [u8]) -> io::Result<usize> {
    // SAFETY: `bytes` is valid for writes of its length.
    let got = unsafe { libc::recv(fd.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    if got < 0 { Err(io::Error::last_os_error()) } else { Ok(got as usize) }
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
