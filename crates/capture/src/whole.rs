//! A file that is there as a whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A new file, written as it comes, in the place of what lies there. Never through a link: a file that has other
/// names keeps its bytes under them.
pub fn create(path: &Path) -> io::Result<File> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => return Err(linked()),
        Ok(found) if found.is_file() => fs::remove_file(path)?,
        // A pipe or a device that was named is written as it is.
        Ok(found) if !found.is_dir() => return OpenOptions::new().write(true).open(path),
        _ => {}
    }
    OpenOptions::new().write(true).create_new(true).open(path)
}

fn linked() -> io::Error {
    let why = "is a symbolic link, and nothing is written through links";
    io::Error::new(io::ErrorKind::AlreadyExists, why)
}

/// Written beside its target and moved there by [`WholeFile::commit`]; dropped before that, it is removed, and
/// what was at the target stays.
pub(crate) struct WholeFile {
    file: File,
    /// `None` for a target that cannot be replaced (a pipe, a device): it is written directly.
    beside: Option<PathBuf>,
    target: PathBuf,
}

impl WholeFile {
    pub fn create(target: &Path) -> io::Result<WholeFile> {
        let target = target.to_path_buf();
        if fs::metadata(&target).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
            let file = OpenOptions::new().write(true).open(&target)?;
            return Ok(WholeFile { file, beside: None, target });
        }
        if fs::symlink_metadata(&target).is_ok_and(|m| m.is_symlink()) {
            return Err(linked());
        }
        if target.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_os_string();
        for attempt in 0..100 {
            let mut draft = OsString::from(".");
            draft.push(&name);
            draft.push(format!(".{}-{attempt}.part", std::process::id()));
            let beside = target.with_file_name(draft);
            match OpenOptions::new().write(true).create_new(true).open(&beside) {
                Ok(file) => return Ok(WholeFile { file, beside: Some(beside), target }),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    pub fn commit(mut self) -> io::Result<()> {
        self.file.flush()?;
        match self.beside.take() {
            None => Ok(()),
            Some(beside) => fs::rename(&beside, &self.target).inspect_err(|_| {
                let _ = fs::remove_file(&beside);
            }),
        }
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if let Some(beside) = &self.beside {
            let _ = fs::remove_file(beside);
        }
    }
}
