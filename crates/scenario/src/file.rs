//! The one door to files that a scenario, a stack or a command line names.
//!
//! A scenario may come from somebody else, so what it names is not trusted: only regular files within [`Reach`] are read
//! (opening a FIFO would wait for a writer, a device may have no end), only so much of each, and what is in a file that
//! is not of the expected form never gets into a message.

pub use params::Form;

use reach::{Reach, Refusal};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

const MIB: u64 = 1 << 20;

/// The text of a file, or why it cannot be read: a sentence without its subject.
pub fn read(path: &Path, form: Form, reach: &Reach) -> Result<String, String> {
    let file = reach.open(path).map_err(|refusal| match refusal {
        Refusal::Io(error) => sentence(&error),
        refusal => format!("it is {refusal}"),
    })?;
    let most = form.most_bytes();
    let told = file.metadata().map_err(|e| sentence(&e))?.len();
    let too_large = |size: String| {
        Err(format!("it is {size} large, and a {} has at most {} MiB", form.noun(), most / MIB))
    };
    if told > most {
        return too_large(megabytes(told));
    }
    // The system tells no size of what is in /proc, and a file may grow.
    let mut bytes = Vec::with_capacity(told as usize);
    file.take(most + 1).read_to_end(&mut bytes).map_err(|e| sentence(&e))?;
    if bytes.len() as u64 > most {
        return too_large(format!("more than {}", megabytes(most)));
    }
    String::from_utf8(bytes).map_err(|_| "it is no text (UTF-8)".to_owned())
}

fn sentence(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::WouldBlock => "there is nothing in it yet".to_owned(),
        // The name holds a zero byte.
        ErrorKind::InvalidInput => "this is no file's name".to_owned(),
        _ => error.to_string(),
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / MIB as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write;

    fn scratch(name: &str) -> std::path::PathBuf {
        std::env::temp_dir().join(format!("rexmit-file-{}-{name}", std::process::id()))
    }

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let path = scratch("limit");
        let mut file = File::create(&path).unwrap();
        file.write_all(b"x = 1\n").unwrap();
        assert_eq!(read(&path, Form::Stack, &Reach::Anywhere).as_deref(), Ok("x = 1\n"));
        file.set_len(8 * MIB).unwrap();
        assert_eq!(read(&path, Form::Stack, &Reach::Anywhere).map(|text| text.len() as u64), Ok(8 * MIB));
        file.set_len(9 * MIB).unwrap();
        let said = read(&path, Form::Stack, &Reach::Anywhere);
        assert_eq!(said, Err("it is 9.0 MiB large, and a stack file has at most 8 MiB".to_owned()));
        assert!(read(&path, Form::Rates, &Reach::Anywhere).is_ok());
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn only_regular_files_are_opened() {
        let said = |path: &str| read(Path::new(path), Form::Scenario, &Reach::Anywhere).unwrap_err();
        assert_eq!(said("/"), "it is a folder, not a regular file");
        assert_eq!(said("no such file"), "there is no such file");
        assert_eq!(said("a\0b"), "this is no file's name");
        #[cfg(unix)]
        {
            assert_eq!(said("/dev/zero"), "it is a device, not a regular file");
            let socket = scratch("socket");
            let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
            assert_eq!(said(socket.to_str().unwrap()), "it is a socket, not a regular file");
            std::fs::remove_file(&socket).unwrap();
        }
    }
}
