//! IPv4 and IPv6 headers, down to the payload that TCP sits in (RFC 791, RFC 8200, RFC 2675).

use crate::addr::Host;
use crate::checksum;

/// A place in an IP datagram's payload that fragments share (RFC 791 §3.2, RFC 8200 §4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Offset of this piece in the datagram's payload, bytes.
    pub offset: u32,
    pub more: bool,
    pub id: u32,
}

/// An IP header and where its payload lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpHeader {
    pub src: Host,
    pub dst: Host,
    /// The protocol of the payload, behind all extension headers.
    pub protocol: u8,
    pub ttl: u8,
    /// IPv4 identification; 0 for IPv6.
    pub id: u16,
    pub ecn: u8,
    /// Where the payload starts in the bytes given.
    pub payload_at: usize,
    /// Payload length as the header gives it; `None` if the header says 0 and leaves it to the frame.
    pub payload_len: Option<u32>,
    pub jumbo: bool,
    pub fragment: Option<Fragment>,
}

/// Why bytes are no IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpError {
    Cut,
    Version(u8),
    HeaderLength(u8),
    TotalLength(u16),
}

fn be16(b: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([b[at], b[at + 1]])
}

/// Reads an IPv4 or IPv6 header by its version nibble.
#[inline]
pub fn parse(b: &[u8]) -> Result<IpHeader, IpError> {
    match b.first().map(|v| v >> 4) {
        Some(4) => parse_v4(b),
        Some(6) => parse_v6(b),
        Some(v) => Err(IpError::Version(v)),
        None => Err(IpError::Cut),
    }
}

#[inline]
fn parse_v4(b: &[u8]) -> Result<IpHeader, IpError> {
    let Some(h) = b.first_chunk::<20>() else { return Err(IpError::Cut) };
    let header = usize::from(h[0] & 15) * 4;
    if header < 20 {
        return Err(IpError::HeaderLength(h[0] & 15));
    }
    let total = be16(h, 2);
    if total != 0 && usize::from(total) < header {
        return Err(IpError::TotalLength(total));
    }
    if header > b.len() {
        return Err(IpError::Cut);
    }
    let bits = be16(h, 6);
    let offset = u32::from(bits & 0x1fff) * 8;
    let more = bits & 0x2000 != 0;
    Ok(IpHeader {
        src: Host::v4([h[12], h[13], h[14], h[15]]),
        dst: Host::v4([h[16], h[17], h[18], h[19]]),
        protocol: h[9],
        ttl: h[8],
        id: be16(h, 4),
        ecn: h[1] & 3,
        payload_at: header,
        payload_len: (total != 0).then(|| u32::from(total) - header as u32),
        jumbo: false,
        fragment: (offset != 0 || more).then(|| Fragment { offset, more, id: u32::from(be16(h, 4)) }),
    })
}

fn parse_v6(b: &[u8]) -> Result<IpHeader, IpError> {
    let Some(h) = b.first_chunk::<40>() else { return Err(IpError::Cut) };
    let octets = |at: usize| -> [u8; 16] { h[at..at + 16].try_into().expect("16 of 40 bytes") };
    let length = u32::from(be16(h, 4));
    let mut ip = IpHeader {
        src: Host::v6(octets(8)),
        dst: Host::v6(octets(24)),
        protocol: h[6],
        ttl: h[7],
        id: 0,
        ecn: (h[1] >> 4) & 3,
        payload_at: 40,
        payload_len: (length != 0).then_some(length),
        jumbo: false,
        fragment: None,
    };
    // Extension headers (RFC 8200 §4): hop-by-hop, routing, fragment, AH, destination, mobility, HIP, shim6.
    while matches!(ip.protocol, 0 | 43 | 44 | 51 | 60 | 135 | 139 | 140) {
        let at = ip.payload_at;
        let Some(ext) = b.get(at..).and_then(|e| e.first_chunk::<8>()) else { return Err(IpError::Cut) };
        let len = match ip.protocol {
            44 => 8,
            51 => (usize::from(ext[1]) + 2) * 4, // AH counts words less two (RFC 4302 §2.2)
            _ => (usize::from(ext[1]) + 1) * 8,
        };
        if ip.protocol == 44 {
            let bits = be16(ext, 2);
            let id = u32::from_be_bytes([ext[4], ext[5], ext[6], ext[7]]);
            let (offset, more) = (u32::from(bits & 0xfff8), bits & 1 != 0);
            ip.fragment = (offset != 0 || more).then_some(Fragment { offset, more, id });
        }
        if ip.protocol == 0 && ext[2] == 0xc2 && ext[3] == 4 {
            // Jumbo payload option (RFC 2675 §2): the length that the fixed header had no room for.
            ip.payload_len = Some(u32::from_be_bytes([ext[4], ext[5], ext[6], ext[7]]));
            ip.jumbo = true;
        }
        ip.payload_len = match ip.payload_len {
            Some(n) if (n as usize) < len => return Err(IpError::TotalLength(n as u16)),
            other => other.map(|n| n - len as u32),
        };
        ip.protocol = ext[0];
        ip.payload_at = at + len;
        if ip.payload_at > b.len() {
            return Err(IpError::Cut);
        }
        if ip.fragment.is_some_and(|f| f.offset != 0) {
            break; // the rest of the chain is in the first fragment
        }
    }
    Ok(ip)
}

