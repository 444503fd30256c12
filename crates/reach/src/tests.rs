use super::*;
use std::io::Read;

/// `in` may be read, `out` may not; both hold `file.txt`.
struct Place {
    top: tempfile::TempDir,
    reach: Reach,
}

impl Place {
    fn new() -> Place {
        let top = tempfile::tempdir().unwrap();
        for folder in ["in/sub", "out"] {
            fs::create_dir_all(top.path().join(folder)).unwrap();
        }
        fs::write(top.path().join("in/file.txt"), "inside").unwrap();
        fs::write(top.path().join("out/file.txt"), "secret").unwrap();
        let reach = Reach::Below(Folders::new([top.path().join("in")]).unwrap());
        Place { top, reach }
    }
    fn path(&self, name: &str) -> PathBuf {
        self.top.path().join(name)
    }
    fn read(&self, path: impl AsRef<Path>) -> Result<String, Refusal> {
        let mut text = String::new();
        self.reach.open(path.as_ref())?.read_to_string(&mut text)?;
        Ok(text)
    }
    fn is_outside(&self, path: impl AsRef<Path>) -> bool {
        matches!(self.read(path), Err(Refusal::Outside(_)))
    }
}

#[test]
fn a_file_below_the_folder_is_read_by_any_name_that_stays_inside() {
    let p = Place::new();
    for name in ["in/file.txt", "in/./file.txt", "in/sub/../file.txt", "in//sub/.././sub/../file.txt"] {
        assert_eq!(p.read(p.path(name)).unwrap(), "inside", "{name}");
    }
}

#[test]
fn a_name_that_leaves_the_folder_is_refused_even_if_it_comes_back() {
    let p = Place::new();
    let names =
        ["out/file.txt", "in/../out/file.txt", "in/../in/file.txt", "out/../in/file.txt", "in/../../x"];
    for name in names {
        assert!(p.is_outside(p.path(name)), "{name}");
    }
    assert!(p.is_outside("/etc/passwd"));
    assert!(p.is_outside("/proc/self/cwd/Cargo.toml"), "whatever the working directory is");
}

#[test]
fn whether_a_file_outside_exists_is_not_told() {
    let p = Place::new();
    let said = |name: &str| p.read(p.path(name)).unwrap_err().to_string();
    assert_eq!(said("out/file.txt"), said("out/none.txt"));
    assert_eq!(said("out/../in/file.txt"), said("none/../in/file.txt"));
    assert!(said("out/file.txt").starts_with("outside the folders that may be read: /"), "{}", said("out"));
    assert!(
        matches!(p.read(p.path("in/none.txt")), Err(Refusal::Io(e)) if e.kind() == io::ErrorKind::NotFound)
    );
}

#[test]
fn what_is_no_regular_file_is_refused() {
    let p = Place::new();
    let said = p.read(p.path("in/sub")).unwrap_err().to_string();
    assert_eq!(said, "a folder, not a regular file");
    assert_eq!(p.read(p.path("in")).unwrap_err().to_string(), said);
}

#[cfg(unix)]
mod links {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_is_followed_as_long_as_it_stays_inside() {
        let p = Place::new();
        symlink("../file.txt", p.path("in/sub/relative")).unwrap();
        symlink(p.path("in/file.txt"), p.path("in/absolute")).unwrap();
        symlink("sub", p.path("in/folder")).unwrap();
        for name in ["in/sub/relative", "in/absolute", "in/folder/relative", "in/folder/../absolute"] {
            assert_eq!(p.read(p.path(name)).unwrap(), "inside", "{name}");
        }
        symlink("../out/file.txt", p.path("in/leaves")).unwrap();
        symlink("../out/none.txt", p.path("in/dangles")).unwrap();
        symlink(p.path("out"), p.path("in/away")).unwrap();
        symlink("/proc/self/root/etc/passwd", p.path("in/root")).unwrap();
        for name in ["in/leaves", "in/dangles", "in/away/file.txt", "in/away/../file.txt", "in/root"] {
            assert!(p.is_outside(p.path(name)), "{name}");
        }
    }

    #[test]
    fn links_in_a_circle_end() {
        let p = Place::new();
        symlink("b", p.path("in/a")).unwrap();
        symlink("a", p.path("in/b")).unwrap();
        assert_eq!(p.read(p.path("in/a")).unwrap_err().to_string(), "behind more than 40 links");
    }

    #[test]
    fn the_folder_itself_may_be_named_by_a_link() {
        let p = Place::new();
        symlink(p.path("in"), p.path("alias")).unwrap();
        let reach = Reach::Below(Folders::new([p.path("alias")]).unwrap());
        for name in ["alias/file.txt", "in/file.txt"] {
            assert!(reach.open(&p.path(name)).is_ok(), "{name}");
        }
        assert!(matches!(reach.open(&p.path("out/file.txt")), Err(Refusal::Outside(_))));
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        let p = Place::new();
        let pipe = p.path("in/pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        assert_eq!(p.read(pipe).unwrap_err().to_string(), "a pipe (FIFO), not a regular file");
    }

    /// The check and the opening are two steps: between them a folder may be exchanged for a link.
    #[test]
    fn a_folder_that_became_a_link_after_the_check_is_not_followed() {
        let p = Place::new();
        fs::write(p.path("in/sub/file.txt"), "inside").unwrap();
        let Reach::Below(folders) = &p.reach else { unreachable!() };
        let place = folders.place(&p.path("in/sub/file.txt")).unwrap();
        fs::rename(p.path("in/sub"), p.path("in/moved")).unwrap();
        symlink(p.path("out"), p.path("in/sub")).unwrap();
        assert!(fs::read_to_string(&place).is_ok_and(|text| text == "secret"), "the system follows the link");
        let folder = fs::canonicalize(p.path("in")).unwrap();
        assert!(matches!(open::beneath(folders, &folder, &place), Err(Refusal::Io(_))));
    }
}

#[test]
fn anywhere_is_the_default() {
    let p = Place::new();
    assert!(Reach::default().open(&p.path("out/file.txt")).is_ok());
}

#[test]
fn of_two_folders_a_name_may_lead_from_one_to_the_other() {
    let p = Place::new();
    let reach = Reach::Below(Folders::new([p.path("in/sub"), p.path("in")]).unwrap());
    assert!(reach.open(&p.path("in/sub/../file.txt")).is_ok());
    assert!(matches!(reach.open(&p.path("in/sub/../../out/file.txt")), Err(Refusal::Outside(_))));
}
