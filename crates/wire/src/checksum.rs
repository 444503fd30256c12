//! The Internet checksum (RFC 1071).

use crate::addr::Tuple;

/// The one's-complement sum of `data` as big-endian words added to `sum`, not yet folded.
pub fn add(mut sum: u64, data: &[u8]) -> u64 {
    let mut words = data.chunks_exact(2);
    for w in &mut words {
        sum += u64::from(u16::from_be_bytes([w[0], w[1]]));
    }
    match words.remainder() {
        [last] => sum + (u64::from(*last) << 8),
        _ => sum,
    }
}

/// Folds a sum to 16 bits; the checksum field is its complement.
pub fn fold(mut sum: u64) -> u16 {
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// The sum of TCP's pseudo-header (RFC 9293 §3.1) for a segment of `tcp_len` bytes, folded, not complemented.
/// A checksum field that holds just this is what a host leaves for its network card to finish.
pub fn pseudo_header(tuple: &Tuple, tcp_len: u32) -> u16 {
    let (src, dst) = (&tuple.src.host, &tuple.dst.host);
    let sum = if src.is_v4() && dst.is_v4() {
        let word = |h: &[u8; 16], at: usize| u64::from(u16::from_be_bytes([h[at], h[at + 1]]));
        word(&src.0, 12) + word(&src.0, 14) + word(&dst.0, 12) + word(&dst.0, 14)
    } else {
        add(add(0, &src.0), &dst.0)
    };
    fold(sum + 6 + u64::from(tcp_len >> 16) + u64::from(tcp_len & 0xffff))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_as_rfc_1071_section_3_shows() {
        let data = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(fold(add(0, &data)), 0xddf2);
    }
}