/// What [`write`] makes a header of.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    pub src: Host,
    pub dst: Host,
    pub protocol: u8,
    /// IPv4's identification.
    pub id: u16,
    pub ttl: u8,
    /// The ECN field (RFC 3168 §5).
    pub ecn: u8,
}

/// Appends an IPv4 or IPv6 header (no options) for a payload of `payload_len` bytes.
pub fn write(out: &mut Vec<u8>, header: &Header, payload_len: u32) {
    let Header { src, dst, protocol, id, ttl, ecn } = *header;
    if src.is_v4() && dst.is_v4() {
        let start = out.len();
        // Beyond 65535 the field is 0, as Linux writes it for BIG TCP super-packets.
        let total = u16::try_from(payload_len + 20).unwrap_or(0);
        out.extend([0x45, ecn & 3]);
        out.extend(total.to_be_bytes());
        out.extend(id.to_be_bytes());
        out.extend([0x40, 0, ttl, protocol, 0, 0]);
        out.extend(&src.0[12..]);
        out.extend(&dst.0[12..]);
        let sum = !checksum::fold(checksum::add(0, &out[start..]));
        out[start + 10..start + 12].copy_from_slice(&sum.to_be_bytes());
    } else {
        out.extend([0x60, (ecn & 3) << 4, 0, 0]);
        out.extend(u16::try_from(payload_len).unwrap_or(0).to_be_bytes());
        out.extend([protocol, ttl]);
        out.extend(src.0);
        out.extend(dst.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let (a, b) = (Host::v4([10, 0, 0, 1]), Host::v4([10, 0, 0, 2]));
        let (c, d) = (Host::v6([1; 16]), Host::v6([2; 16]));
        for (src, dst) in [(a, b), (c, d)] {
            let mut bytes = Vec::new();
            write(&mut bytes, &Header { src, dst, protocol: 6, id: 77, ttl: 64, ecn: 2 }, 1480);
            let ip = parse(&bytes).unwrap();
            assert_eq!((ip.src, ip.dst, ip.protocol, ip.payload_len, ip.ttl), (src, dst, 6, Some(1480), 64));
            assert_eq!(ip.ecn, 2);
            assert_eq!(ip.payload_at, bytes.len());
        }
    }

    #[test]
    fn extension_headers_are_walked_to_the_payload() {
        // RFC 8200 §4.1: hop-by-hop, then destination options, then TCP
        let mut bytes = Vec::new();
        let (src, dst) = (Host::v6([1; 16]), Host::v6([2; 16]));
        write(&mut bytes, &Header { src, dst, protocol: 0, id: 0, ttl: 64, ecn: 0 }, 36);
        bytes.extend([60, 0, 1, 4, 0, 0, 0, 0]);
        bytes.extend([6, 0, 1, 4, 0, 0, 0, 0]);
        let ip = parse(&bytes).unwrap();
        assert_eq!((ip.protocol, ip.payload_at, ip.payload_len), (6, 56, Some(20)));
    }

    #[test]
    fn a_jumbogram_takes_its_length_from_the_option() {
        let mut bytes = Vec::new();
        let (src, dst) = (Host::v6([1; 16]), Host::v6([2; 16]));
        write(&mut bytes, &Header { src, dst, protocol: 0, id: 0, ttl: 64, ecn: 0 }, 0);
        bytes.extend([6, 0, 0xc2, 4, 0, 1, 0, 28]); // RFC 2675 §2
        let ip = parse(&bytes).unwrap();
        assert_eq!((ip.payload_len, ip.jumbo), (Some(65564 - 8), true));
    }

    #[test]
    fn absurd_lengths_are_refused() {
        assert_eq!(parse(&[]), Err(IpError::Cut));
        assert_eq!(parse(&[0x50; 40]), Err(IpError::Version(5)));
        let mut h = [0u8; 20];
        h[0] = 0x44;
        assert_eq!(parse(&h), Err(IpError::HeaderLength(4)));
        h[0] = 0x45;
        h[3] = 10;
        assert_eq!(parse(&h), Err(IpError::TotalLength(10)));
    }
}
