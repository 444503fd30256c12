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

pub fn unmount(at: &Path) -> io::Result<()> {
    let at = c_path(at)?;
    // SAFETY: the string ends in NUL and outlives the call.
    checked(unsafe { libc::umount2(at.as_ptr(), libc::MNT_DETACH) }).map(drop)
}
