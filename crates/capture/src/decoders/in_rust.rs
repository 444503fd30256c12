//! zstd and xz without C. What is damaged is reported in the words of the C libraries, as far as the decoders here tell
//! one kind of damage from another.

use super::MOST_MEMORY;
use lzma_rust2::{Action, Status, XzStream};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::error::Error;
use std::io::ErrorKind::{InvalidData, UnexpectedEof};
use std::io::{self, BufRead, Read};

/// Marks an error as the refusal to take more memory.
const REFUSED: io::ErrorKind = io::ErrorKind::OutOfMemory;

pub(crate) fn is_refused(error: &io::Error) -> bool {
    error.kind() == REFUSED
}

#[allow(clippy::unnecessary_wraps)] // the C library's can fail
pub(crate) fn zstd<R: Read + Send + 'static>(bytes: R) -> io::Result<Frames<R>> {
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(MOST_MEMORY);
    Ok(Frames { bytes: io::BufReader::with_capacity(1 << 16, bytes), decoder, within: false })
}

/// The frames of a zstd file, one after the other; frames to skip are skipped (RFC 8878 §3.1).
pub(crate) struct Frames<R> {
    bytes: io::BufReader<R>,
    decoder: FrameDecoder,
    /// A frame has begun, and not all of it was given.
    within: bool,
}

impl<R: Read> Frames<R> {
    /// Begins the next frame; false at the end of the file.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.bytes.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.bytes) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    if io::copy(&mut self.bytes.by_ref().take(length), &mut io::sink())? < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(in_words(error)),
            }
        }
        Ok(false)
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.within && !self.begin()? {
                return Ok(0);
            }
            self.within = true;
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let some = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.bytes, some).map_err(in_words)?;
            }
            let given = self.decoder.read(buf)?;
            if given > 0 || buf.is_empty() {
                return Ok(given);
            }
            self.within = false;
            let sums = self.decoder.get_checksum_from_data().zip(self.decoder.get_calculated_checksum());
            if sums.is_some_and(|(told, found)| told != found) {
                return Err(io::Error::other("Restored data doesn't match checksum"));
            }
        }
    }
}

/// An error of the decoder as libzstd has it.
fn in_words(error: FrameDecoderError) -> io::Error {
    if matches!(error, FrameDecoderError::WindowSizeTooBig { .. }) {
        return io::Error::new(REFUSED, error.to_string());
    }
    if matches!(&error, FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::BadMagicNumber(_))) {
        return io::Error::other("Unknown frame descriptor");
    }
    let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(e) = cause {
        if let Some(read) = e.downcast_ref::<io::Error>() {
            // The file's own error, or its end.
            return io::Error::new(read.kind(), read.to_string());
        }
        cause = e.source();
    }
    io::Error::other("Data corruption detected")
}

#[allow(clippy::unnecessary_wraps)] // the C library's can fail
pub(crate) fn xz<R: Read + Send + 'static>(bytes: R) -> io::Result<Xz<R>> {
    let bytes = io::BufReader::with_capacity(1 << 16, bytes);
    let stream = XzStream::new_mem_limit(true, (MOST_MEMORY >> 10) as u32);
    Ok(Xz { bytes, stream, ended: false })
}

/// The streams of an xz file. What was decoded before a file is cut off is given.
pub(crate) struct Xz<R> {
    bytes: io::BufReader<R>,
    stream: XzStream,
    ended: bool,
}

impl<R: Read> Read for Xz<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while !self.ended && !buf.is_empty() {
            let input = self.bytes.fill_buf()?;
            let at_end = input.is_empty();
            let action = if at_end { Action::Finish } else { Action::Run };
            let done = self.stream.process(input, buf, action).map_err(|error| match error.kind() {
                REFUSED | UnexpectedEof => error,
                _ => io::Error::new(InvalidData, "lzma data error"),
            })?;
            self.bytes.consume(done.bytes_consumed);
            self.ended = done.status == Status::StreamEnd;
            if done.bytes_produced > 0 {
                return Ok(done.bytes_produced);
            }
            if at_end && !self.ended {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests;
