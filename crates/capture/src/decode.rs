//! One captured frame to one TCP segment, or to what else it is.

use crate::fragments::{Fragments, Piece};
use crate::info::Tunnel;
use crate::layers::{IPV4, Rest, be16};
use crate::link::LinkType;
use crate::record::{MAX_PACKET, Record};
use std::collections::VecDeque;
use wire::ip::{IpError, IpHeader};
use wire::tcp::{self, HeaderError};
use wire::{Endpoint, Flags, Host, Notes, Packet, Segment, Tuple, checksum};

/// Headers inside headers beyond this are no network but damage.
const MAX_DEPTH: u8 = 8;
/// The same of what carries IP, of all tunnels together: Ethernet, its types, LLC, PPP. Whatever holds another of these
/// passes one of the two that count, so no frame takes the walk deeper.
const MAX_LAYERS: u8 = 8 * MAX_DEPTH;

/// A frame of more is no single packet of an ordinary Ethernet, VLAN tag included, and may be one that the receiving
/// card put together, with the first one's checksum left in it: only a right sum tells something there.
const ORDINARY_FRAME: u32 = 1518;

/// The shortest Ethernet frame without its check sequence (IEEE 802.3 §3.2.8): shorter datagrams are padded with zeros.
const SHORTEST_FRAME: u32 = 60;
/// What a TCP segment has of it, behind the headers of Ethernet and IPv4.
pub(crate) const SHORTEST_SEGMENT: u32 = SHORTEST_FRAME - 14 - 20;

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A segment; it stands in [`Walk::packet`].
    Tcp,
    Arp,
    Udp,
    /// UDP that carries QUIC.
    Quic,
    Icmp,
    OtherIp,
    /// 802.2 logical link control that carries no IP.
    Llc,
    NonIp,
    /// A frame of 802.11 whose data is encrypted.
    Encrypted,
    Fragment,
    Truncated,
    Malformed(Wrong),
    Unsupported,
}

/// What contradicts itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    Ip(IpError),
    TcpTooShort(u32),
    DataOffset { words: u8, tcp_len: u32 },
    TooDeep,
    TooManyLayers,
    FragmentTooLong,
    FrameCheck,
    Length(u32),
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Wrong::Ip(IpError::Cut) => f.write_str("the IP header ends early"),
            Wrong::Ip(IpError::Version(v)) => write!(f, "IP version {v}, where 4 or 6 can be"),
            Wrong::Ip(IpError::HeaderLength(words)) => {
                write!(f, "an IP header of {words} words, where 5 are the least")
            }
            Wrong::Ip(IpError::TotalLength(n)) => write!(f, "an IP length of {n}, below that of its header"),
            Wrong::TcpTooShort(n) => write!(f, "{n} bytes of TCP, where the header alone has 20"),
            Wrong::DataOffset { words, tcp_len } => {
                write!(f, "a TCP header of {words} words in {tcp_len} bytes")
            }
            Wrong::TooDeep => write!(f, "more than {MAX_DEPTH} IP headers inside each other"),
            Wrong::TooManyLayers => write!(f, "more than {MAX_LAYERS} link layers inside each other"),
            Wrong::Length(n) => write!(f, "an IP datagram of {n} bytes"),
            Wrong::FrameCheck => f.write_str("a radio frame whose check sequence is wrong"),
            Wrong::FragmentTooLong => f.write_str("an IP fragment that ends beyond 65,535 bytes"),
        }
    }
}

/// Decodes frames one after the other; keeps IP fragments that wait for their rest.
#[derive(Default)]
pub(crate) struct Decoder {
    pub fragments: Fragments,
    pub verify: bool,
    pub verified: u64,
    /// Of a frame that holds several segments, those behind the first.
    pub more: VecDeque<Packet>,
}

const _: () = assert!(Tunnel::ALL.len() <= u16::BITS as usize, "`Walk::tunnels` has a bit for each");

