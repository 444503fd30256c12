//! Which traffic is chosen: a part of the language of pcap-filter(7).
//!
//! ```text
//! expression  = term { ("or" | "||") term }
//! term        = factor { ("and" | "&&") factor }
//! factor      = ("not" | "!") factor | "(" expression ")" | primitive
//! primitive   = [protocol] ["src" | "dst"] ("host" ADDRESS | "net" NETWORK | "port" N | "portrange" N-M) | protocol
//! protocol    = "ip" | "ip6" | "tcp" | "udp" | "icmp" | "icmp6"
//! ```
//! `port 80 or 443` says `port 80 or port 443`, as in tcpdump, and an address or network may stand without its word.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

pub const ALLOWED: &str = "host ADDRESS, net NETWORK/BITS, port N, portrange N-M, each also with src or dst; \
    tcp, udp, icmp, icmp6, ip, ip6; and, or, not, ( )";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    Is(Test),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// 4 or 6.
    Version(u8),
    /// What IP carries; `version`: only by that one.
    Carries {
        protocol: u8,
        version: Option<u8>,
    },
    Net {
        side: Side,
        network: IpAddr,
        bits: u8,
    },
    Ports {
        side: Side,
        first: u16,
        last: u16,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Src,
    Dst,
    Either,
}

pub const TCP: u8 = 6;
pub const UDP: u8 = 17;
const ICMP: u8 = 1;
const ICMP6: u8 = 58;

/// What is known of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    pub src: IpAddr,
    pub dst: IpAddr,
    pub protocol: u8,
    /// Source and destination, of TCP and UDP; none behind the first fragment.
    pub ports: Option<(u16, u16)>,
}

impl Facts {
    /// From the IP header on; `None` for what is none. Ports are looked for right behind IPv6's first header.
    pub fn of(data: &[u8]) -> Option<Facts> {
        let (src, dst, protocol, behind): (IpAddr, IpAddr, u8, Option<usize>) = match data.first()? >> 4 {
            4 => {
                let header = data.get(..20)?;
                let first = u16::from_be_bytes([header[6], header[7]]) & 0x1fff == 0;
                let at = |k: usize| <[u8; 4]>::try_from(&header[k..k + 4]).unwrap_or_default().into();
                (at(12), at(16), header[9], first.then(|| usize::from(header[0] & 15) * 4))
            }
            6 => {
                let header = data.get(..40)?;
                let at = |k: usize| <[u8; 16]>::try_from(&header[k..k + 16]).unwrap_or_default().into();
                (at(8), at(24), header[6], Some(40))
            }
            _ => return None,
        };
        let ports = behind.filter(|_| matches!(protocol, TCP | UDP)).and_then(|at| {
            let b = data.get(at..at + 4)?;
            Some((u16::from_be_bytes([b[0], b[1]]), u16::from_be_bytes([b[2], b[3]])))
        });
        Some(Facts { src, dst, protocol, ports })
    }

    /// Of a TCP segment between two sockets.
    pub fn tcp(src: SocketAddr, dst: SocketAddr) -> Facts {
        Facts { src: src.ip(), dst: dst.ip(), protocol: TCP, ports: Some((src.port(), dst.port())) }
    }
}

impl Expr {
    pub fn matches(&self, facts: &Facts) -> bool {
        match self {
            Expr::And(a, b) => a.matches(facts) && b.matches(facts),
            Expr::Or(a, b) => a.matches(facts) || b.matches(facts),
            Expr::Not(a) => !a.matches(facts),
            Expr::Is(test) => test.holds(facts),
        }
    }
    /// Some segment of this connection, one way or the other.
    pub fn may_choose(&self, a: SocketAddr, b: SocketAddr) -> bool {
        self.matches(&Facts::tcp(a, b)) || self.matches(&Facts::tcp(b, a))
    }
}

