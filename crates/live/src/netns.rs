//! Named network namespaces, as `ip netns` keeps them, and threads that enter them.

use crate::sys;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::path::{Path, PathBuf};
use std::thread;

/// Where `ip netns` finds them.
pub const FOLDER: &str = "/run/netns";

/// A namespace with a name. It is removed when this is dropped; the kernel then takes its interfaces down.
#[derive(Debug)]
pub struct Namespace {
    path: PathBuf,
    file: File,
}

impl Namespace {
    /// Fails with `AlreadyExists` where the name is taken.
    pub fn create(name: &str) -> io::Result<Namespace> {
        fs::create_dir_all(FOLDER)?;
        share_folder()?;
        let path = Path::new(FOLDER).join(name);
        File::create_new(&path)?;
        let made = thread::scope(|scope| {
            let make = || {
                sys::unshare_net()?;
                sys::bind_mount(Path::new("/proc/thread-self/ns/net"), &path)?;
                File::open(&path)
            };
            scope.spawn(make).join().unwrap_or_else(|_| Err(io::Error::other("the thread died")))
        });
        match made {
            Ok(file) => Ok(Namespace { path, file }),
            Err(e) => {
                remove(&path);
                Err(e)
            }
        }
    }

    /// Does something inside, on a thread of its own.
    pub fn inside<T: Send>(&self, act: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        thread::scope(|scope| {
            let act = || {
                self.enter()?;
                act()
            };
            scope.spawn(act).join().unwrap_or_else(|_| Err(io::Error::other("the thread died")))
        })
    }

    /// This thread is inside from now on.
    pub fn enter(&self) -> io::Result<()> {
        sys::enter_net(self.file.as_fd())
    }

    pub fn handle(&self) -> io::Result<File> {
        self.file.try_clone()
    }
    pub fn path(&self) -> &Path {
        &self.path
    }
    pub fn raw(&self) -> RawFd {
        self.file.as_raw_fd()
    }
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// As `ip netns` does before it adds one, under the same lock: two that do it at once would cover each other's.
fn share_folder() -> io::Result<()> {
    let folder = File::open(FOLDER)?;
    folder.lock()?;
    sys::share_mounts(Path::new(FOLDER))
}

/// Takes the name away; true if it is gone.
pub fn remove(path: &Path) -> bool {
    // A name whose mount failed or is gone is a plain file.
    let _ = sys::unmount(path);
    match fs::remove_file(path) {
        Ok(()) => true,
        Err(e) => e.kind() == io::ErrorKind::NotFound,
    }
}
