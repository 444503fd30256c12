//! Decompressors. gzip has one everywhere; zstd and xz have those of their C libraries, and in a browser, where no C
//! is compiled, ones in Rust.

#[cfg(not(target_arch = "wasm32"))]
mod in_c;
#[cfg(any(test, target_arch = "wasm32"))]
mod in_rust;

#[cfg(not(target_arch = "wasm32"))]
use in_c as used;
#[cfg(target_arch = "wasm32")]
use in_rust as used;

use crate::info::Compression;
use std::io::{self, Read};

/// Memory that a decoder may use, in bytes: twice what `xz -9` needs, and zstd's largest window without `--long`.
pub(crate) const MOST_MEMORY: u64 = 128 << 20;

/// Bytes as they were before they were compressed; of several compressed streams in a row, all.
pub(crate) fn decoder(
    of: Compression,
    bytes: impl Read + Send + 'static,
) -> io::Result<Box<dyn Read + Send>> {
    Ok(match of {
        Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(bytes)),
        Compression::Zstd => Box::new(used::zstd(bytes)?),
        Compression::Xz => Box::new(used::xz(bytes)?),
    })
}

/// Whether the decoder refuses to take more memory than it may.
pub(crate) fn is_refused(error: &io::Error) -> bool {
    used::is_refused(error)
}
