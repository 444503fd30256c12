//! What a capture is, and what was in it besides the packets that were given.

use crate::error::{Damage, counted, grouped};
use crate::link::LinkType;
use crate::sets::set;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Deref;
use wire::Time;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    Gzip,
    Zstd,
    Xz,
}

impl Compression {
    pub(crate) fn of(head: &[u8]) -> Option<Compression> {
        match head {
            [0x1f, 0x8b, ..] => Some(Compression::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Compression::Zstd),
            // A skippable frame may come first (RFC 8878 §3.1.2).
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Compression::Zstd),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Compression::Xz),
            _ => None,
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::Xz => "xz",
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Pcap,
    Pcapng,
    Snoop,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Pcap => "pcap",
            Format::Pcapng => "pcapng",
            Format::Snoop => "snoop",
        })
    }
}

/// What one tick of the capture's clock is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// 10^-n s
    Decimal(u8),
    /// 2^-n s
    Binary(u8),
}

impl fmt::Display for Resolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Resolution::Decimal(0) | Resolution::Binary(0) => f.write_str("1 s"),
            Resolution::Decimal(3) => f.write_str("1 ms"),
            Resolution::Decimal(6) => f.write_str("1 us"),
            Resolution::Decimal(9) => f.write_str("1 ns"),
            Resolution::Decimal(n) => write!(f, "1e-{n} s"),
            Resolution::Binary(n) => write!(f, "2^-{n} s"),
        }
    }
}

/// An interface that packets were captured on; pcap and snoop have just one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    pub name: Option<String>,
    pub link: LinkType,
    /// Bytes kept of each packet; `None` is no limit.
    pub snap: Option<u32>,
    pub resolution: Resolution,
    /// Packets that the capture says it lost here; `None` if it says nothing.
    pub dropped: Option<u64>,
}

#[derive(Clone, Debug)]
pub struct FileInfo {
    pub name: String,
    pub format: Format,
    pub compression: Option<Compression>,
    /// pcapng sections; 1 for the other formats.
    pub sections: u32,
    /// Of all sections in turn.
    pub interfaces: Vec<Interface>,
    /// The number of its first packet, less one.
    pub before: u64,
    pub packets: u64,
    pub first: Option<Time>,
    pub last: Option<Time>,
    pub damage: Option<Damage>,
}

impl FileInfo {
    /// What is said of it where it begins before the file in front of it ends.
    pub fn overlap(&self) -> String {
        format!("{}: starts before the file in front of it ends: are they of one rotation?", self.name)
    }
}

/// What frames are whose data nobody can read as it is, and what helps.
pub(crate) const ENCRYPTED: &str = "encrypted by 802.11: decrypt them first, with airdecap-ng for one";

/// Packets that are no TCP segment, each counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Others {
    pub arp: u64,
    pub udp: u64,
    /// ICMP and ICMPv6.
    pub icmp: u64,
    /// IP with another protocol.
    pub other_ip: u64,
    /// Frames of the link layer without IP: spanning tree, LLDP, PPP control, ...
    pub non_ip: u64,
    /// Data frames of 802.11 that are encrypted.
    pub encrypted: u64,
    /// Fragments without a TCP header: those behind the first, or of other protocols.
    pub fragments: u64,
    /// Cut by the snap length before the end of the fixed TCP header, or before it was known to be TCP.
    pub truncated: u64,
}

/// Packets whose headers contradict themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Malformed {
    pub count: u64,
    /// File, packet number, byte offset of its record, and what was wrong: the first one's.
    pub first: Option<(String, u64, u64, String)>,
}

/// A link type that is not read: named once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported {
    pub link: LinkType,
    pub packets: u64,
}

/// All of them, in the order in which they came. A file may name each of 65,536.
#[derive(Clone, Debug, Default)]
pub struct Unread {
    all: Vec<Unsupported>,
    places: HashMap<LinkType, usize>,
}

