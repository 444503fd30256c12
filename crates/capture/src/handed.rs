//! Files where there is no file system: in a browser a page hands them over, each under a name.

use crate::error::Error;
use reach::Reach;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The bytes of a file, wherever they are.
pub trait Bytes {
    fn size(&self) -> u64;
    /// Reads from a place on; 0 at the end.
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize>;
}

thread_local! {
    static HANDED: RefCell<BTreeMap<PathBuf, Rc<dyn Bytes>>> = const { RefCell::new(BTreeMap::new()) };
}

/// The files that there are from now on; those before are gone.
pub fn hand_over(files: impl IntoIterator<Item = (PathBuf, Rc<dyn Bytes>)>) {
    HANDED.set(files.into_iter().collect());
}

fn of(path: &Path) -> Option<Rc<dyn Bytes>> {
    HANDED.with_borrow(|files| files.get(path).cloned())
}

pub(crate) fn len(path: &Path, _: &Reach) -> Option<u64> {
    of(path).map(|file| file.size())
}

/// As the files of a system open.
pub(crate) fn open(
    path: &Path,
    _: &Reach,
    name: &str,
    _: &dyn Fn() -> bool,
) -> Result<Box<dyn Read + Send>, Error> {
    match of(path) {
        Some(_) => Ok(Box::new(Opened { path: path.to_path_buf(), at: 0 })),
        None => Err(Error::opening(name, io::ErrorKind::NotFound.into())),
    }
}

/// A file that the page handed over belongs to the thread that got it, so each read looks it up there.
struct Opened {
    path: PathBuf,
    at: u64,
}

impl Read for Opened {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let file = of(&self.path).ok_or(io::ErrorKind::NotFound)?;
        let read = file.read_at(self.at, buf)?;
        self.at += read as u64;
        Ok(read)
    }
}