impl Test {
    fn holds(self, f: &Facts) -> bool {
        let version = if f.src.is_ipv4() { 4 } else { 6 };
        let either = |side: Side, is: &dyn Fn(usize) -> bool| match side {
            Side::Src => is(0),
            Side::Dst => is(1),
            Side::Either => is(0) || is(1),
        };
        match self {
            Test::Version(v) => v == version,
            Test::Carries { protocol, version: v } => {
                f.protocol == protocol && v.is_none_or(|v| v == version)
            }
            Test::Net { side, network, bits } => either(side, &|k| within([f.src, f.dst][k], network, bits)),
            Test::Ports { side, first, last } => f
                .ports
                .is_some_and(|ports| either(side, &|k| (first..=last).contains(&[ports.0, ports.1][k]))),
        }
    }
}

fn within(address: IpAddr, network: IpAddr, bits: u8) -> bool {
    match (address, network) {
        (IpAddr::V4(a), IpAddr::V4(n)) => (u32::from(a) ^ u32::from(n)) & mask4(bits) == 0,
        (IpAddr::V6(a), IpAddr::V6(n)) => (u128::from(a) ^ u128::from(n)) & mask6(bits) == 0,
        _ => false,
    }
}

pub fn mask4(bits: u8) -> u32 {
    u32::MAX.checked_shl(32 - u32::from(bits.min(32))).unwrap_or(0)
}

pub fn mask6(bits: u8) -> u128 {
    u128::MAX.checked_shl(128 - u32::from(bits.min(128))).unwrap_or(0)
}

/// Why an expression is none: what was found where, and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong(String);

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Deeper than any that a person writes; the parser and the programs recurse.
const DEEPEST: usize = 64;
const MOST_WORDS: usize = 1000;

pub fn parse(text: &str) -> Result<Expr, Wrong> {
    let spaced = ["(", ")", "!", "&&", "||"]
        .iter()
        .fold(text.to_owned(), |t, sign| t.replace(sign, &format!(" {sign} ")));
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser { words: &words, at: 0, depth: 0, last: None };
    let whole = |why: String| Wrong(format!("--filter {text:?}: {why}; allowed: {ALLOWED}"));
    if words.is_empty() {
        return Err(whole("it is empty".into()));
    }
    if words.len() > MOST_WORDS {
        return Err(whole(format!("{} words are too many", words.len())));
    }
    let found = parser.expression().map_err(whole)?;
    match parser.peek() {
        None => Ok(found),
        Some(")") => Err(whole("there is a ) without its (".into())),
        Some(word) => Err(whole(format!("{word:?} follows without and or or"))),
    }
}

/// What a value without its word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Host,
    Net,
    Port,
    Portrange,
}

struct Parser<'a> {
    words: &'a [&'a str],
    at: usize,
    depth: usize,
    last: Option<(Kind, Side)>,
}

