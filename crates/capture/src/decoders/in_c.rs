//! zstd and xz through libzstd and liblzma.

use super::MOST_MEMORY;
use liblzma::stream::{CONCATENATED, Error, Stream};
use std::io::{self, Read};

pub(super) fn zstd(bytes: impl Read + Send + 'static) -> io::Result<impl Read + Send> {
    let mut decoder = zstd::stream::read::Decoder::new(bytes)?;
    decoder.window_log_max(MOST_MEMORY.ilog2())?;
    Ok(decoder)
}

pub(super) fn xz(bytes: impl Read + Send + 'static) -> io::Result<impl Read + Send> {
    let stream = Stream::new_auto_decoder(MOST_MEMORY, CONCATENATED)?;
    Ok(liblzma::read::XzDecoder::new_stream(bytes, stream))
}

/// (zstd's errors are words only.)
pub(super) fn is_refused(error: &io::Error) -> bool {
    let xz = error.get_ref().and_then(|e| e.downcast_ref::<Error>());
    xz == Some(&Error::MemLimit) || error.to_string() == "Frame requires too much memory for decoding"
}
