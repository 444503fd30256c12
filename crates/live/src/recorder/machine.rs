//! What the machine itself counts and how its interfaces are set: looked at before and after, never changed.

use crate::netlink::{attributes, dump};
use crate::sys;
use std::collections::BTreeMap;
use std::fs;
use std::os::fd::AsFd;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(2);

/// Names and what they stand at, as `nstat` names them.
pub type Counters = BTreeMap<String, i64>;

/// TCP's and IP's counters of this thread's network namespace.
pub fn counters() -> Counters {
    let mut all = Counters::new();
    for file in ["netstat", "snmp"] {
        let text = fs::read_to_string(format!("/proc/thread-self/net/{file}")).unwrap_or_default();
        all.extend(pairs(&text));
    }
    all
}

/// Each line of names has a line of numbers behind it. "Tcp: RetransSegs" is `TcpRetransSegs`; what stands under TcpExt
/// goes by its own name.
fn pairs(text: &str) -> Counters {
    let mut found = Counters::new();
    let mut lines = text.lines();
    while let (Some(names), Some(values)) = (lines.next(), lines.next()) {
        let (Some((group, names)), Some((_, values))) = (names.split_once(':'), values.split_once(':'))
        else {
            continue;
        };
        if !["Tcp", "TcpExt", "Ip", "IpExt", "Udp"].contains(&group) {
            continue;
        }
        let prefix = if group == "TcpExt" { "" } else { group };
        for (name, value) in names.split_whitespace().zip(values.split_whitespace()) {
            if let Ok(value) = value.parse() {
                found.insert(format!("{prefix}{name}"), value);
            }
        }
    }
    found
}

/// By how much they grew; those that did not are left out.
pub fn grown(before: &Counters, after: &Counters) -> Counters {
    let grown = after.iter().map(|(name, now)| (name.clone(), now - before.get(name).unwrap_or(&0)));
    grown.filter(|(_, by)| *by != 0).collect()
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    pub index: u32,
    pub name: String,
    pub mtu: u32,
    /// It belongs to a bridge or the like, whose own interface sees its packets too.
    pub is_part: bool,
    pub is_up: bool,
    pub qdisc: String,
    /// Those that are on.
    pub offloads: Vec<&'static str>,
    /// Packets and drops that it counts itself.
    pub counts: Counters,
    /// Drops and what else its queueing disciplines count, all of them together.
    pub queue: Counters,
}

/// ethtool commands (uapi/linux/ethtool.h).
const OFFLOADS: [(&str, u32); 6] =
    [("tso", 0x1e), ("gso", 0x23), ("gro", 0x2b), ("sg", 0x18), ("tx-checksum", 0x16), ("rx-checksum", 0x14)];
const ETHTOOL_GFLAGS: u32 = 0x25;
const FLAG_LRO: u32 = 1 << 15;
/// `struct rtnl_link_stats64`, by place.
const COUNTS: [&str; 8] = [
    "rx_packets",
    "tx_packets",
    "rx_bytes",
    "tx_bytes",
    "rx_errors",
    "tx_errors",
    "rx_dropped",
    "tx_dropped",
];
const IFLA_INFO_SLAVE_KIND: u16 = 4;
const TCA_STATS2: u16 = 7;
const TCA_STATS_QUEUE: u16 = 3;
/// `struct gnet_stats_queue`.
const QUEUE: [&str; 5] = ["queued_packets", "backlog_bytes", "drops", "requeues", "overlimits"];

/// Those of this thread's network namespace.
pub fn interfaces() -> Vec<Interface> {
    let Ok(socket) = sys::netlink(sys::SockProtocol::NetlinkRoute, PATIENCE) else { return Vec::new() };
    // struct ifinfomsg; struct tcmsg.
    let links = dump(socket.as_fd(), libc::RTM_GETLINK, &[0; 16]).unwrap_or_default();
    let mut all: Vec<Interface> = links.iter().filter_map(|body| interface(body)).collect();
    for body in dump(socket.as_fd(), libc::RTM_GETQDISC, &[0; 20]).unwrap_or_default() {
        let index = word(&body, 4);
        let Some(owner) = all.iter_mut().find(|i| i.index == index) else { continue };
        let stats = attributes(&body, 20).into_iter().find(|(kind, _)| *kind == TCA_STATS2);
        let queue = stats.and_then(|(_, inner)| {
            attributes(inner, 0).into_iter().find(|(kind, _)| *kind == TCA_STATS_QUEUE)
        });
        for (k, name) in QUEUE.iter().enumerate() {
            let value = queue.map_or(0, |(_, bytes)| word(bytes, 4 * k));
            *owner.queue.entry((*name).to_owned()).or_default() += i64::from(value);
        }
    }
    for one in &mut all {
        let on = |command| sys::ethtool(&one.name, command).unwrap_or(0);
        one.offloads = OFFLOADS.iter().filter(|(_, c)| on(*c) != 0).map(|(name, _)| *name).collect();
        if on(ETHTOOL_GFLAGS) & FLAG_LRO != 0 {
            one.offloads.push("lro");
        }
    }
    all
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_ne_bytes)
}

fn interface(body: &[u8]) -> Option<Interface> {
    let mut found = Interface {
        index: word(body, 4),
        is_up: word(body, 8) & libc::IFF_UP as u32 != 0,
        ..Interface::default()
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned();
    for (kind, value) in attributes(body, 16) {
        match kind {
            libc::IFLA_IFNAME => found.name = text(value),
            libc::IFLA_MTU => found.mtu = word(value, 0),
            libc::IFLA_QDISC => found.qdisc = text(value),
            libc::IFLA_STATS64 => {
                for (name, bytes) in COUNTS.iter().zip(value.chunks_exact(8)) {
                    let value = bytes.try_into().map_or(0, u64::from_ne_bytes);
                    found.counts.insert((*name).to_owned(), value as i64);
                }
            }
            libc::IFLA_LINKINFO => {
                let of = attributes(value, 0).into_iter().find(|(kind, _)| *kind == IFLA_INFO_SLAVE_KIND);
                found.is_part =
                    of.is_some_and(|(_, kind)| ["bridge", "bond", "team"].contains(&text(kind).as_str()));
            }
            _ => {}
        }
    }
    (!found.name.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_have_the_names_that_nstat_gives_them() {
        let text = "TcpExt: SyncookiesSent TCPTimeouts\nTcpExt: 0 3\nIpExt: InOctets\nIpExt: 12\n\
                    Tcp: MaxConn RetransSegs\nTcp: -1 7\nIcmpMsg: InType3\nIcmpMsg: 9\n";
        let found = pairs(text);
        let is = |name: &str| found.get(name).copied();
        assert_eq!(
            (is("TCPTimeouts"), is("TcpRetransSegs"), is("IpExtInOctets")),
            (Some(3), Some(7), Some(12))
        );
        assert_eq!((is("TcpMaxConn"), is("IcmpMsgInType3")), (Some(-1), None));
        let later = Counters::from([("TCPTimeouts".to_owned(), 5), ("TcpRetransSegs".to_owned(), 7)]);
        assert_eq!(grown(&found, &later), Counters::from([("TCPTimeouts".to_owned(), 2)]));
    }
}
