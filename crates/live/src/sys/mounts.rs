//! What is mounted where.

use super::checked;
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

fn c_path(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::from)
}

pub fn bind_mount(from: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (c_path(from)?, c_path(to)?);
    // SAFETY: both strings end in NUL and outlive the call.
    let done =
        unsafe { libc::mount(from.as_ptr(), to.as_ptr(), std::ptr::null(), libc::MS_BIND, std::ptr::null()) };
    checked(done).map(drop)
}

/// New mounts for this thread alone; what it mounts, nobody else sees.
pub fn unshare_mounts() -> io::Result<()> {
    let none = std::ptr::null();
    // SAFETY: no pointers but a literal that ends in NUL.
    unsafe {
        checked(libc::unshare(libc::CLONE_NEWNS))?;
        let private = libc::MS_REC | libc::MS_PRIVATE;
        checked(libc::mount(none, c"/".as_ptr(), none, private, none.cast())).map(drop)
    }
}

pub fn mount_tracefs(at: &Path) -> io::Result<()> {
    let (at, kind) = (c_path(at)?, c"tracefs".as_ptr());
    // SAFETY: both strings end in NUL and outlive the call.
    checked(unsafe { libc::mount(kind, at.as_ptr(), kind, 0, std::ptr::null()) }).map(drop)
}

pub fn unmount(at: &Path) -> io::Result<()> {
    let at = c_path(at)?;
    // SAFETY: the string ends in NUL and outlives the call.
    checked(unsafe { libc::umount2(at.as_ptr(), libc::MNT_DETACH) }).map(drop)
}
