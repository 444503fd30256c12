//! Each decoder in Rust beside the one in C: the same bytes, and the same words where there is damage.

use super::super::in_c;
use super::*;
use std::io::{Cursor, Write};

/// Something that compresses, but not to nothing.
fn plain() -> Vec<u8> {
    let mut state = 1u32;
    let mut next = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..300_000).map(|k| if k % 5 == 0 { next() } else { (k / 1000) as u8 }).collect()
}

fn in_zstd(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn in_xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 3);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn all(reader: io::Result<impl Read>) -> (Vec<u8>, Option<io::Error>) {
    let mut found = Vec::new();
    let ended = reader.and_then(|mut r| r.read_to_end(&mut found));
    (found, ended.err())
}

type Ended = (Vec<u8>, Option<io::Error>);

fn both(name: &str, bytes: &[u8]) -> [Ended; 2] {
    let of = || Cursor::new(bytes.to_vec());
    match name {
        "zstd" => [all(zstd(of())), all(in_c::zstd(of()))],
        _ => [all(xz(of())), all(in_c::xz(of()))],
    }
}

#[test]
fn a_file_is_the_same_bytes_in_either() {
    let plain = plain();
    for (name, packed) in [("zstd", in_zstd(&plain)), ("xz", in_xz(&plain))] {
        let twice = [packed.clone(), packed.clone()].concat();
        for (bytes, times) in [(packed, 1), (twice, 2)] {
            for (found, error) in both(name, &bytes) {
                assert!(error.is_none(), "{name}: {error:?}");
                assert!(found == plain.repeat(times), "{name}: {} bytes", found.len());
            }
        }
    }
}

#[test]
fn frames_to_skip_are_skipped() {
    let skipped = [&[0x52, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    let packed = in_zstd(&plain());
    let bytes = [&skipped[..], &packed, &skipped, &packed].concat();
    let [(found, none), (c, _)] = both("zstd", &bytes);
    assert!(none.is_none() && found == c && found.len() == 600_000);
    let (_, cut) = all(zstd(Cursor::new(skipped[..9].to_vec())));
    assert_eq!(cut.unwrap().kind(), io::ErrorKind::UnexpectedEof);
}

#[test]
fn a_file_that_is_cut_off_ends_early_in_either() {
    let plain = plain();
    for (name, packed) in [("zstd", in_zstd(&plain)), ("xz", in_xz(&plain))] {
        let [(found, error), (_, in_c)] = both(name, &packed[..packed.len() / 2]);
        assert!(plain.starts_with(&found), "{name}: other bytes");
        assert_eq!(error.unwrap().kind(), io::ErrorKind::UnexpectedEof, "{name}");
        assert_eq!(in_c.unwrap().kind(), io::ErrorKind::UnexpectedEof, "{name}");
    }
}

#[test]
fn damage_has_the_same_words_in_either() {
    let plain = plain();
    for (name, packed) in [("zstd", in_zstd(&plain)), ("xz", in_xz(&plain))] {
        // A byte of the data, and one of the checksum or what stands behind the data.
        for at in [packed.len() / 2, packed.len() - 3] {
            let mut bytes = packed.clone();
            bytes[at] ^= 0x55;
            let [(_, error), (_, in_c)] = both(name, &bytes);
            let (error, in_c) = (error.unwrap().to_string(), in_c.unwrap().to_string());
            let told =
                |e: &str| ["Restored data doesn't match checksum", "Data corruption detected"].contains(&e);
            // Where the C library notices the damage itself, the Rust one may notice it at the checksum.
            assert!(error == in_c || told(&error) && told(&in_c), "{name} at {at}: {error}; in C {in_c}");
        }
    }
}

#[test]
fn a_window_that_is_too_large_is_refused_in_either() {
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0, 21 << 3, 1, 0, 0, 0];
    let [(_, error), (_, in_c)] = both("zstd", &frame);
    assert!(is_refused(&error.unwrap()) && in_c::is_refused(&in_c.unwrap()));
    let mut options = liblzma::stream::LzmaOptions::new_preset(0).unwrap();
    options.dict_size(256 << 20);
    let mut filters = liblzma::stream::Filters::new();
    filters.lzma2(&options);
    let check = liblzma::stream::Check::Crc32;
    let encoder = liblzma::stream::Stream::new_stream_encoder(&filters, check).unwrap();
    let mut writer = liblzma::write::XzEncoder::new_stream(Vec::new(), encoder);
    writer.write_all(b"a").unwrap();
    let [(_, error), (_, in_c)] = both("xz", &writer.finish().unwrap());
    assert!(is_refused(&error.unwrap()) && in_c::is_refused(&in_c.unwrap()));
}
