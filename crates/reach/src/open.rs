//! Opening regular files without waiting for pipes or devices.

use crate::{Folders, Refusal};
use std::fs::{File, FileType, OpenOptions};
use std::path::Path;

/// Opens a regular file, wherever it is. Its kind is looked at before it is opened, because opening alone has effects
/// on devices, and again after, because the name may stand for another file by then.
pub(crate) fn regular(path: &Path) -> Result<File, Refusal> {
    check(std::fs::metadata(path)?.file_type())?;
    let file = options().open(path)?;
    check(file.metadata()?.file_type())?;
    Ok(file)
}

/// Neither opening nor reading waits: some files of /proc would.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32);
    }
    options
}

fn check(kind: FileType) -> Result<(), Refusal> {
    if kind.is_file() { Ok(()) } else { Err(Refusal::NotRegular(self::kind(kind))) }
}

/// What is no regular file, in words.
#[cfg(unix)]
fn kind(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match kind {
        kind if kind.is_dir() => "a folder",
        kind if kind.is_fifo() => "a pipe (FIFO)",
        kind if kind.is_socket() => "a socket",
        kind if kind.is_char_device() || kind.is_block_device() => "a device",
        _ => "of another kind",
    }
}

#[cfg(not(unix))]
fn kind(kind: FileType) -> &'static str {
    if kind.is_dir() { "a folder" } else { "of another kind" }
}

/// Opens the file at `place`, a name without links, from its folder down. No link is followed.
#[cfg(unix)]
pub(crate) fn beneath(_: &Folders, folder: &Path, place: &Path) -> Result<File, Refusal> {
    use rustix::fs::{Mode, OFlags, open, openat};
    check(std::fs::symlink_metadata(place)?.file_type())?;
    let closed = OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut at = open(folder, PASSING | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).map_err(error)?;
    let mut names = place.strip_prefix(folder).unwrap_or(place).iter().peekable();
    while let Some(name) = names.next() {
        let how = match names.peek() {
            Some(_) => PASSING | OFlags::DIRECTORY,
            None => OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY,
        };
        at = openat(&at, name, how | closed, Mode::empty()).map_err(error)?;
    }
    let file = File::from(at);
    check(file.metadata()?.file_type())?;
    Ok(file)
}

/// To pass through a folder nobody has to be allowed to list it, where the system has a way to say so.
#[cfg(any(target_os = "linux", target_os = "android"))]
const PASSING: rustix::fs::OFlags = rustix::fs::OFlags::PATH;
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
const PASSING: rustix::fs::OFlags = rustix::fs::OFlags::RDONLY;

#[cfg(unix)]
fn error(errno: rustix::io::Errno) -> Refusal {
    Refusal::Io(errno.into())
}

/// The name is followed again once the file is open: it has to end at the same place.
#[cfg(not(unix))]
pub(crate) fn beneath(folders: &Folders, _: &Path, place: &Path) -> Result<File, Refusal> {
    let file = regular(place)?;
    if folders.place(place)? == place { Ok(file) } else { Err(folders.outside()) }
}
