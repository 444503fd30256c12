//! The removal of what a killed run left.

use crate::error::{Error, Told};
use crate::lock::{self, dead, is_left_over, run_of};
use crate::{cgroup, netns, processes, scratch};
use std::fs;
use std::io;
use std::path::Path;

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
        let ended = processes::end_in(&path);
        removed.processes.extend(ended);
        match netns::remove(&path) {
            true => removed.namespaces.push(name),
            false => removed.left.push(path.display().to_string()),
        }
    }
    lock::remove_dead();
    Ok(removed)
}

fn listed(folder: &Path) -> io::Result<Vec<String>> {
    let mut names: Vec<String> =
        fs::read_dir(folder)?.flatten().filter_map(|e| e.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names)
}