impl Unread {
    /// Another packet of that link type.
    pub(crate) fn note(&mut self, link: LinkType) {
        let place = *self.places.entry(link).or_insert(self.all.len());
        match self.all.get_mut(place) {
            Some(known) => known.packets += 1,
            None => self.all.push(Unsupported { link, packets: 1 }),
        }
    }
}

impl Deref for Unread {
    type Target = [Unsupported];
    fn deref(&self) -> &[Unsupported] {
        &self.all
    }
}

/// Packets that interfaces say were lost; `None` if none says anything about it.
pub(crate) fn dropped(files: &[FileInfo]) -> Option<u64> {
    let known = files.iter().flat_map(|f| &f.interfaces).filter_map(|i| i.dropped);
    known.fold(None, |sum, d| Some(u64::saturating_add(sum.unwrap_or(0), d)))
}

/// Link types of all interfaces, each once, in order.
pub fn links(files: &[FileInfo]) -> Vec<LinkType> {
    let mut seen = HashSet::new();
    files.iter().flat_map(|f| &f.interfaces).map(|i| i.link).filter(|link| seen.insert(*link)).collect()
}

set! {
    /// What TCP came in. The order is that of [`Info::tunnels`].
    Tunnel {
        Vlan = "VLAN",
        Mpls = "MPLS",
        Pppoe = "PPPoE",
        Gre = "GRE",
        IpInIp = "IP in IP",
        Vxlan = "VXLAN",
        Geneve = "Geneve",
        Gtp = "GTP-U",
        Erspan = "ERSPAN",
        Capwap = "CAPWAP",
    }
}

/// What was read so far, over all files.
#[derive(Clone, Debug, Default)]
pub struct Info {
    pub files: Vec<FileInfo>,
    /// All packets, whatever they are.
    pub packets: u64,
    /// TCP segments; those that the selection left out included, unless their time did.
    pub tcp_packets: u64,
    /// TCP segments given out.
    pub selected: u64,
    /// Packets outside `from` and `to`, not looked into.
    pub outside: u64,
    /// Bytes on the wire, and bytes captured, of all packets.
    pub bytes: u64,
    pub captured_bytes: u64,
    /// Earliest and latest time of any packet.
    pub first: Option<Time>,
    pub last: Option<Time>,
    /// Packets whose time is before that of the packet in front of them.
    pub backwards: u64,
    /// Steps of the capture's clock, either way, that are longer than any transfer; and the packet behind the first.
    pub clock_jumps: u64,
    pub first_jump: u64,
    pub others: Others,
    /// Of the UDP datagrams, those that open a connection of QUIC.
    pub quic: u64,
    /// Packets with each of [`Tunnel::ALL`] around their TCP segment.
    pub tunnels: [u64; Tunnel::ALL.len()],
    pub unsupported: Unread,
    pub malformed: Malformed,
    /// TCP segments whose options were cut off by the snap length.
    pub options_cut: u64,
    /// TCP segments whose checksum was verified, `None` if that was not asked for; and those of them that failed.
    pub checksums_verified: Option<u64>,
    pub checksums_bad: u64,
    pub zero_ip_length: u64,
    pub jumbo: u64,
    /// TCP segments put together from IP fragments.
    pub reassembled: u64,
    /// The first damage met; each file has its own.
    pub damage: Option<Damage>,
    pub warnings: Vec<String>,
}

/// A year, in nanoseconds: no transfer takes that long.
pub(crate) const LONG_STEP: u64 = 31_622_400 * 1_000_000_000;

impl Info {
    /// The clock went back, or far ahead.
    #[cold]
    pub(crate) fn note_step(&mut self, from: Time, to: Time) {
        if self.packets == 1 {
            return;
        }
        self.backwards += u64::from(to < from);
        if (to - from).0.unsigned_abs() > LONG_STEP {
            self.clock_jumps += 1;
            if self.clock_jumps == 1 {
                self.first_jump = self.packets;
            }
        }
    }

