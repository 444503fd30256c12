//! Which files may be opened: any file, or regular files below given folders only.
//!
//! A scenario, a stack, a trace or the folder of a run may come from a stranger, and each of them names further files.
//! Whoever opens such a file asks the [`Reach`] that was handed down: `Anywhere` on the command line, `Below` some
//! folders in `rexmit mcp`.
//!
//! Below folders, a name is followed one component at a time, links included, and is refused at the first step that
//! leaves every folder. Nothing outside is looked at, so a refusal does not tell whether the file is there. The file is
//! then opened from its folder down without following any link: a folder that is exchanged for a link meanwhile is
//! not followed either (on Unix; elsewhere the name is followed again and compared).

mod open;

use open::regular;

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Links that one name may lead through, as in Linux.
const MOST_LINKS: u32 = 40;

/// Which files may be opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    #[default]
    Anywhere,
    Below(Folders),
}

impl Reach {
    /// Opens a regular file for reading.
    pub fn open(&self, path: &Path) -> Result<File, Refusal> {
        match self {
            Reach::Anywhere => regular(path),
            Reach::Below(folders) => folders.open(path),
        }
    }
}

/// Folders below which files may be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folders(Arc<[Folder]>);

#[derive(Debug, PartialEq, Eq)]
struct Folder {
    /// Without links.
    place: PathBuf,
    /// The absolute name that was given, which may lead through links.
    named: PathBuf,
}

impl Folders {
    /// The folders have to exist.
    pub fn new<P: AsRef<Path>>(named: impl IntoIterator<Item = P>) -> io::Result<Folders> {
        let folder = |named: P| {
            let place = fs::canonicalize(&named)?;
            Ok(Folder { place, named: std::path::absolute(named)? })
        };
        Ok(Folders(named.into_iter().map(folder).collect::<io::Result<_>>()?))
    }

    /// Opens a regular file for reading, if it is below one of the folders.
    pub fn open(&self, path: &Path) -> Result<File, Refusal> {
        let place = self.place(path)?;
        let folder = self.0.iter().find(|folder| place.starts_with(&folder.place));
        let folder = &folder.ok_or_else(|| self.outside())?.place;
        open::beneath(self, folder, &place)
    }

    /// Where a file or folder is, without links, if it is below one of the folders.
    pub fn place(&self, path: &Path) -> Result<PathBuf, Refusal> {
        let mut todo = Vec::new();
        let mut here = self.enter(&std::path::absolute(path)?, &mut todo)?;
        let mut links = 0;
        while let Some(step) = todo.pop() {
            match step {
                Step::Up => {
                    here.pop();
                    if !self.0.iter().any(|folder| here.starts_with(&folder.place)) {
                        return Err(self.outside());
                    }
                }
                Step::Down(name) => {
                    here.push(name);
                    if !fs::symlink_metadata(&here)?.is_symlink() {
                        continue;
                    }
                    links += 1;
                    if links > MOST_LINKS {
                        return Err(Refusal::Links);
                    }
                    let target = fs::read_link(&here)?;
                    here.pop();
                    if target.is_absolute() {
                        here = self.enter(&target, &mut todo)?;
                    } else {
                        self.walk(&target, &mut todo)?;
                    }
                }
            }
        }
        Ok(here)
    }

    /// The folder in which an absolute path begins; the rest of its way is put on top of `todo`.
    fn enter(&self, path: &Path, todo: &mut Vec<Step>) -> Result<PathBuf, Refusal> {
        let ways = self.0.iter().flat_map(|folder| [(&folder.place, folder), (&folder.named, folder)]);
        let inside = ways.filter_map(|(name, folder)| Some((path.strip_prefix(name).ok()?, folder)));
        let longest = inside.min_by_key(|(rest, _)| rest.components().count());
        let (rest, folder) = longest.ok_or_else(|| self.outside())?;
        self.walk(rest, todo)?;
        Ok(folder.place.clone())
    }

    fn walk(&self, path: &Path, todo: &mut Vec<Step>) -> Result<(), Refusal> {
        for component in path.components().rev() {
            match component {
                Component::CurDir => {}
                Component::ParentDir => todo.push(Step::Up),
                Component::Normal(name) => todo.push(Step::Down(name.into())),
                // Windows: a drive, or the root of one.
                Component::RootDir | Component::Prefix(_) => return Err(self.outside()),
            }
        }
        Ok(())
    }

    fn outside(&self) -> Refusal {
        Refusal::Outside(self.clone())
    }
}

/// The folders, in words.
impl fmt::Display for Folders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, folder) in self.0.iter().enumerate() {
            let comma = if k == 0 { "" } else { ", " };
            write!(f, "{comma}{}", folder.place.display())?;
        }
        Ok(())
    }
}

enum Step {
    Up,
    Down(PathBuf),
}

/// Why a file is not opened. As text: what it is, without its subject.
#[derive(Debug)]
pub enum Refusal {
    /// It is below none of the folders. Whether it exists is not known.
    Outside(Folders),
    /// Its name leads through more links than the system follows.
    Links,
    /// A folder, a device, a pipe or a socket.
    NotRegular(&'static str),
    Io(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Refusal {
        Refusal::Io(error)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Outside(folders) => write!(f, "outside the folders that may be read: {folders}"),
            Refusal::Links => write!(f, "behind more than {MOST_LINKS} links"),
            Refusal::NotRegular(kind) => write!(f, "{kind}, not a regular file"),
            Refusal::Io(error) => error.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests;
