//! The files of the system, as captures.

use crate::error::Error;
use reach::Reach;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Its length, where it has one.
pub(crate) fn len(path: &Path, reach: &Reach) -> Option<u64> {
    match reach {
        Reach::Anywhere => path.metadata().ok().filter(|m| m.is_file()).map(|m| m.len()),
        Reach::Below(folders) => Some(folders.place(path).ok()?.metadata().ok()?.len()),
    }
}

/// Opens a file. name: as errors have it. `waits_on`: asked when a signal came while nobody writes to a named pipe.
pub(crate) fn open(
    path: &Path,
    reach: &Reach,
    name: &str,
    waits_on: &dyn Fn() -> bool,
) -> Result<Box<dyn Read + Send>, Error> {
    let file = match reach {
        Reach::Anywhere => anywhere(path, waits_on).map_err(|e| Error::opening(name, e))?,
        Reach::Below(folders) => folders.open(path).map_err(|e| Error::refused(name, e))?,
    };
    if file.metadata().is_ok_and(|m| m.is_dir()) {
        return Err(Error::Directory { file: name.to_string() });
    }
    Ok(Box::new(file))
}

/// A named pipe opens once somebody writes to it. `File::open` would wait on whatever signal comes.
#[cfg(unix)]
fn anywhere(path: &Path, waits_on: &dyn Fn() -> bool) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    loop {
        match rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) {
            Err(rustix::io::Errno::INTR) if waits_on() => {}
            opened => return Ok(opened?.into()),
        }
    }
}

#[cfg(not(unix))]
fn anywhere(path: &Path, _: &dyn Fn() -> bool) -> io::Result<File> {
    File::open(path)
}
