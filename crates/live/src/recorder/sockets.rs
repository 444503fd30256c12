//! The sockets of this network namespace, as the kernel lists them (sock_diag(7)): TCP_INFO, and whose they are.

use super::filter::{TCP, UDP};
use crate::info::Info;
use crate::netlink::{attributes, dump};
use crate::processes;
use crate::sys;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const INET_DIAG_INFO: u16 = 2;
/// All states but TIME_WAIT and LISTEN: nothing more is sent on what the first is left of, and the second never sends.
const STATES: u32 = 0xfff & !(1 << 6 | 1 << 10);
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Clone, Debug)]
pub struct Socket {
    pub local: SocketAddr,
    pub remote: SocketAddr,
    /// TCP_…
    pub state: u8,
    pub inode: u32,
    /// Of TCP.
    pub info: Option<Info>,
}

pub struct Sockets {
    netlink: OwnedFd,
}

impl Sockets {
    pub fn open() -> io::Result<Sockets> {
        sys::netlink(sys::SockProtocol::NetlinkSockDiag, PATIENCE).map(|netlink| Sockets { netlink })
    }

    /// Those that talk to somebody.
    pub fn tcp(&self) -> Vec<Socket> {
        self.list(TCP, 1 << (INET_DIAG_INFO - 1))
    }
    pub fn all(&self) -> Vec<(u8, Socket)> {
        let of = |protocol| self.list(protocol, 0).into_iter().map(move |socket| (protocol, socket));
        of(TCP).chain(of(UDP)).collect()
    }

    fn list(&self, protocol: u8, extensions: u8) -> Vec<Socket> {
        let mut found = Vec::new();
        for family in [libc::AF_INET as u8, libc::AF_INET6 as u8] {
            // struct inet_diag_req_v2: what, states, and an identity that is left open.
            let mut request = vec![family, protocol, extensions, 0];
            request.extend(STATES.to_ne_bytes());
            request.extend([0; 48]);
            let parts = dump(self.netlink.as_fd(), SOCK_DIAG_BY_FAMILY, &request).unwrap_or_default();
            found.extend(parts.iter().filter_map(|body| socket(body)));
        }
        found
    }
}

/// `struct inet_diag_msg`: four bytes, the identity, and five words; then attributes.
fn socket(body: &[u8]) -> Option<Socket> {
    if body.len() < 72 {
        return None;
    }
    let port = |at: usize| u16::from_be_bytes([body[at], body[at + 1]]);
    let address = |at: usize| -> Option<IpAddr> {
        let bytes: [u8; 16] = body[at..at + 16].try_into().ok()?;
        Some(match i32::from(body[0]) {
            libc::AF_INET => IpAddr::V4(Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3])),
            _ => IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical(),
        })
    };
    let info =
        attributes(body, 72).into_iter().find(|(kind, _)| *kind == INET_DIAG_INFO).map(|(_, bytes)| {
            let mut whole = [0; 256];
            let n = bytes.len().min(whole.len());
            whole[..n].copy_from_slice(&bytes[..n]);
            Info::read(&whole)
        });
    Some(Socket {
        local: SocketAddr::new(address(8)?, port(4)),
        remote: SocketAddr::new(address(24)?, port(6)),
        state: body[1],
        inode: u32::from_ne_bytes([body[68], body[69], body[70], body[71]]),
        info,
    })
}

/// Processes that come from one, as long as each is seen while its parent lives.
pub struct Family {
    known: HashSet<i32>,
}

impl Family {
    pub fn of(process: i32) -> Family {
        Family { known: HashSet::from([process]) }
    }

    /// The inodes of the sockets that they hold.
    pub fn sockets(&mut self) -> HashSet<u32> {
        let parents = processes::parents();
        // A child may stand before its parent in the list.
        loop {
            let before = self.known.len();
            let born: Vec<i32> =
                parents.iter().filter(|(_, parent)| self.known.contains(parent)).map(|(p, _)| *p).collect();
            self.known.extend(born);
            if self.known.len() == before {
                break;
            }
        }
        self.known.retain(|process| parents.iter().any(|(p, _)| p == process));
        self.known.iter().flat_map(|process| inodes(*process)).collect()
    }
}

fn inodes(process: i32) -> Vec<u32> {
    let entries = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    entries
        .filter_map(|e| {
            let target = fs::read_link(e.path()).ok()?;
            target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
        })
        .collect()
}
