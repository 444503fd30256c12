//! What is mounted where.

use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, umount2};
use std::io;
use std::path::Path;

pub fn bind_mount(from: &Path, to: &Path) -> io::Result<()> {
    Ok(mount(Some(from), to, MsFlags::MS_BIND)?)
}

/// What is mounted below a folder from now on is seen, and removed, everywhere: the folder becomes a mount of its own
/// that passes on its changes, as `ip netns` makes it. Else that would cover later what was mounted before.
pub fn share_mounts(folder: &Path) -> io::Result<()> {
    let shared = MsFlags::MS_SHARED | MsFlags::MS_REC;
    match mount(None, folder, shared) {
        // It is no mount yet.
        Err(Errno::EINVAL) => {
            mount(Some(folder), folder, MsFlags::MS_BIND | MsFlags::MS_REC)?;
            Ok(mount(None, folder, shared)?)
        }
        done => Ok(done?),
    }
}

fn mount(from: Option<&Path>, to: &Path, flags: MsFlags) -> nix::Result<()> {
    nix::mount::mount(from, to, None::<&Path>, flags, None::<&Path>)
}

pub fn unmount(at: &Path) -> io::Result<()> {
    Ok(umount2(at, MntFlags::MNT_DETACH)?)
}
