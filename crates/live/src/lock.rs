//! The lock of a run.
//!
//! A run owns `/run/rexmit/ID.lock`, and everything that it makes is called `rexmit-ID-…`. The kernel frees the lock
//! however the run ends, so that what bears the name of a free lock, or of none, is nobody's any more.

use crate::error::{Error, Told};
use crate::sys;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

const FOLDER: &str = "/run/rexmit";
const PREFIX: &str = "rexmit-";
pub(crate) const LONGEST_NAME: usize = 80;

/// A run's right to its names.
#[derive(Debug)]
pub(crate) struct Lock {
    pub id: String,
    path: PathBuf,
    _held: File,
}

impl Lock {
    /// A number that no other run has.
    pub fn take() -> Result<Lock, Error> {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        fs::create_dir_all(FOLDER).told(FOLDER)?;
        loop {
            let run = RUNS.fetch_add(1, Ordering::Relaxed);
            let id = if run == 0 {
                std::process::id().to_string()
            } else {
                format!("{}.{run}", std::process::id())
            };
            let path = Path::new(FOLDER).join(format!("{id}.lock"));
            let file = File::create(&path).told(path.display())?;
            if sys::try_lock(&file).told(path.display())? && is_still(&file, &path) {
                return Ok(Lock { id, path, _held: file });
            }
        }
    }

    /// The full name of something of this run.
    pub fn name(&self, what: &str) -> String {
        format!("{PREFIX}{}-{}", self.id, plain(what, LONGEST_NAME))
    }
}

/// Of a name only what every tool takes, and so many letters of it.
pub(crate) fn plain(name: &str, most: usize) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
    name.chars().map(plain).take(most).collect()
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether nobody removed the file between its making and its locking.
fn is_still(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(ours), Ok(there)) => ours.ino() == there.ino(),
        _ => false,
    }
}

/// Removes the locks of runs that are no more.
pub(crate) fn remove_dead() {
    for entry in fs::read_dir(FOLDER).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if let Some(id) = name.to_str().and_then(|name| name.strip_suffix(".lock"))
            && let Some(_lock) = dead(id)
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether this is a name of ours, of a run that is no more.
pub(crate) fn is_left_over(name: &str) -> bool {
    run_of(name).is_some_and(|id| dead(id).is_some())
}

/// The run in `rexmit-RUN-what`; `None` if it is no name of ours.
pub(crate) fn run_of(name: &str) -> Option<&str> {
    let (id, _) = name.strip_prefix(PREFIX)?.split_once('-')?;
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    id.split('.').all(is_number).then_some(id)
}

/// The lock of a run that is no more; `None` while it lives.
pub(crate) fn dead(id: &str) -> Option<Option<File>> {
    match File::open(Path::new(FOLDER).join(format!("{id}.lock"))) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Some(None),
        Err(_) => None,
        Ok(file) => sys::try_lock(&file).ok()?.then_some(Some(file)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_others_are_left_alone() {
        assert_eq!(run_of("rexmit-4711-pc"), Some("4711"));
        assert_eq!(run_of("rexmit-4711.2-a-b"), Some("4711.2"));
        for other in ["rexmit-pc", "rexmit-mine-pc", "rexmit-12", "red-4711-pc", "rexmit--pc", "rexmit-1.-x"]
        {
            assert_eq!(run_of(other), None, "{other}");
        }
    }
}
