//! Interfaces, addresses and neighbours, by rtnetlink(7), in the namespace of the thread that asks.

use crate::sys;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

const VETH_INFO_PEER: u16 = 1;
const PATIENCE: Duration = Duration::from_secs(5);

pub type Mac = [u8; 6];

/// One end of a pair.
pub struct End<'a> {
    pub name: &'a str,
    pub mac: Mac,
    /// The namespace in which it is born.
    pub ns: BorrowedFd<'a>,
}

pub struct Netlink {
    socket: OwnedFd,
    sequence: u32,
}

/// A message while it is put together.
struct Message(Vec<u8>);

impl Message {
    fn new(kind: u16, flags: i32) -> Message {
        let mut m = Message(vec![0; 4]);
        m.0.extend(kind.to_ne_bytes());
        m.0.extend(((flags | libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16).to_ne_bytes());
        m.0.extend([0; 8]);
        m
    }
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }
    fn attribute(&mut self, kind: u16, value: &[u8]) {
        self.0.extend((value.len() as u16 + 4).to_ne_bytes());
        self.0.extend(kind.to_ne_bytes());
        self.bytes(value);
    }
    fn nested(&mut self, kind: u16, fill: impl FnOnce(&mut Message)) {
        let at = self.0.len();
        self.0.extend([0; 2]);
        self.0.extend(kind.to_ne_bytes());
        fill(self);
        let len = (self.0.len() - at) as u16;
        self.0[at..at + 2].copy_from_slice(&len.to_ne_bytes());
    }
    fn end(&mut self, end: &End<'_>) {
        self.attribute(libc::IFLA_IFNAME, &name(end.name));
        self.attribute(libc::IFLA_ADDRESS, &end.mac);
        self.attribute(libc::IFLA_NET_NS_FD, &end.ns.as_raw_fd().to_ne_bytes());
    }
    /// `struct ifinfomsg`.
    fn interface(&mut self, index: u32, flags: u32, change: u32) {
        self.0.extend([0, 0, 0, 0]);
        self.0.extend(index.to_ne_bytes());
        self.0.extend(flags.to_ne_bytes());
        self.0.extend(change.to_ne_bytes());
    }
}

fn name(text: &str) -> Vec<u8> {
    text.bytes().chain([0]).collect()
}

impl Netlink {
    pub fn open() -> io::Result<Netlink> {
        Ok(Netlink { socket: sys::netlink(sys::SockProtocol::NetlinkRoute, PATIENCE)?, sequence: 0 })
    }

    /// A pair of virtual Ethernet interfaces, each end in its namespace.
    pub fn veth(&mut self, near: &End<'_>, far: &End<'_>) -> io::Result<()> {
        let mut m = Message::new(libc::RTM_NEWLINK, libc::NLM_F_CREATE | libc::NLM_F_EXCL);
        m.interface(0, 0, 0);
        m.end(near);
        m.nested(libc::IFLA_LINKINFO, |m| {
            m.attribute(libc::IFLA_INFO_KIND, b"veth");
            m.nested(libc::IFLA_INFO_DATA, |m| {
                m.nested(VETH_INFO_PEER, |m| {
                    m.interface(0, 0, 0);
                    m.end(far);
                });
            });
        });
        self.ask(m)
    }

    /// A bridge device of the kernel, without ports yet.
    pub fn bridge(&mut self, called: &str) -> io::Result<()> {
        let mut m = Message::new(libc::RTM_NEWLINK, libc::NLM_F_CREATE | libc::NLM_F_EXCL);
        m.interface(0, 0, 0);
        m.attribute(libc::IFLA_IFNAME, &name(called));
        m.nested(libc::IFLA_LINKINFO, |m| m.attribute(libc::IFLA_INFO_KIND, b"bridge"));
        self.ask(m)
    }

    /// Makes an interface a port of a bridge.
    pub fn enslave(&mut self, interface: u32, master: u32) -> io::Result<()> {
        let mut m = Message::new(libc::RTM_NEWLINK, 0);
        m.interface(interface, 0, 0);
        m.attribute(libc::IFLA_MASTER, &master.to_ne_bytes());
        self.ask(m)
    }

    pub fn up(&mut self, interface: u32) -> io::Result<()> {
        self.set_up(interface, libc::IFF_UP as u32)
    }

    /// It sends nothing and takes nothing from then on; what it had sent has been captured.
    pub fn down(&mut self, interface: u32) -> io::Result<()> {
        self.set_up(interface, 0)
    }

    fn set_up(&mut self, interface: u32, flags: u32) -> io::Result<()> {
        let mut m = Message::new(libc::RTM_NEWLINK, 0);
        m.interface(interface, flags, libc::IFF_UP as u32);
        self.ask(m)
    }

    pub fn address(&mut self, interface: u32, address: Ipv4Addr, prefix: u8) -> io::Result<()> {
        let mut m = Message::new(libc::RTM_NEWADDR, libc::NLM_F_CREATE | libc::NLM_F_EXCL);
        m.0.extend([libc::AF_INET as u8, prefix, 0, 0]);
        m.0.extend(interface.to_ne_bytes());
        m.attribute(libc::IFA_LOCAL, &address.octets());
        m.attribute(libc::IFA_ADDRESS, &address.octets());
        self.ask(m)
    }

