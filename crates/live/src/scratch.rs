//! Folders for captures that nobody keeps. One that a killed run left is known by its mark, which no process holds any
//! more.

use crate::sys;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

const PREFIX: &str = "rexmit-";
/// The file in it that its run holds locked.
const MARK: &str = ".rexmit-live";

/// Gone with what is in it when this is dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    _held: File,
}

impl Scratch {
    /// Where temporary files go.
    pub fn create() -> io::Result<Scratch> {
        Scratch::within(&std::env::temp_dir())
    }

    fn within(parent: &Path) -> io::Result<Scratch> {
        static FOLDERS: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made?,
            }
            let mark = File::create(path.join(MARK))?;
            // Else somebody cleans at this very moment, and takes it.
            if sys::try_lock(&mark)? && path.join(MARK).exists() {
                return Ok(Scratch { path, _held: mark });
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Those that killed runs of this user left.
pub fn left_over() -> Vec<PathBuf> {
    left_in(&std::env::temp_dir())
}

fn left_in(parent: &Path) -> Vec<PathBuf> {
    let ours = |path: &PathBuf| {
        let named = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
        let is_folder = |m: fs::Metadata| m.is_dir() && m.uid() == sys::effective_uid();
        named && fs::symlink_metadata(path).is_ok_and(is_folder) && is_free(&path.join(MARK))
    };
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|e| e.path()).filter(ours).collect();
    found.sort();
    found
}

fn is_free(mark: &Path) -> bool {
    File::open(mark).and_then(|file| sys::try_lock(&file)).unwrap_or(false)
}

/// True if it is gone.
pub fn remove(path: &Path) -> bool {
    fs::remove_dir_all(path).is_ok() || !path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_bears_the_mark_and_is_held_by_nobody_is_left_over() {
        let parent = tempfile::TempDir::new().expect("a folder");
        let living = Scratch::within(parent.path()).expect("a folder");
        fs::write(living.path().join("pc.pcapng"), "packets").expect("a file");
        for other in ["rexmit-mine", "else"] {
            fs::create_dir(parent.path().join(other)).expect("a folder");
        }
        fs::write(parent.path().join("else").join(MARK), "").expect("a file");
        let killed = parent.path().join("rexmit-1-0");
        fs::create_dir(&killed).expect("a folder");
        fs::write(killed.join(MARK), "").expect("a mark");
        std::os::unix::fs::symlink(&killed, parent.path().join("rexmit-link")).expect("a link");
        assert_eq!(left_in(parent.path()), std::slice::from_ref(&killed));
        assert!(remove(&killed) && living.path().exists());
        let path = living.path().to_owned();
        drop(living);
        assert!(!path.exists());
        assert!(left_in(parent.path()).is_empty());
    }
}