/// The way down through one frame.
pub(crate) struct Walk<'d> {
    pub packet: Packet,
    /// Bits of [`Tunnel`].
    pub tunnels: u16,
    /// Of the outermost IP header: whether it is IPv4, and the payload's protocol.
    outer: Option<(bool, u8)>,
    /// What is behind the outermost IP header does not matter.
    only_outer: bool,
    depth: u8,
    layers: u8,
    decoder: &'d mut Decoder,
}

/// An IPv4 TCP segment in plain Ethernet, no options, no fragment: nearly all there is. Fills `packet`, and gives
/// the TCP length. `None` leaves the frame to [`Decoder::any`], which comes to the same result.
#[inline(always)]
pub(crate) fn plain(record: &Record, data: &[u8], number: u64, packet: &mut Packet) -> Option<u32> {
    let h = data.first_chunk::<54>()?;
    let total = be16(h, 16);
    let more_or_offset = be16(h, 20) & 0x3fff;
    if be16(h, 12) != IPV4 || h[14] != 0x45 || h[23] != 6 || more_or_offset != 0 || total < 40 {
        return None;
    }
    let end = data.len().min(14 + usize::from(total));
    let tcp_len = u32::from(total) - 20;
    let ports = tcp::parse_into(&data[34..end], tcp_len, &mut packet.seg).ok()?;
    packet.time = record.time;
    packet.number = number;
    packet.tuple = Tuple {
        src: Endpoint { host: Host::v4([h[26], h[27], h[28], h[29]]), port: ports.src },
        dst: Endpoint { host: Host::v4([h[30], h[31], h[32], h[33]]), port: ports.dst },
    };
    packet.wire_len = record.wire_len;
    packet.ip_id = be16(h, 18);
    packet.checksum = ports.checksum;
    packet.ttl = h[22];
    packet.notes = record.notes.with_ecn(h[15] & 3);
    Some(tcp_len)
}

impl Decoder {
    /// Whatever the frame is. The segment is in `packet` if the answer is [`Found::Tcp`].
    #[inline(never)]
    pub fn any(&mut self, record: &Record, data: &[u8], number: u64, packet: &mut Packet) -> (Found, u16) {
        let start = Packet {
            time: record.time,
            number,
            wire_len: record.wire_len,
            notes: record.notes,
            ..Packet::default()
        };
        let mut walk = Walk::new(self, start);
        let found = walk.whole(record, data);
        *packet = walk.packet;
        (found, walk.tunnels)
    }

    /// What a frame is by its outermost headers; of an IP datagram whether it is IPv4, and its protocol.
    pub fn kind(&mut self, record: &Record, data: &[u8]) -> (Found, Option<(bool, u8)>) {
        let mut walk = Walk { only_outer: true, ..Walk::new(self, Packet::default()) };
        let found = walk.whole(record, data);
        (found, walk.outer)
    }

    /// Looks at the bytes of a segment: whether they are padding, and whether the checksum is right.
    pub fn check(&mut self, packet: &mut Packet, segment: &[u8], tcp_len: u32) {
        if tcp_len == SHORTEST_SEGMENT && packet.wire_len == SHORTEST_FRAME {
            leave_padding_out(&mut packet.seg, segment);
        }
        self.verify(packet, segment, tcp_len);
    }

    /// Marks a segment that was captured whole and whose checksum is wrong. A field that is zero, or that
    /// holds the pseudo-header's sum alone, was left for the network card.
    fn verify(&mut self, packet: &mut Packet, segment: &[u8], tcp_len: u32) {
        if !self.verify || packet.checksum == 0 || (segment.len() as u64) < u64::from(tcp_len) {
            return;
        }
        let pseudo = checksum::pseudo_header(&packet.tuple, tcp_len);
        if packet.checksum == pseudo || packet.checksum == checksum::pseudo_header(&packet.tuple, 0) {
            return;
        }
        let right = checksum::fold(checksum::add(u64::from(pseudo), segment)) == 0xffff;
        if right || packet.wire_len <= ORDINARY_FRAME {
            self.verified += 1;
        }
        if !right && packet.wire_len <= ORDINARY_FRAME {
            packet.notes.add(Notes::BAD_CHECKSUM);
        }
    }
}

