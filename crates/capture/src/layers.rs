//! From a link layer's frame down to IP: link types, tags and labels.

use crate::decode::{Found, Walk, Wrong};
use crate::info::Tunnel;
use crate::link::LinkType;
use wire::Notes;

pub(crate) fn be16(b: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([b[at], b[at + 1]])
}

pub(crate) const IPV4: u16 = 0x0800;
pub(crate) const IPV6: u16 = 0x86dd;
pub(crate) const ETHERNET: u16 = 0x6558;
pub(crate) const MPLS: u16 = 0x8847;
pub(crate) const PPP: u16 = 0x880b;

/// What is left of a frame: the bytes captured, and how many there were on the wire.
#[derive(Clone, Copy)]
pub(crate) struct Rest<'a> {
    pub bytes: &'a [u8],
    pub wire: u32,
}

impl<'a> Rest<'a> {
    /// Behind a header of `n` bytes; `None` if the capture does not reach that far.
    pub fn behind(self, n: usize) -> Option<Rest<'a>> {
        Some(Rest { bytes: self.bytes.get(n..)?, wire: self.wire.saturating_sub(n as u32) })
    }
    /// The two bytes at `at`, big-endian.
    pub fn word(self, at: usize) -> Option<u16> {
        self.bytes.get(at..at + 2).map(|w| be16(w, 0))
    }
}

