//! The lock of a run, and the removal of what a killed run left.
//!
//! A run owns `/run/rexmit/ID.lock`, and everything that it makes is called `rexmit-ID-…`. The kernel frees the lock
//! however the run ends, so that what bears the name of a free lock, or of none, is nobody's any more.

use crate::error::{Error, Told};
use crate::recorder::cgroup;
use crate::{netns, scratch, sys};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const FOLDER: &str = "/run/rexmit";
const PREFIX: &str = "rexmit-";
pub(crate) const LONGEST_NAME: usize = 80;

/// A run's right to its names.
#[derive(Debug)]
pub(crate) struct Lock {
    pub id: String,
    path: PathBuf,
    _held: File,
}

impl Lock {
    /// A number that no other run has.
    pub fn take() -> Result<Lock, Error> {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        fs::create_dir_all(FOLDER).told(FOLDER)?;
        loop {
            let run = RUNS.fetch_add(1, Ordering::Relaxed);
            let id = if run == 0 {
                std::process::id().to_string()
            } else {
                format!("{}.{run}", std::process::id())
            };
            let path = Path::new(FOLDER).join(format!("{id}.lock"));
            let file = File::create(&path).told(path.display())?;
            if sys::try_lock(&file).told(path.display())? && is_still(&file, &path) {
                return Ok(Lock { id, path, _held: file });
            }
        }
    }

    /// The full name of something of this run.
    pub fn name(&self, what: &str) -> String {
        format!("{PREFIX}{}-{}", self.id, plain(what, LONGEST_NAME))
    }
}

/// Of a name only what every tool takes, and so many letters of it.
pub(crate) fn plain(name: &str, most: usize) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
    name.chars().map(plain).take(most).collect()
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether nobody removed the file between its making and its locking.
fn is_still(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(ours), Ok(there)) => ours.ino() == there.ino(),
        _ => false,
    }
}

/// What was removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    pub namespaces: Vec<String>,
    /// Folders of captures that nobody was to keep.
    pub folders: Vec<String>,
    /// Cgroups of recorded commands.
    pub cgroups: Vec<String>,
    /// Processes that still ran in the namespaces.
    pub processes: Vec<i32>,
    /// What could not be removed.
    pub left: Vec<String>,
}

/// Names of namespaces that killed runs left.
pub fn left_over() -> Vec<String> {
    let names = listed(Path::new(netns::FOLDER)).unwrap_or_default();
    names.into_iter().filter(|name| is_left_over(name)).collect()
}

/// Removes all that killed runs left, captures that nobody was to keep included.
pub fn everything() -> Result<Removed, Error> {
    let mut removed = clean()?;
    for path in scratch::left_over() {
        let name = path.display().to_string();
        match scratch::remove(&path) {
            true => removed.folders.push(name),
            false => removed.left.push(name),
        }
    }
    Ok(removed)
}

/// Removes what killed runs left that could be in the way of another; what a living run uses stays, and so do captures.
pub fn clean() -> Result<Removed, Error> {
    let (cgroups, left) = cgroup::clean();
    let mut removed = Removed { cgroups, left, ..Removed::default() };
    let names = match listed(Path::new(netns::FOLDER)) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
        names => names.told(netns::FOLDER)?,
    };
    for name in names {
        let Some(id) = run_of(&name) else { continue };
        let Some(_lock) = dead(id) else { continue };
        let path = Path::new(netns::FOLDER).join(&name);
        let ended = end_processes(&path);
        removed.processes.extend(ended);
        match netns::remove(&path) {
            true => removed.namespaces.push(name),
            false => removed.left.push(path.display().to_string()),
        }
    }
    for name in listed(Path::new(FOLDER)).unwrap_or_default() {
        if let Some(id) = name.strip_suffix(".lock")
            && let Some(_lock) = dead(id)
        {
            let _ = fs::remove_file(Path::new(FOLDER).join(&name));
        }
    }
    Ok(removed)
}

fn listed(folder: &Path) -> io::Result<Vec<String>> {
    let mut names: Vec<String> =
        fs::read_dir(folder)?.flatten().filter_map(|e| e.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names)
}

/// Whether this is a name of ours, of a run that is no more.
pub(crate) fn is_left_over(name: &str) -> bool {
    run_of(name).is_some_and(|id| dead(id).is_some())
}

/// The run in `rexmit-RUN-what`; `None` if it is no name of ours.
fn run_of(name: &str) -> Option<&str> {
    let (id, _) = name.strip_prefix(PREFIX)?.split_once('-')?;
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    id.split('.').all(is_number).then_some(id)
}

/// The lock of a run that is no more; `None` while it lives.
fn dead(id: &str) -> Option<Option<File>> {
    match File::open(Path::new(FOLDER).join(format!("{id}.lock"))) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Some(None),
        Err(_) => None,
        Ok(file) => sys::try_lock(&file).ok()?.then_some(Some(file)),
    }
}

/// Ends the processes in a namespace, and waits for it a while.
pub(crate) fn end_processes(ns: &Path) -> Vec<i32> {
    let Ok(ours) = fs::metadata(ns) else { return Vec::new() };
    let inside = || -> Vec<i32> {
        let pids = listed(Path::new("/proc")).unwrap_or_default();
        let pids = pids.iter().filter_map(|p| p.parse::<i32>().ok());
        let me = std::process::id() as i32;
        let of = |pid: &i32| {
            let theirs = fs::metadata(format!("/proc/{pid}/ns/net"));
            *pid != me && theirs.is_ok_and(|t| t.ino() == ours.ino() && t.dev() == ours.dev())
        };
        pids.filter(of).collect()
    };
    let found = inside();
    for _ in 0..40 {
        let left = inside();
        if left.is_empty() {
            break;
        }
        left.iter().for_each(|pid| drop(sys::signal(*pid, libc::SIGKILL)));
        std::thread::sleep(Duration::from_millis(25));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_others_are_left_alone() {
        assert_eq!(run_of("rexmit-4711-pc"), Some("4711"));
        assert_eq!(run_of("rexmit-4711.2-a-b"), Some("4711.2"));
        for other in ["rexmit-pc", "rexmit-mine-pc", "rexmit-12", "red-4711-pc", "rexmit--pc", "rexmit-1.-x"]
        {
            assert_eq!(run_of(other), None, "{other}");
        }
    }
}