/// RFC 768.
const UDP_HEADER: u32 = 8;

/// Some boxes on the way make the padding of a short frame a part of the IP datagram. Zeros that fill such a frame to its end
/// are no data, unless they are pushed: a sender sets PSH on the last segment of what it has (RFC 9293 §3.9.1.2).
#[cold]
fn leave_padding_out(seg: &mut Segment, segment: &[u8]) {
    let numbered = Flags::SYN.with(Flags::FIN).with(Flags::PSH);
    let data = segment.get(usize::from(seg.header_len)..).unwrap_or_default();
    let whole = data.len() == seg.payload as usize;
    if seg.payload > 0 && whole && !seg.flags.has(numbered) && data.iter().all(|b| *b == 0) {
        seg.payload = 0;
    }
}

impl<'d> Walk<'d> {
    fn new(decoder: &'d mut Decoder, packet: Packet) -> Walk<'d> {
        Walk { packet, tunnels: 0, outer: None, only_outer: false, depth: 0, layers: 0, decoder }
    }

    fn whole(&mut self, record: &Record, data: &[u8]) -> Found {
        let wire = record.wire_len.saturating_sub(u32::from(record.fcs));
        let rest = Rest { bytes: data, wire };
        self.frame(LinkType(record.link), rest).unwrap_or(match data.len() < wire as usize {
            true => Found::Truncated,
            false => Found::NonIp,
        })
    }
}

impl Walk<'_> {
    pub fn saw(&mut self, tunnel: Tunnel) {
        self.tunnels |= 1 << tunnel as u8;
        if !matches!(tunnel, Tunnel::Vlan | Tunnel::Mpls | Tunnel::Pppoe) {
            self.packet.notes.add(Notes::TUNNELLED);
        }
    }

    /// The packet is one more of this frame, which has one already.
    #[cold]
    pub fn another(&mut self) {
        if !self.only_outer {
            self.decoder.more.push_back(self.packet);
        }
    }

    /// One link layer more; whether they are too many.
    pub fn too_deep(&mut self) -> bool {
        self.layers = self.layers.saturating_add(1);
        self.layers > MAX_LAYERS
    }