    /// A TCP segment of a capture that is made rather than read: it is there whole, and nothing leaves it out.
    pub fn count(&mut self, time: Time, wire_len: u32) {
        self.packets += 1;
        self.tcp_packets += 1;
        self.selected += 1;
        self.bytes += u64::from(wire_len);
        self.captured_bytes += u64::from(wire_len);
        self.first = self.first.or(Some(time));
        self.last = Some(time);
    }

    /// Some checksums are wrong, and not as a rule: their packets were damaged on the way.
    pub fn some_came_damaged(&self) -> bool {
        self.checksums_bad > 0 && self.checksums_verified.is_some_and(|all| 2 * self.checksums_bad < all)
    }

    /// Packets that the capture says it lost; `None` if it says nothing about it.
    pub fn dropped(&self) -> Option<u64> {
        dropped(&self.files)
    }

    /// Link types met, each once, in order.
    pub fn links(&self) -> Vec<LinkType> {
        links(&self.files)
    }

    /// The largest snap length of all interfaces; `None` if one of them had no limit.
    pub fn snap(&self) -> Option<u32> {
        let all: Vec<Option<u32>> = self.files.iter().flat_map(|f| &f.interfaces).map(|i| i.snap).collect();
        all.into_iter().try_fold(0, |most, s| s.map(|s| s.max(most))).filter(|s| *s > 0)
    }

    /// Tunnels and tags met, with their counts.
    pub fn tunnels_seen(&self) -> impl Iterator<Item = (Tunnel, u64)> + '_ {
        Tunnel::ALL.into_iter().zip(self.tunnels).filter(|(_, n)| *n > 0)
    }

    /// Once all is read: why there is nothing to analyse, or `None` if there is.
    pub fn nothing(&self) -> Option<String> {
        if self.selected > 0 {
            return None;
        }
        let name = self.files.first().map_or("", |f| f.name.as_str());
        let more = match self.files.len() {
            0 | 1 => String::new(),
            n => format!(" and {} more", n - 1),
        };
        if let Some(d) = self.damage.as_ref().filter(|_| self.packets == 0) {
            return Some(d.to_string());
        }
        if self.packets == 0 {
            return Some(format!("{name}{more}: holds no packets: was the capture filter too narrow?"));
        }
        if self.tcp_packets > 0 {
            let all = counted(self.tcp_packets, "TCP packet");
            return Some(format!(
                "{name}{more}: none of its {all} is selected: widen --flow, --host or --port"
            ));
        }
        if self.outside == self.packets {
            let all = counted(self.packets, "packet");
            return Some(format!("{name}{more}: all of its {all} lie outside --from and --to: widen them"));
        }
        let quic = match self.quic {
            0 => "",
            _ => ": it holds QUIC (RFC 9000), which rexmit does not read; its headers are encrypted",
        };
        let all = counted(self.packets, "packet");
        Some(format!("{name}{more}: no TCP in its {all}{}{quic}", self.other_parts()))
    }

    /// ` (35 UDP, 2 ARP)`, or nothing.
    fn other_parts(&self) -> String {
        let o = &self.others;
        let mut parts: Vec<String> = [
            (o.udp, "UDP"),
            (o.icmp, "ICMP"),
            (o.arp, "ARP"),
            (o.other_ip, "other IP"),
            (o.non_ip, "without IP"),
            (o.encrypted, ENCRYPTED),
            (o.fragments, "IP fragments"),
            (o.truncated, "cut before the TCP header by the snap length"),
            (self.malformed.count, "malformed"),
        ]
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{} {what}", grouped(n)))
        .collect();
        let not_read =
            |u: &Unsupported| format!("{} of link type {}, which is not read", grouped(u.packets), u.link);
        parts.extend(self.unsupported.iter().map(not_read));
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
    }
}
