//! Who talks to whom: hosts, endpoints, and the four-tuple that names one direction of a connection.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An IPv4 or IPv6 address in 16 bytes; IPv4 as `::ffff:a.b.c.d`, so that a key has one size and one hash.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Host(pub [u8; 16]);

impl Host {
    #[inline]
    pub fn v4(octets: [u8; 4]) -> Host {
        // As one number: bytes that are written one by one are waited for when all 16 are read.
        Host((0xffff << 32 | u128::from(u32::from_be_bytes(octets))).to_be_bytes())
    }
    pub fn v6(octets: [u8; 16]) -> Host {
        Host(octets)
    }
    pub fn is_v4(&self) -> bool {
        self.0[..12] == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]
    }
    pub fn ip(&self) -> IpAddr {
        match self.is_v4() {
            true => IpAddr::V4(Ipv4Addr::new(self.0[12], self.0[13], self.0[14], self.0[15])),
            false => IpAddr::V6(Ipv6Addr::from(self.0)),
        }
    }
}

impl From<IpAddr> for Host {
    fn from(ip: IpAddr) -> Host {
        match ip {
            IpAddr::V4(a) => Host::v4(a.octets()),
            IpAddr::V6(a) => Host::v6(a.octets()),
        }
    }
}
impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.ip().fmt(f)
    }
}
impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.ip().fmt(f)
    }
}

/// An address and a port; printed as `10.0.0.1:80` or `[2001:db8::1]:80`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize)]
pub struct Endpoint {
    pub host: Host,
    pub port: u16,
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.is_v4() {
            true => write!(f, "{}:{}", self.host, self.port),
            false => write!(f, "[{}]:{}", self.host, self.port),
        }
    }
}

/// One direction of a connection: from `src` to `dst`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
pub struct Tuple {
    pub src: Endpoint,
    pub dst: Endpoint,
}

impl Tuple {
    pub fn reversed(self) -> Tuple {
        Tuple { src: self.dst, dst: self.src }
    }
}