    pub fn ip(&mut self, r: Rest) -> Option<Found> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Some(Found::Malformed(Wrong::TooDeep));
        }
        let ip = match wire::ip::parse(r.bytes) {
            Ok(ip) => ip,
            Err(IpError::Cut) => return None,
            Err(wrong) => return Some(Found::Malformed(Wrong::Ip(wrong))),
        };
        if self.only_outer {
            self.outer = Some((ip.src.is_v4(), ip.protocol));
            return Some(Found::OtherIp);
        }
        // Of the innermost header
        self.packet.ip_id = ip.id;
        self.packet.ttl = ip.ttl;
        self.packet.notes.0 &= !(Notes::ZERO_IP_LENGTH.0 | Notes::JUMBO.0);
        self.packet.notes = self.packet.notes.with_ecn(ip.ecn);
        if ip.jumbo {
            self.packet.notes.add(Notes::JUMBO);
        }
        let length = ip.payload_len.unwrap_or_else(|| {
            self.packet.notes.add(Notes::ZERO_IP_LENGTH);
            r.wire.saturating_sub(ip.payload_at as u32)
        });
        if length > MAX_PACKET {
            return Some(Found::Malformed(Wrong::Length(length)));
        }
        // What lies behind the datagram is the link's padding.
        let end = r.bytes.len().min(ip.payload_at.saturating_add(length as usize));
        let payload = Rest { bytes: &r.bytes[ip.payload_at..end], wire: length };
        match ip.fragment {
            Some(_) => self.fragment(&ip, payload),
            None => self.transport(&ip, payload),
        }
    }

    fn transport(&mut self, ip: &IpHeader, r: Rest) -> Option<Found> {
        match ip.protocol {
            6 => self.tcp(ip, r),
            17 => {
                let wire = r.wire;
                let found = self.udp(r);
                if matches!(found, Some(Found::Udp | Found::Quic)) {
                    (self.packet.tuple.src.host, self.packet.tuple.dst.host) = (ip.src, ip.dst);
                    self.packet.seg.payload = wire.saturating_sub(UDP_HEADER);
                }
                found
            }
            1 | 58 => Some(Found::Icmp),
            4 | 41 => {
                self.saw(Tunnel::IpInIp);
                self.ip(r)
            }
            47 => self.gre(r),
            137 => self.mpls(r), // RFC 4023
            _ => Some(Found::OtherIp),
        }
    }

    fn tcp(&mut self, ip: &IpHeader, r: Rest) -> Option<Found> {
        let parsed = match tcp::parse(r.bytes, r.wire) {
            Ok(parsed) => parsed,
            Err(HeaderError::Cut { .. }) if r.wire < tcp::MIN_HEADER as u32 => {
                return Some(Found::Malformed(Wrong::TcpTooShort(r.wire)));
            }
            Err(HeaderError::Cut { .. }) => return Some(Found::Truncated),
            Err(HeaderError::DataOffset { words }) => {
                return Some(Found::Malformed(Wrong::DataOffset { words, tcp_len: r.wire }));
            }
        };
        self.fill(ip, &parsed);
        self.decoder.check(&mut self.packet, r.bytes, r.wire);
        Some(Found::Tcp)
    }

    fn fill(&mut self, ip: &IpHeader, parsed: &tcp::Parsed) {
        self.packet.tuple = Tuple {
            src: Endpoint { host: ip.src, port: parsed.src_port },
            dst: Endpoint { host: ip.dst, port: parsed.dst_port },
        };
        self.packet.seg = parsed.seg;
        self.packet.checksum = parsed.checksum;
    }

    /// A piece of a datagram. The first one holds the headers; where a tunnel's do, the inner IP header says
    /// how long the inner datagram is, and the rest is not needed.
    #[cold]
    fn fragment(&mut self, ip: &IpHeader, r: Rest) -> Option<Found> {
        let place = ip.fragment?;
        if place.offset == 0 && ip.protocol != 6 {
            return match self.transport(ip, r) {
                Some(Found::Tcp) => Some(Found::Tcp),
                _ => Some(Found::Fragment),
            };
        }
        if ip.protocol != 6 {
            return Some(Found::Fragment);
        }
        let end = place.offset.saturating_add(r.wire);
        if end > 65_535 {
            return Some(Found::Malformed(Wrong::FragmentTooLong));
        }
        let mut header = 0;
        if place.offset == 0 {
            // The datagram's length is not known yet; any that is long enough will do to read the header.
            const UNKNOWN: u32 = 65_535;
            match tcp::parse(r.bytes, UNKNOWN) {
                Ok(parsed) => {
                    self.fill(ip, &parsed);
                    header = UNKNOWN - parsed.seg.payload;
                }
                Err(HeaderError::Cut { .. }) => return Some(Found::Truncated),
                Err(HeaderError::DataOffset { words }) => {
                    return Some(Found::Malformed(Wrong::DataOffset { words, tcp_len: r.wire }));
                }
            }
        }
        self.packet.notes.add(Notes::FRAGMENTED);
        let piece = Piece { place, len: r.wire, header };
        let key = (ip.src, ip.dst, place.id);
        match self.decoder.fragments.add(key, piece, &self.packet) {
            Some(whole) => {
                self.packet = whole;
                Some(Found::Tcp)
            }
            None => Some(Found::Fragment),
        }
    }
}
