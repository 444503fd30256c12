//! The machine's processes: whose child each is, and the end of those in a namespace.

use crate::sys;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// Their numbers.
fn all() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|e| e.file_name().to_str().and_then(|name| name.parse().ok()))
}

/// Every process and its parent (proc(5), stat: the name in brackets may contain anything).
pub(crate) fn parents() -> Vec<(i32, i32)> {
    all()
        .filter_map(|pid| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
            Some((pid, parent))
        })
        .collect()
}

/// Ends the processes in a namespace, and waits for it a while.
pub(crate) fn end_in(ns: &Path) -> Vec<i32> {
    let Ok(ours) = fs::metadata(ns) else { return Vec::new() };
    let inside = || -> Vec<i32> {
        let me = std::process::id() as i32;
        let of = |pid: &i32| {
            let theirs = fs::metadata(format!("/proc/{pid}/ns/net"));
            *pid != me && theirs.is_ok_and(|t| t.ino() == ours.ino() && t.dev() == ours.dev())
        };
        all().filter(of).collect()
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
