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
#[inline]
pub fn fold(mut sum: u64) -> u16 {
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// The sum of TCP's pseudo-header (RFC 9293 §3.1) for a segment of `tcp_len` bytes, folded, not complemented.
/// A checksum field that holds just this is what a host leaves for its network card to finish.
#[inline]
pub fn pseudo_header(tuple: &Tuple, tcp_len: u32) -> u16 {
    pseudo_header_between(hosts(tuple), tcp_len)
}

/// The share of a pseudo-header's sum that both directions of a connection have.
#[inline]
pub fn hosts(tuple: &Tuple) -> u16 {
    // What stands before an IPv4 address in a host is zero in this arithmetic, and bytes may be put in order when all
    // is added (RFC 1071 §2): both addresses are a few wide words.
    let (src, dst) = (u128::from_ne_bytes(tuple.src.host.0), u128::from_ne_bytes(tuple.dst.host.0));
    let words = [src as u64, (src >> 64) as u64, dst as u64, (dst >> 64) as u64];
    let sum: u64 = words.iter().map(|w| (w >> 32) + (w & 0xffff_ffff)).sum();
    let sum = (sum >> 32) + (sum & 0xffff_ffff);
    u16::from_be(fold((sum >> 16) + (sum & 0xffff)))
}

/// The sum of a pseudo-header by what its hosts add to it.
#[inline]
pub fn pseudo_header_between(hosts: u16, tcp_len: u32) -> u16 {
    fold(u64::from(hosts) + 6 + u64::from(tcp_len >> 16) + u64::from(tcp_len & 0xffff))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::{Endpoint, Host};

    #[test]
    fn sums_as_rfc_1071_section_3_shows() {
        let data = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(fold(add(0, &data)), 0xddf2);
    }

    #[test]
    fn a_pseudo_header_in_wide_words_has_the_sum_of_its_bytes() {
        let mut x = 1u64;
        for n in 0..1000u32 {
            let mut octets = || {
                x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let some = if n % 7 == 0 { u64::MAX } else { x };
                [some.to_be_bytes(), x.rotate_left(19).to_be_bytes()].concat()
            };
            let (a, b) = (octets(), octets());
            let (four, six) =
                (|o: &[u8]| [o[0], o[1], o[9], o[15]], |o: &[u8]| <[u8; 16]>::try_from(o).unwrap());
            let len = n * 977;
            let rest = 6 + u64::from(len >> 16) + u64::from(len & 0xffff);
            let end = |host| Endpoint { host, port: 1 };
            let v4 = Tuple { src: end(Host::v4(four(&a))), dst: end(Host::v4(four(&b))) };
            assert_eq!(pseudo_header(&v4, len), fold(add(add(rest, &four(&a)), &four(&b))));
            let v6 = Tuple { src: end(Host::v6(six(&a))), dst: end(Host::v6(six(&b))) };
            assert_eq!(pseudo_header(&v6, len), fold(add(add(rest, &a), &b)));
        }
    }
}