const PROTOCOLS: [(&str, Test); 6] = [
    ("ip", Test::Version(4)),
    ("ip6", Test::Version(6)),
    ("tcp", Test::Carries { protocol: TCP, version: None }),
    ("udp", Test::Carries { protocol: UDP, version: None }),
    ("icmp", Test::Carries { protocol: ICMP, version: Some(4) }),
    ("icmp6", Test::Carries { protocol: ICMP6, version: Some(6) }),
];
const WORDS: [&str; 15] = [
    "host",
    "net",
    "port",
    "portrange",
    "src",
    "dst",
    "tcp",
    "udp",
    "icmp",
    "icmp6",
    "ip",
    "ip6",
    "and",
    "or",
    "not",
];

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.words.get(self.at).copied()
    }
    fn takes(&mut self, wanted: &[&str]) -> bool {
        let there = self.peek().is_some_and(|word| wanted.contains(&word));
        self.at += usize::from(there);
        there
    }

    fn expression(&mut self) -> Result<Expr, String> {
        let mut found = self.term()?;
        while self.takes(&["or", "||"]) {
            found = Expr::Or(Box::new(found), Box::new(self.term()?));
        }
        Ok(found)
    }
    fn term(&mut self) -> Result<Expr, String> {
        let mut found = self.factor()?;
        while self.takes(&["and", "&&"]) {
            found = Expr::And(Box::new(found), Box::new(self.factor()?));
        }
        Ok(found)
    }
    fn factor(&mut self) -> Result<Expr, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("it is nested too deeply".into());
        }
        let found = if self.takes(&["not", "!"]) {
            Expr::Not(Box::new(self.factor()?))
        } else if self.takes(&["("]) {
            let inner = self.expression()?;
            if !self.takes(&[")"]) {
                return Err("a ) is missing".into());
            }
            inner
        } else {
            self.primitive()?
        };
        self.depth -= 1;
        Ok(found)
    }

    fn primitive(&mut self) -> Result<Expr, String> {
        let protocol = PROTOCOLS.iter().find(|(name, _)| self.peek() == Some(*name)).map(|(_, test)| *test);
        self.at += usize::from(protocol.is_some());
        let side = match self.peek() {
            Some("src") => Some(Side::Src),
            Some("dst") => Some(Side::Dst),
            _ => None,
        };
        self.at += usize::from(side.is_some());
        let kind = match self.peek() {
            Some("host") => Some(Kind::Host),
            Some("net") => Some(Kind::Net),
            Some("port") => Some(Kind::Port),
            Some("portrange") => Some(Kind::Portrange),
            _ => None,
        };
        self.at += usize::from(kind.is_some());
        if let (Some(protocol), None, None) = (protocol, side, kind) {
            return Ok(Expr::Is(protocol));
        }
        let value = self.peek().filter(|word| !["(", ")", "and", "or", "&&", "||"].contains(word));
        let Some(value) = value else {
            return Err(match self.words.get(self.at.wrapping_sub(1)) {
                Some(word) => format!("something is missing after {word:?}"),
                None => format!("it begins with {:?}", self.words[0]),
            });
        };
        let (kind, side) = match (kind, side) {
            (Some(kind), side) => (kind, side.unwrap_or(Side::Either)),
            // src 10.0.0.1, or a bare value: as the one before it, or what it looks like.
            (None, side) => {
                let (before, of) = self.last.unzip();
                let looks = match value {
                    _ if value.parse::<IpAddr>().is_ok() => Some(Kind::Host),
                    _ if value.contains('/') => Some(Kind::Net),
                    _ if value.starts_with(|c: char| c.is_ascii_digit()) => {
                        before.filter(|kind| matches!(kind, Kind::Port | Kind::Portrange | Kind::Net))
                    }
                    _ => None,
                };
                let Some(kind) = looks else { return Err(unknown(value)) };
                (kind, side.or(of).unwrap_or(Side::Either))
            }
        };
        self.at += 1;
        self.last = Some((kind, side));
        let test = Expr::Is(test(kind, side, value)?);
        Ok(match protocol {
            Some(protocol) => Expr::And(Box::new(Expr::Is(protocol)), Box::new(test)),
            None => test,
        })
    }
}

fn unknown(word: &str) -> String {
    match scenario::nearest(word, WORDS) {
        Some(near) => format!("{word:?} is not known; did you mean {near:?}?"),
        None => format!("{word:?} is not known"),
    }
}

fn test(kind: Kind, side: Side, value: &str) -> Result<Test, String> {
    let port = |text: &str| {
        text.parse::<u16>().map_err(|_| format!("{text:?} is no port; ports are numbers up to 65535"))
    };
    match kind {
        Kind::Host => match value.parse::<IpAddr>() {
            Ok(network) => Ok(Test::Net { side, network, bits: if network.is_ipv4() { 32 } else { 128 } }),
            Err(_) => Err(format!("{value:?} is no IP address; names are not looked up")),
        },
        Kind::Net => {
            let (address, bits) = value.split_once('/').unwrap_or((value, ""));
            let network: IpAddr = address.parse().map_err(|_| {
                format!("{value:?} is no network; one is written 10.0.0.0/8 or 2001:db8::/32")
            })?;
            let most = if network.is_ipv4() { 32 } else { 128 };
            match bits.parse::<u8>() {
                Ok(bits) if bits <= most => Ok(Test::Net { side, network, bits }),
                _ => Err(format!("{value:?} is no network; it ends with / and 0 to {most}")),
            }
        }
        Kind::Port => port(value).map(|p| Test::Ports { side, first: p, last: p }),
        Kind::Portrange => {
            let (first, last) = value.split_once('-').unwrap_or((value, value));
            let (first, last) = (port(first)?, port(last)?);
            if first > last {
                return Err(format!("{value:?} ends before it begins"));
            }
            Ok(Test::Ports { side, first, last })
        }
    }
}
