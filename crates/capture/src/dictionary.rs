//! How far back a compressed stream refers: the memory that its decoder needs, as the head of the stream declares it.

/// Bytes of zstd's window (RFC 8878 §3.1.1.1) or of xz's dictionary; `None` where the first bytes do not tell.
pub(crate) fn declared(head: &[u8]) -> Option<u64> {
    match head {
        [0x28, 0xb5, 0x2f, 0xfd, descriptor, rest @ ..] => zstd(*descriptor, rest),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => xz(head.get(12..)?),
        _ => None,
    }
}

/// What follows the frame header's descriptor: the window's descriptor; or, of a frame in a single segment, the number
/// of its dictionary, and how long its content is.
fn zstd(descriptor: u8, rest: &[u8]) -> Option<u64> {
    if descriptor & 1 << 5 == 0 {
        let window = *rest.first()?;
        let base = 1u64 << (10 + (window >> 3));
        return Some(base + base / 8 * u64::from(window & 7));
    }
    let number = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let length = [1, 2, 4, 8][usize::from(descriptor >> 6)];
    let mut content = [0; 8];
    content[..length].copy_from_slice(rest.get(number..number + length)?);
    Some(u64::from_le_bytes(content).saturating_add(if length == 2 { 256 } else { 0 }))
}

/// The first block's header (xz file format 1.2.1, 3.1): its length, flags, two lengths if the flags say so, and a chain
/// of filters, of which LZMA2 is the last (5.3.1).
fn xz(block: &[u8]) -> Option<u64> {
    const LZMA2: u64 = 0x21;
    let flags = *block.get(1)?;
    let mut at = 2;
    for there in [0x40, 0x80] {
        if flags & there != 0 {
            number(block, &mut at)?;
        }
    }
    for _ in 0..=flags & 3 {
        let (id, length) = (number(block, &mut at)?, number(block, &mut at)?);
        if id == LZMA2 {
            let bits = u32::from(*block.get(at)? & 0x3f);
            return (bits <= 40)
                .then(|| if bits == 40 { 4 << 30 } else { u64::from(2 | bits & 1) << (bits / 2 + 11) });
        }
        at = at.checked_add(usize::try_from(length).ok()?)?;
    }
    None
}

/// Seven bits a byte, the lowest first (1.2).
fn number(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut n = 0;
    for shift in (0..63).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        n |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(n);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use liblzma::stream::{Check, Filters, LzmaOptions, Stream};
    use std::io::Write;

    #[test]
    fn the_head_of_a_stream_tells_how_large_a_window_it_wants() {
        for mib in [1, 3, 64, 256, 1024] {
            let mut options = LzmaOptions::new_preset(0).unwrap();
            options.dict_size(mib << 20);
            let mut filters = Filters::new();
            filters.lzma2(&options);
            let encoder = Stream::new_stream_encoder(&filters, Check::Crc32).unwrap();
            // Its dictionary takes memory only once it is written to.
            let mut xz = liblzma::write::XzEncoder::new_stream(Vec::new(), encoder);
            xz.write_all(b"a").unwrap();
            assert_eq!(declared(&xz.finish().unwrap()), Some(u64::from(mib) << 20));
        }
        for log in [10, 20, 27] {
            let mut zstd = zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
            zstd.window_log(log).unwrap();
            zstd.write_all(b"a").unwrap();
            assert_eq!(declared(&zstd.finish().unwrap()), Some(1 << log));
        }
        // 100,000 bytes in a single segment, behind the number of a dictionary
        assert_eq!(declared(&[0x28, 0xb5, 0x2f, 0xfd, 0xa1, 7, 0xa0, 0x86, 1, 0]), Some(100_000));
        assert_eq!(declared(b"\x28\xb5\x2f\xfd"), None);
        assert_eq!(declared(&[0xfd, b'7', b'z', b'X', b'Z', 0, 0, 1]), None);
    }
}
