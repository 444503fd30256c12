//! What is mounted where.

use super::checked;
use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

fn c_path(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::from)
}

pub fn bind_mount(from: &Path, to: &Path) -> io::Result<()> {
    mount(&c_path(from)?, &c_path(to)?, libc::MS_BIND)
}

/// What is mounted below a folder from now on is seen, and removed, everywhere: the folder becomes a mount of its own
/// that passes on its changes, as `ip netns` makes it. Else that would cover later what was mounted before.
pub fn share_mounts(folder: &Path) -> io::Result<()> {
    match change_mount(folder, libc::MS_SHARED | libc::MS_REC) {
        // It is no mount yet.
        Err(e) if e.raw_os_error() == Some(libc::EINVAL) => {
            let path = c_path(folder)?;
            mount(&path, &path, libc::MS_BIND | libc::MS_REC)?;
            change_mount(folder, libc::MS_SHARED | libc::MS_REC)
        }
        done => done,
    }
}

fn change_mount(at: &Path, flags: libc::c_ulong) -> io::Result<()> {
    mount(c"", &c_path(at)?, flags)
}

fn mount(from: &CStr, to: &CStr, flags: libc::c_ulong) -> io::Result<()> {
    // SAFETY: both strings end in NUL and outlive the call.
    let done = unsafe { libc::mount(from.as_ptr(), to.as_ptr(), std::ptr::null(), flags, std::ptr::null()) };
    checked(done).map(drop)
}

pub fn unmount(at: &Path) -> io::Result<()> {
    let at = c_path(at)?;
    // SAFETY: the string ends in NUL and outlives the call.
    checked(unsafe { libc::umount2(at.as_ptr(), libc::MNT_DETACH) }).map(drop)
}
