//! Where bytes come from: a file or standard input, through a decompressor if the first bytes ask for one.

use crate::error::Error;
use crate::info::Compression;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What decompressing xz may use: twice what `xz -9` needs.
const XZ_MEMORY: u64 = 128 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Path(PathBuf),
    Stdin,
}

impl Source {
    /// `-` is standard input.
    pub fn new(path: &Path) -> Source {
        match path.as_os_str() == "-" {
            true => Source::Stdin,
            false => Source::Path(path.to_path_buf()),
        }
    }
    /// Its length, where it has one.
    pub(crate) fn len(&self) -> Option<u64> {
        match self {
            Source::Stdin => None,
            Source::Path(p) => p.metadata().ok().filter(|m| m.is_file()).map(|m| m.len()),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Path(p) => p.display().fmt(f),
            Source::Stdin => f.write_str("standard input"),
        }
    }
}

/// Bytes read so far, compressed as they lie in the file; shared with whoever shows progress.
pub(crate) type Meter = Arc<AtomicU64>;

struct Metered<R> {
    inner: R,
    meter: Meter,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.meter.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// The stream of a file's bytes, decompressed.
pub(crate) struct Stream {
    pub bytes: Box<dyn Read + Send>,
    pub compression: Option<Compression>,
}

/// Opens `source` and looks at its first bytes for a compression.
pub(crate) fn open(source: &Source, meter: &Meter) -> Result<Stream, Error> {
    let name = source.to_string();
    let raw: Box<dyn Read + Send> = match source {
        Source::Stdin => Box::new(io::stdin()),
        Source::Path(path) => {
            let file = File::open(path).map_err(|e| Error::opening(&name, e))?;
            if file.metadata().is_ok_and(|m| m.is_dir()) {
                return Err(Error::Directory { file: name });
            }
            Box::new(file)
        }
    };
    from_reader(raw, &name, meter)
}

/// The same over bytes that are open already.
pub(crate) fn from_reader(raw: Box<dyn Read + Send>, name: &str, meter: &Meter) -> Result<Stream, Error> {
    let mut raw = Metered { inner: raw, meter: meter.clone() };
    let mut head = Vec::with_capacity(8);
    raw.by_ref()
        .take(6)
        .read_to_end(&mut head)
        .map_err(|reason| Error::Unreadable { file: name.to_string(), reason })?;
    if head.is_empty() {
        return Err(Error::Empty { file: name.to_string() });
    }
    let compression = Compression::of(&head);
    let whole = io::Cursor::new(head).chain(raw);
    let unreadable = |reason| Error::Unreadable { file: name.to_string(), reason };
    let bytes: Box<dyn Read + Send> = match compression {
        None => Box::new(whole),
        Some(Compression::Gzip) => Box::new(flate2::read::MultiGzDecoder::new(whole)),
        Some(Compression::Zstd) => Box::new(zstd::stream::read::Decoder::new(whole).map_err(unreadable)?),
        Some(Compression::Xz) => {
            let stream = liblzma::stream::Stream::new_auto_decoder(XZ_MEMORY, liblzma::stream::CONCATENATED)
                .map_err(|e| unreadable(e.into()))?;
            Box::new(liblzma::read::XzDecoder::new_stream(whole, stream))
        }
    };
    Ok(Stream { bytes, compression })
}
