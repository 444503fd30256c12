//! Where the kernel's trace events are: tracefs, mounted for whoever looks at it here and for nobody else.

use crate::clean::Lock;
use crate::sys;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;

const PLACE: &str = "/sys/kernel/tracing";

/// This thread sees tracefs from now on, and may be the only one that does. Its mounts are its own from then on.
pub fn enter() -> io::Result<PathBuf> {
    let place = PathBuf::from(PLACE);
    if !place.join("instances").is_dir() {
        sys::unshare_mounts()?;
        sys::mount_tracefs(&place)?;
    }
    Ok(place)
}

/// Does something on a thread that sees tracefs.
fn apart<T: Send>(act: impl FnOnce(&Path) -> io::Result<T> + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let act = || act(&enter()?);
        scope.spawn(act).join().unwrap_or_else(|_| Err(io::Error::other("the thread died")))
    })
}

/// A trace buffer of a run's own; it is removed when this is dropped, which takes a thread that sees tracefs.
pub struct Instance {
    pub path: PathBuf,
}

impl Instance {
    pub fn create(root: &Path, name: &str) -> io::Result<Instance> {
        let path = root.join("instances").join(name);
        fs::create_dir(&path)?;
        Ok(Instance { path })
    }
    pub fn set(&self, file: &str, value: &str) -> io::Result<()> {
        fs::write(self.path.join(file), value)
    }
    pub fn get(&self, file: &str) -> io::Result<String> {
        fs::read_to_string(self.path.join(file))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.path);
    }
}

/// Whether the kernel has this event, and it can be had.
pub fn has(event: &str) -> io::Result<()> {
    apart(|root| fs::metadata(root.join("events").join(event).join("enable")).map(drop))
}

/// Names of trace buffers; none where there is no tracefs.
pub fn instances() -> Vec<String> {
    let names = |root: &Path| {
        let entries = fs::read_dir(root.join("instances"))?;
        Ok(entries.flatten().filter_map(|e| e.file_name().into_string().ok()).collect())
    };
    let mut names: Vec<String> = apart(names).unwrap_or_default();
    names.sort();
    names
}

/// True if it is gone.
pub fn remove(name: &str) -> bool {
    match apart(|root| fs::remove_dir(root.join("instances").join(name))) {
        Ok(()) => true,
        Err(e) => e.kind() == io::ErrorKind::NotFound,
    }
}

/// The name of a run's trace buffer.
pub fn name(lock: &Lock) -> String {
    lock.name("trace")
}
