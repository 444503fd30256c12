//! Where bytes come from: a file or standard input, through a decompressor if the first bytes ask for one.

use crate::decoders::{MOST_MEMORY, decoder, is_refused};
use crate::dictionary;
use crate::error::{Error, grouped, shown};
use crate::files;
use crate::info::Compression;
use reach::Reach;
use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// So many bytes of a file tell its compression, and how large a window it wants.
const HEAD: u64 = 64;

/// Why decompressing ended; for the decoder's refusal with how large the window is, where the file's head says so.
pub(crate) fn refusal(error: &io::Error) -> Option<String> {
    let refused = error.get_ref()?.downcast_ref::<Refused>()?;
    Some(refused.to_string())
}

#[derive(Debug)]
struct Refused {
    compression: Compression,
    window: Option<u64>,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = MOST_MEMORY >> 20;
        write!(f, "{} data wants more than the {most} MiB that decompressing may take", self.compression)?;
        if let Some(window) = self.window {
            write!(f, ", for a window of {} MiB", grouped(window.div_ceil(1 << 20)))?;
        }
        f.write_str(" (decompress the file first)")
    }
}

impl std::error::Error for Refused {}

/// Of what a decoder refuses it says the size that its head declared.
struct Decompressed<R> {
    inner: R,
    compression: Compression,
    window: Option<u64>,
}

impl<R: Read> Read for Decompressed<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buf).map_err(|error| match is_refused(&error) {
            // A later part of the file may ask for more than the first did.
            true => {
                let window = self.window.filter(|w| *w > MOST_MEMORY / 2);
                io::Error::other(Refused { compression: self.compression, window })
            }
            false => error,
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Opened if it is within the reach.
    Path(PathBuf, Reach),
    Stdin,
}

impl Source {
    /// `-` is standard input, where any file may be read.
    pub fn new(path: &Path, reach: &Reach) -> Source {
        match path.as_os_str() == "-" && *reach == Reach::Anywhere {
            true => Source::Stdin,
            false => Source::Path(path.to_path_buf(), reach.clone()),
        }
    }
    /// Its length, where it has one.
    pub(crate) fn len(&self) -> Option<u64> {
        match self {
            Source::Stdin => None,
            Source::Path(path, reach) => files::len(path, reach),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Path(p, _) => f.write_str(&shown(p)),
            Source::Stdin => f.write_str("standard input"),
        }
    }
}

/// Asked when a signal came while there was nothing to read: whether to wait on. A pipe may be silent for hours.
pub type Patience = Arc<dyn Fn() -> bool + Send + Sync>;

/// What the files of one capture have in common while they are read; shared with whoever shows progress.
#[derive(Clone, Default)]
pub(crate) struct Meter(Arc<Metering>);

#[derive(Default)]
struct Metering {
    /// Read so far, compressed as they lie in the file.
    bytes: AtomicU64,
    patience: Option<Patience>,
    stopped: AtomicBool,
}

impl Meter {
    pub fn patient(patience: Option<Patience>) -> Meter {
        Meter(Arc::new(Metering { patience, ..Metering::default() }))
    }
    pub fn bytes(&self) -> u64 {
        self.0.bytes.load(Ordering::Relaxed)
    }
    /// True once patience ended: the streams have ended then, wherever they were.
    pub fn stopped(&self) -> bool {
        self.0.stopped.load(Ordering::Relaxed)
    }
    fn waits_on(&self) -> bool {
        let waits = self.0.patience.as_ref().is_none_or(|asked| asked());
        self.0.stopped.fetch_or(!waits, Ordering::Relaxed);
        waits
    }
}

struct Metered<R> {
    inner: R,
    meter: Meter,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.meter.stopped() {
            return Ok(0);
        }
        loop {
            match self.inner.read(buf) {
                Ok(n) => {
                    self.meter.0.bytes.fetch_add(n as u64, Ordering::Relaxed);
                    return Ok(n);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted && self.meter.waits_on() => {}
                Err(e) if e.kind() == io::ErrorKind::Interrupted => return Ok(0),
                Err(e) => return Err(e),
            }
        }
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
        Source::Path(path, reach) => files::open(path, reach, &name, &|| meter.waits_on())?,
    };
    from_reader(raw, &name, meter)
}

/// The same over bytes that are open already.
pub(crate) fn from_reader(raw: Box<dyn Read + Send>, name: &str, meter: &Meter) -> Result<Stream, Error> {
    let mut raw = Metered { inner: raw, meter: meter.clone() };
    let mut head = Vec::with_capacity(HEAD as usize);
    raw.by_ref()
        .take(HEAD)
        .read_to_end(&mut head)
        .map_err(|reason| Error::Unreadable { file: name.to_string(), reason })?;
    if head.is_empty() {
        return Err(Error::Empty { file: name.to_string() });
    }
    let compression = Compression::of(&head);
    let window = dictionary::declared(&head);
    let whole = io::Cursor::new(head).chain(raw);
    let unreadable = |reason| Error::Unreadable { file: name.to_string(), reason };
    let bytes: Box<dyn Read + Send> = match compression {
        None => Box::new(whole),
        Some(compression) => {
            let inner = decoder(compression, whole).map_err(unreadable)?;
            Box::new(Decompressed { inner, compression, window })
        }
    };
    Ok(Stream { bytes, compression })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A silent pipe: after what it holds, signals come while it waits.
    struct Silent(io::Cursor<Vec<u8>>);

    impl Read for Silent {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            match self.0.read(buf)? {
                0 => Err(io::ErrorKind::Interrupted.into()),
                n => Ok(n),
            }
        }
    }

    fn read(bytes: &[u8], signals: u64) -> (Result<Vec<u8>, Error>, Meter) {
        let asked = AtomicU64::new(0);
        let patience = move || asked.fetch_add(1, Ordering::Relaxed) + 1 < signals;
        let meter = Meter::patient(Some(Arc::new(patience)));
        let pipe = Box::new(Silent(io::Cursor::new(bytes.to_vec())));
        let mut all = Vec::new();
        let stream = from_reader(pipe, "a", &meter);
        (stream.map(|mut s| s.bytes.read_to_end(&mut all).map(|_| all).unwrap()), meter)
    }

    #[test]
    fn a_signal_ends_the_wait_for_a_silent_pipe_once_patience_does() {
        for signals in [1, 3] {
            let (found, meter) = read(b"twelve bytes", signals);
            assert_eq!(found.unwrap(), b"twelve bytes");
            assert_eq!((meter.stopped(), meter.bytes()), (true, 12));
        }
    }
}
