//! Where rows go that memory does not hold: files without a name, which the system removes however the process ends.

use std::fs::File;
use std::io;
#[cfg(unix)]
use std::os::unix::fs::FileExt;
#[cfg(windows)]
use std::os::windows::fs::FileExt;

/// One such file; read and written at places, whatever its cursor.
pub struct Disk(File);

/// Where they lie, and what helps where there is no room.
pub fn place() -> [String; 2] {
    let folder = std::env::temp_dir().display().to_string();
    [folder, "set TMPDIR to a place with more room".into()]
}

impl Disk {
    pub fn new() -> io::Result<Disk> {
        Ok(Disk(tempfile::tempfile()?))
    }
    /// A device that is always full.
    #[cfg(test)]
    pub fn full() -> Disk {
        Disk(File::options().write(true).open("/dev/full").unwrap())
    }
    pub fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }
}

#[cfg(not(windows))]
impl Disk {
    pub fn write_all_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, at)
    }
    pub fn read_exact_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        self.0.read_exact_at(bytes, at)
    }
}

/// Windows moves the cursor as well, which nobody here looks at.
#[cfg(windows)]
impl Disk {
    pub fn write_all_at(&self, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.0.seek_write(bytes, at)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                n => {
                    bytes = &bytes[n..];
                    at += n as u64;
                }
            }
        }
        Ok(())
    }
    pub fn read_exact_at(&self, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.0.seek_read(bytes, at)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => {
                    bytes = &mut bytes[n..];
                    at += n as u64;
                }
            }
        }
        Ok(())
    }
}