    /// A neighbour that is known for good: nobody ever asks by ARP.
    pub fn neighbour(&mut self, interface: u32, address: Ipv4Addr, mac: Mac) -> io::Result<()> {
        let mut m = Message::new(libc::RTM_NEWNEIGH, libc::NLM_F_CREATE | libc::NLM_F_REPLACE);
        m.0.extend([libc::AF_INET as u8, 0, 0, 0]);
        m.0.extend(interface.to_ne_bytes());
        m.0.extend(libc::NUD_PERMANENT.to_ne_bytes());
        m.0.extend([0, 0]);
        m.attribute(libc::NDA_DST, &address.octets());
        m.attribute(libc::NDA_LLADDR, &mac);
        self.ask(m)
    }

    /// What goes to these addresses leaves by this interface, with nobody in between.
    pub fn route(&mut self, interface: u32, to: Ipv4Addr, prefix: u8) -> io::Result<()> {
        let mut m = Message::new(libc::RTM_NEWROUTE, libc::NLM_F_CREATE | libc::NLM_F_EXCL);
        // struct rtmsg: family, lengths of the prefixes, TOS, table, protocol, scope, kind; flags.
        m.0.extend([libc::AF_INET as u8, prefix, 0, 0]);
        m.0.extend([libc::RT_TABLE_MAIN, libc::RTPROT_STATIC, libc::RT_SCOPE_LINK, libc::RTN_UNICAST]);
        m.0.extend([0; 4]);
        m.attribute(libc::RTA_DST, &to.octets());
        m.attribute(libc::RTA_OIF, &interface.to_ne_bytes());
        self.ask(m)
    }

    /// Whether it sends: a moment after both ends of a pair came up, before which it throws away what it is given.
    pub fn runs(&mut self, interface: u32) -> io::Result<bool> {
        let mut m = Message::new(libc::RTM_GETLINK, 0);
        m.interface(interface, 0, 0);
        self.put(m)?;
        let mut answer = [0; 16384];
        loop {
            let got = sys::receive(self.socket.as_fd(), &mut answer)?;
            let bytes = &answer[..got];
            // struct nlmsghdr, then struct ifinfomsg.
            if got >= 32 && u16::from_ne_bytes([bytes[4], bytes[5]]) == libc::RTM_NEWLINK {
                let flags = u32::from_ne_bytes([bytes[24], bytes[25], bytes[26], bytes[27]]);
                return Ok(flags & libc::IFF_RUNNING as u32 != 0);
            }
            if let Some(done) = acknowledged(bytes, self.sequence) {
                return done.map(|()| false);
            }
        }
    }

    fn put(&mut self, mut message: Message) -> io::Result<()> {
        self.sequence += 1;
        let len = message.0.len() as u32;
        message.0[..4].copy_from_slice(&len.to_ne_bytes());
        message.0[8..12].copy_from_slice(&self.sequence.to_ne_bytes());
        sys::send(self.socket.as_fd(), &message.0)
    }

    fn ask(&mut self, message: Message) -> io::Result<()> {
        self.put(message)?;
        let mut answer = [0; 8192];
        loop {
            let got = sys::receive(self.socket.as_fd(), &mut answer)?;
            if let Some(done) = acknowledged(&answer[..got], self.sequence) {
                return done;
            }
        }
    }
}

/// The attributes behind a structure of `skip` bytes.
pub fn attributes(body: &[u8], skip: usize) -> Vec<(u16, &[u8])> {
    let mut found = Vec::new();
    let mut rest = body.get(skip.next_multiple_of(4)..).unwrap_or_default();
    while rest.len() >= 4 {
        let len = usize::from(u16::from_ne_bytes([rest[0], rest[1]]));
        let kind = u16::from_ne_bytes([rest[2], rest[3]]) & 0x3fff;
        let Some(value) = rest.get(4..len) else { break };
        found.push((kind, value));
        rest = rest.get(len.next_multiple_of(4)..).unwrap_or_default();
    }
    found
}

/// Asks for everything of a kind, on a socket of any netlink family. Each message of the answer is without its header.
pub fn dump(socket: BorrowedFd<'_>, kind: u16, request: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
    let mut message = Vec::with_capacity(16 + request.len());
    message.extend((16 + request.len() as u32).to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    message.extend([0; 8]);
    message.extend(request);
    sys::send(socket, &message)?;
    let (mut parts, mut answer) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        let got = sys::receive(socket, &mut answer)?;
        let mut rest = &answer[..got];
        while rest.len() >= 16 {
            let len = u32::from_ne_bytes([rest[0], rest[1], rest[2], rest[3]]) as usize;
            let kind = u16::from_ne_bytes([rest[4], rest[5]]);
            let Some(body) = rest.get(16..len) else { return Ok(parts) };
            match i32::from(kind) {
                libc::NLMSG_DONE => return Ok(parts),
                libc::NLMSG_ERROR => {
                    let error = body.get(..4).and_then(|b| b.try_into().ok()).map_or(0, i32::from_ne_bytes);
                    return Err(io::Error::from_raw_os_error(-error));
                }
                _ => parts.push(body.to_vec()),
            }
            rest = rest.get(len.next_multiple_of(4)..).unwrap_or_default();
        }
    }
}

/// The answer to request `sequence`, if it is among these messages.
fn acknowledged(mut bytes: &[u8], sequence: u32) -> Option<io::Result<()>> {
    while bytes.len() >= 20 {
        let word = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let len = (word(0) as usize).next_multiple_of(4);
        let kind = u16::from_ne_bytes([bytes[4], bytes[5]]);
        if i32::from(kind) == libc::NLMSG_ERROR && word(8) == sequence {
            return Some(match word(16) as i32 {
                0 => Ok(()),
                error => Err(io::Error::from_raw_os_error(-error)),
            });
        }
        bytes = bytes.get(len.max(20)..)?;
    }
    None
}