impl Walk<'_> {
    /// A frame of `link`. `None` means cut off before it was known what it is.
    pub fn frame(&mut self, link: LinkType, r: Rest) -> Option<Found> {
        match link {
            LinkType::ETHERNET => self.ethernet(r),
            LinkType::RAW | LinkType::RAW_12 | LinkType::RAW_14 | LinkType::IPV4 | LinkType::IPV6 => {
                self.ip(r)
            }
            LinkType::LINUX_SLL => {
                self.cooked(u16::from(*r.bytes.get(1)?));
                self.ethertype(r.word(14)?, r.behind(16)?)
            }
            LinkType::LINUX_SLL2 => {
                self.cooked(u16::from(*r.bytes.get(10)?));
                self.ethertype(r.word(0)?, r.behind(20)?)
            }
            LinkType::NULL | LinkType::LOOP => self.bsd_loopback(r),
            LinkType::PPP | LinkType::PPP_HDLC => self.ppp(r),
            LinkType::PPP_ETHER => self.pppoe(r),
            LinkType::PPP_PPPD => {
                // The direction stands where HDLC's address byte would, its control byte follows.
                self.direction(*r.bytes.first()?);
                self.ppp(r.behind(if r.bytes.get(1) == Some(&3) { 2 } else { 1 })?)
            }
            LinkType::PPP_WITH_DIR => {
                self.direction(*r.bytes.first()?);
                self.ppp(r.behind(1)?)
            }
            // Frame control, two addresses, then LLC.
            LinkType::FDDI => self.llc(r.behind(13)?),
            LinkType::TOKEN_RING => {
                // The top bit of the source address says that routing information follows (802.5 §3.2.4.1).
                let source = *r.bytes.get(8)?;
                let routing = if source & 0x80 != 0 { usize::from(*r.bytes.get(14)? & 0x1f) } else { 0 };
                self.llc(r.behind(14 + routing)?)
            }
            LinkType::ATM_RFC1483 => self.llc(r),
            LinkType::C_HDLC => self.ethertype(r.word(2)?, r.behind(4)?),
            // The destination's address (RFC 4391), then the type and two reserved bytes (§6).
            LinkType::IPOIB => self.ethertype(r.word(40)?, r.behind(44)?),
            LinkType::IEEE802_11 => self.bare_wifi(r),
            LinkType::RADIOTAP => self.radiotap(r),
            LinkType::PRISM | LinkType::AVS => self.prism(r),
            LinkType::PPI => self.ppi(r),
            LinkType::NFLOG => self.nflog(r),
            LinkType::PFLOG => self.pflog(r),
            LinkType::PKTAP => self.pktap(r),
            _ => Some(Found::Unsupported),
        }
    }

    /// Linux's packet type: 4 went out, 3 was meant for another host, the others came in.
    fn cooked(&mut self, packet_type: u16) {
        match packet_type {
            0..=2 => self.packet.notes.add(Notes::INBOUND),
            4 => self.packet.notes.add(Notes::OUTBOUND),
            _ => {}
        }
    }

    /// pppd's byte: 0 was received, 1 was sent.
    fn direction(&mut self, byte: u8) {
        match byte {
            0 => self.packet.notes.add(Notes::INBOUND),
            1 => self.packet.notes.add(Notes::OUTBOUND),
            _ => {}
        }
    }

    pub fn ethernet(&mut self, r: Rest) -> Option<Found> {
        if self.too_deep() {
            return Some(Found::Malformed(Wrong::TooManyLayers));
        }
        match r.word(12)? {
            // IEEE 802.3 §3.2.6: up to 1500 it is a length, and LLC follows.
            0..=1500 => self.llc(r.behind(14)?),
            kind => self.ethertype(kind, r.behind(14)?),
        }
    }

    pub fn ethertype(&mut self, mut kind: u16, mut r: Rest) -> Option<Found> {
        if self.too_deep() {
            return Some(Found::Malformed(Wrong::TooManyLayers));
        }
        loop {
            match kind {
                IPV4 | IPV6 => return self.ip(r),
                // 802.1Q, 802.1ad, and what switches used before it
                0x8100 | 0x88a8 | 0x9100 | 0x9200 | 0x9300 => {
                    self.saw(Tunnel::Vlan);
                    kind = r.word(2)?;
                    r = r.behind(4)?;
                    if kind <= 1500 {
                        return self.llc(r);
                    }
                }
                // 802.1BR §11.4: priority, extended identifiers, then the type
                0x893f => {
                    self.saw(Tunnel::Vlan);
                    kind = r.word(6)?;
                    r = r.behind(8)?;
                }
                // Cisco's FabricPath: a tag and a time to live, then the host's own frame
                0x8903 => return self.ethernet(r.behind(2)?),
                MPLS | 0x8848 => return self.mpls(r),
                0x8864 => return self.pppoe(r),
                PPP => return self.ppp(r),
                ETHERNET => return self.ethernet(r),
                0x0806 | 0x8035 => return Some(Found::Arp),
                // Linux cooked: 802.2 frames (ETH_P_802_2)
                4 => return self.llc(r),
                _ => return Some(Found::NonIp),
            }
        }
    }

    /// LLC, and SNAP behind it (RFC 1042).
    pub fn llc(&mut self, r: Rest) -> Option<Found> {
        match r.bytes.first_chunk::<3>()? {
            [0xaa, 0xaa, 3] => {
                let oui = r.bytes.get(3..6)?;
                match oui {
                    [0, 0, 0] | [0, 0, 0xf8] => self.ethertype(r.word(6)?, r.behind(8)?),
                    // RFC 2684 §5.2: bridged Ethernet, with or without its FCS, behind two bytes of padding
                    [0, 0x80, 0xc2] if matches!(r.word(6)?, 1 | 7) => self.ethernet(r.behind(10)?),
                    _ => Some(Found::Llc),
                }
            }
            [6, 6, 3] => self.ip(r.behind(3)?),
            _ => Some(Found::Llc),
        }
    }

    /// A stack of labels, then what its first nibble says (RFC 3032, RFC 4928).
    pub fn mpls(&mut self, mut r: Rest) -> Option<Found> {
        self.saw(Tunnel::Mpls);
        loop {
            let bottom = r.bytes.get(2)? & 1 == 1;
            r = r.behind(4)?;
            if bottom {
                break;
            }
        }
        match r.bytes.first()? >> 4 {
            4 | 6 => self.ip(r),
            // A pseudowire's control word, then Ethernet (RFC 4448)
            0 if r.bytes.len() > 4 && r.word(16).is_some_and(|t| t > 1500) => self.ethernet(r.behind(4)?),
            _ => Some(Found::NonIp),
        }
    }

    fn pppoe(&mut self, r: Rest) -> Option<Found> {
        self.saw(Tunnel::Pppoe);
        let h = r.bytes.first_chunk::<6>()?;
        // RFC 2516 §4: version and type 1, code 0 is session data; the rest is discovery.
        if h[0] != 0x11 || h[1] != 0 {
            return Some(Found::NonIp);
        }
        let length = u32::from(be16(h, 4));
        let mut r = r.behind(6)?;
        r.wire = length;
        r.bytes = &r.bytes[..r.bytes.len().min(length as usize)];
        self.ppp(r)
    }

    /// PPP (RFC 1661, RFC 1662): address and control may be left out, and so may the protocol's first byte.
    pub fn ppp(&mut self, r: Rest) -> Option<Found> {
        let r = if r.bytes.starts_with(&[0xff, 3]) { r.behind(2)? } else { r };
        // Cisco's HDLC has an address of 0x0f or 0x8f there, and Ethernet types.
        if matches!(r.bytes, [0x0f | 0x8f, 0, ..]) {
            return self.ethertype(r.word(2)?, r.behind(4)?);
        }
        let first = *r.bytes.first()?;
        let (protocol, r) = match first & 1 {
            1 => (u16::from(first), r.behind(1)?),
            _ => (r.word(0)?, r.behind(2)?),
        };
        match protocol {
            0x21 | 0x57 => self.ip(r),
            0x281 | 0x283 => self.mpls(r),
            _ => Some(Found::NonIp),
        }
    }

    /// The address family in the byte order of the host that captured (null), or in network order (loop).
    fn bsd_loopback(&mut self, r: Rest) -> Option<Found> {
        let family = match r.bytes.first_chunk::<4>()? {
            [0, 0, 0, f] | [f, 0, 0, 0] => *f,
            _ => 0,
        };
        match family {
            // AF_INET, and AF_INET6 of NetBSD, FreeBSD, Darwin, and of Linux
            2 | 10 | 24 | 28 | 30 => self.ip(r.behind(4)?),
            _ => Some(Found::NonIp),
        }
    }

    /// Apple's wrapper: its length, then the link type it wraps, and flags that tell the direction.
    fn pktap(&mut self, r: Rest) -> Option<Found> {
        let word = |at: usize| {
            let b = r.bytes.get(at..at + 4)?;
            Some(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        };
        let (length, link, flags) = (word(0)?, word(8)?, word(36)?);
        match flags & 3 {
            1 => self.packet.notes.add(Notes::INBOUND),
            2 => self.packet.notes.add(Notes::OUTBOUND),
            _ => {}
        }
        let link = LinkType(u16::try_from(link).unwrap_or(u16::MAX));
        if length < 40 || link == LinkType::PKTAP {
            return Some(Found::NonIp);
        }
        self.frame(link, r.behind(length as usize)?)
    }
}
