//! A cgroup for a command, below the one that this process is in (Documentation/admin-guide/cgroup-v2.rst). No
//! controller is switched on: it only tells who belongs to it.

use crate::error::sentence;
use crate::lock::{self, Lock};
use crate::processes;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

const PROCESSES: &str = "cgroup.procs";
/// So many generations are asked for what they see mounted.
const ANCESTORS: usize = 16;

/// Removed when this is dropped; processes that still run go back where they came from.
pub struct Cgroup {
    path: PathBuf,
    pub folder: File,
    pub processes: File,
    _lock: Lock,
}

impl Cgroup {
    /// The error is why there can be none.
    pub fn create() -> Result<Cgroup, String> {
        let parent = own().ok_or("no cgroup2 is mounted")?;
        let lock = Lock::take().map_err(|e| e.to_string())?;
        let path = parent.join(lock.name("record"));
        let told = |e: io::Error| format!("{}: {}", path.display(), sentence(&e));
        fs::create_dir(&path).map_err(told)?;
        let open = || {
            let processes = File::options().write(true).open(path.join(PROCESSES))?;
            Ok((File::open(&path)?, processes))
        };
        match open() {
            Ok((folder, processes)) => Ok(Cgroup { path, folder, processes, _lock: lock }),
            Err(e) => {
                let _ = fs::remove_dir(&path);
                Err(told(e))
            }
        }
    }

    /// The processes that are in it.
    pub fn members(&self) -> Vec<i32> {
        members(&self.path)
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

fn members(cgroup: &Path) -> Vec<i32> {
    let text = fs::read_to_string(cgroup.join(PROCESSES)).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// True if it is gone.
fn remove(cgroup: &Path) -> bool {
    // A process may start another while it is moved.
    for _ in 0..50 {
        for process in members(cgroup) {
            if let Some(parent) = cgroup.parent() {
                let _ = fs::write(parent.join(PROCESSES), process.to_string());
            }
        }
        if fs::remove_dir(cgroup).is_ok() || !cgroup.exists() {
            return true;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    false
}

/// Where cgroup2 is mounted, and this process in it. Who was started by `ip netns exec` does not see it, because that
/// mounts another /sys, but whoever called that does.
fn own() -> Option<PathBuf> {
    let mine = fs::read_to_string("/proc/self/cgroup").ok()?;
    let seen_by = |process: i32, root: &str| {
        let mounts = fs::read_to_string(format!("/proc/{process}/mountinfo")).ok()?;
        let found = own_in(&mounts, &mine)?;
        Some(Path::new(root).join(found.strip_prefix("/").unwrap_or(&found))).filter(|path| path.is_dir())
    };
    let us = std::process::id() as i32;
    seen_by(us, "/").or_else(|| {
        let parents = processes::parents();
        let parent = |of: &i32| parents.iter().find(|(process, _)| process == of).map(|(_, parent)| *parent);
        let ancestors = std::iter::successors(parent(&us), parent).take(ANCESTORS);
        ancestors.filter(|process| *process > 0).find_map(|p| seen_by(p, &format!("/proc/{p}/root")))
    })
}

/// proc(5), mountinfo; cgroups(7): the line of version 2 begins with "0::".
fn own_in(mounts: &str, mine: &str) -> Option<PathBuf> {
    let (root, point) = mounts.lines().find_map(|line| {
        let (before, behind) = line.split_once(" - ")?;
        let mut fields = before.split(' ').skip(3);
        let (root, point) = (fields.next()?, fields.next()?);
        (behind.split(' ').next() == Some("cgroup2")).then_some((root, point))
    })?;
    let path = mine.lines().find_map(|line| line.strip_prefix("0::"))?;
    let path = path.strip_prefix(root.trim_end_matches('/')).unwrap_or(path);
    Some(Path::new(point).join(path.trim_start_matches('/')))
}

/// Cgroups that killed runs left next to ours.
pub(crate) fn left_over() -> Vec<PathBuf> {
    let Some(parent) = own() else { return Vec::new() };
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let left = |path: &PathBuf| {
        path.is_dir() && path.file_name().and_then(|name| name.to_str()).is_some_and(lock::is_left_over)
    };
    entries.map(|entry| entry.path()).filter(left).collect()
}

/// Removes them; what could not be removed.
pub(crate) fn clean() -> (Vec<String>, Vec<String>) {
    let named = |path: PathBuf| path.display().to_string();
    let (gone, left): (Vec<PathBuf>, Vec<PathBuf>) = left_over().into_iter().partition(|path| remove(path));
    (gone.into_iter().map(named).collect(), left.into_iter().map(named).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_cgroup_is_found_below_where_version_2_is_mounted() {
        let hybrid = "30 23 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                      38 23 0:35 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw\n";
        let mine = "4:cpu:/elsewhere\n0::/user.slice/a.scope\n";
        let found = PathBuf::from("/sys/fs/cgroup/unified/user.slice/a.scope");
        assert_eq!(own_in(hybrid, mine), Some(found));
        // In a container the mount shows a part of the tree.
        let part = "38 23 0:35 /user.slice /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        assert_eq!(own_in(part, mine), Some(PathBuf::from("/sys/fs/cgroup/a.scope")));
        assert_eq!(own_in("30 23 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n", mine), None);
        assert_eq!(own_in(hybrid, "4:cpu:/elsewhere\n"), None);
    }
}
