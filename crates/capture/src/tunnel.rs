//! What carries IP inside IP: GRE, IP in IP, and over UDP VXLAN, Geneve, GTP-U and CAPWAP.

use crate::decode::{Found, Walk};
use crate::info::Tunnel;
use crate::layers::{ETHERNET, Rest, be16};

const VXLAN: [u16; 2] = [4789, 8472]; // RFC 7348, and Linux's choice before it
const VXLAN_GPE: u16 = 4790; // draft-ietf-nvo3-vxlan-gpe
const CAPWAP_DATA: u16 = 5247;
const GENEVE: u16 = 6081;
const GTP_U: u16 = 2152;

/// A long header of QUIC with a version that is in use, or was: each connection begins with some (RFC 9000 §17.2, RFC 9369
/// §3.1, drafts §15). Google's, such as Q043, stood behind flags and a connection number of eight bytes until Q046.
fn begins_quic(datagram: &[u8]) -> bool {
    let Some([first, version @ ..]) = datagram.first_chunk::<5>() else { return false };
    let long =
        matches!(version, [0, 0, 0, 1] | [0x6b, 0x33, 0x43, 0xcf] | [0xff, 0, 0, _] | [b'Q', b'0', ..]);
    let google = first & 0x09 == 0x09 && datagram.get(9..11) == Some(b"Q0");
    first & 0xc0 == 0xc0 && long || google
}

impl Walk<'_> {
    /// GRE (RFC 2784, RFC 2890), and version 1 as PPTP has it (RFC 2637 §4.1).
    pub fn gre(&mut self, r: Rest) -> Option<Found> {
        let h = r.bytes.first_chunk::<4>()?;
        let (flags, kind) = (be16(h, 0), be16(h, 2));
        let present = |bit: u16| usize::from(flags & bit != 0) * 4;
        let length = match flags & 7 {
            // With routing (RFC 1701) more would follow, and nobody uses it.
            0 if flags & 0x4000 == 0 => 4 + present(0x8000) + present(0x2000) + present(0x1000),
            1 => 4 + present(0x2000) + present(0x1000) + present(0x0080),
            _ => return Some(Found::OtherIp),
        };
        let inner = r.behind(length)?;
        match kind {
            // ERSPAN II has a header of its own, and a GRE sequence number; type I has neither.
            0x88be => {
                self.saw(Tunnel::Erspan);
                self.ethernet(inner.behind(if flags & 0x1000 != 0 { 8 } else { 0 })?)
            }
            // ERSPAN III (draft-foschiano-erspan-03 §4.3): 12 bytes, and 8 more of the platform if the last bit says so.
            0x22eb => {
                self.saw(Tunnel::Erspan);
                let [frame, last] = *inner.bytes.get(10..)?.first_chunk::<2>()?;
                let mirrored = inner.behind(if last & 1 == 1 { 20 } else { 12 })?;
                match frame >> 2 & 0x1f {
                    0 => self.ethernet(mirrored),
                    2 => self.ip(mirrored),
                    _ => Some(Found::NonIp),
                }
            }
            _ => {
                self.saw(Tunnel::Gre);
                self.ethertype(kind, inner)
            }
        }
    }

    /// A UDP datagram: one of a tunnel, or just that. What turns out to be no tunnel is UDP.
    pub fn udp(&mut self, r: Rest) -> Option<Found> {
        let Some(h) = r.bytes.first_chunk::<8>() else { return Some(Found::Udp) };
        let (source, destination) = (be16(h, 0), be16(h, 2));
        let payload = r.behind(8)?;
        let (tunnels, packet) = (self.tunnels, self.packet);
        let found = if VXLAN.contains(&destination) {
            self.vxlan(payload)
        } else if destination == VXLAN_GPE {
            self.vxlan_gpe(payload)
        } else if destination == CAPWAP_DATA || source == CAPWAP_DATA {
            self.capwap(payload)
        } else if destination == GENEVE {
            self.geneve(payload)
        } else if destination == GTP_U || source == GTP_U {
            self.gtp(payload)
        } else {
            return Some(if begins_quic(payload.bytes) { Found::Quic } else { Found::Udp });
        };
        match found {
            None
            | Some(Found::Malformed(_) | Found::NonIp | Found::Encrypted | Found::Llc | Found::OtherIp) => {
                (self.tunnels, self.packet) = (tunnels, packet);
                Some(Found::Udp)
            }
            found => found,
        }
    }

    fn vxlan(&mut self, r: Rest) -> Option<Found> {
        // RFC 7348 §5: the I flag, the other seven and the reserved bytes zero (some use them for policy).
        if *r.bytes.first()? & 0x08 == 0 {
            return None;
        }
        self.saw(Tunnel::Vxlan);
        self.ethernet(r.behind(8)?)
    }

    /// VXLAN that says what it carries (draft-ietf-nvo3-vxlan-gpe §3.1).
    fn vxlan_gpe(&mut self, r: Rest) -> Option<Found> {
        let h = r.bytes.first_chunk::<8>()?;
        // Of an instance, and the next protocol is there.
        if h[0] & 0x0c != 0x0c {
            return None;
        }
        self.saw(Tunnel::Vxlan);
        match h[3] {
            1 | 2 => self.ip(r.behind(8)?),
            3 => self.ethernet(r.behind(8)?),
            _ => Some(Found::NonIp),
        }
    }

    /// Between an access point and its controller (RFC 5415 §4.3): a station's frame, of 802.11 or as Ethernet.
    fn capwap(&mut self, r: Rest) -> Option<Found> {
        let h = r.bytes.first_chunk::<8>()?;
        // Version 0; type 1 would be DTLS.
        if h[0] != 0 || h[3] & 0x08 != 0 {
            return None;
        }
        let inner = r.behind(usize::from(h[1] >> 3) * 4)?;
        // A fragment behind the first holds no header.
        if be16(h, 6) >> 3 != 0 {
            return Some(Found::Fragment);
        }
        self.saw(Tunnel::Capwap);
        // The binding's identifier, and whether frames are as the radio had them.
        match (h[2] & 1, h[2] >> 1 & 0x1f) {
            (0, _) => self.ethernet(inner),
            (_, 1) => self.wired_wifi(inner),
            _ => Some(Found::NonIp),
        }
    }

    fn geneve(&mut self, r: Rest) -> Option<Found> {
        let h = r.bytes.first_chunk::<8>()?;
        // RFC 8926 §3.4: version 0, options in words of 4 bytes
        if h[0] >> 6 != 0 {
            return None;
        }
        self.saw(Tunnel::Geneve);
        let inner = r.behind(8 + usize::from(h[0] & 0x3f) * 4)?;
        match be16(h, 2) {
            ETHERNET => self.ethernet(inner),
            kind => self.ethertype(kind, inner),
        }
    }

    /// GTP-U (3GPP TS 29.281 §5.1): version 1, type 255 carries a user's packet.
    fn gtp(&mut self, r: Rest) -> Option<Found> {
        let h = r.bytes.first_chunk::<8>()?;
        if h[0] >> 4 != 3 || h[1] != 255 {
            return None;
        }
        let mut at = 8;
        if h[0] & 7 != 0 {
            // Sequence number, N-PDU number and the next extension's type are there if one of them is.
            let mut next = *r.bytes.get(11)?;
            at = 12;
            while next != 0 && h[0] & 4 != 0 {
                let words = usize::from(*r.bytes.get(at)?);
                if words == 0 {
                    return None;
                }
                at += words * 4;
                next = *r.bytes.get(at - 1)?;
            }
        }
        self.saw(Tunnel::Gtp);
        self.ip(r.behind(at)?)
    }
}
