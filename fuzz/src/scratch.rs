//! The files that targets read: an input is written to a folder in memory first.

use std::cell::RefCell;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

thread_local! {
    static FOLDER: RefCell<Option<TempDir>> = const { RefCell::new(None) };
}

/// A folder of this thread, in memory where the system has /dev/shm.
pub fn folder() -> PathBuf {
    FOLDER.with_borrow_mut(|folder| {
        let made = folder.get_or_insert_with(|| {
            let shared = Path::new("/dev/shm");
            let made = if shared.is_dir() { TempDir::new_in(shared) } else { TempDir::new() };
            made.expect("a folder for files of inputs")
        });
        made.path().to_path_buf()
    })
}

/// Writes `bytes` to a file of that name in the folder.
pub fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder().join(name);
    let written = std::fs::File::create(&path).and_then(|mut f| f.write_all(bytes));
    written.expect("room for the file of an input");
    path
}
