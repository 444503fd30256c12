//! Why a bench could not run: one sentence, and whose fault it is.

pub(crate) use capture::sentence;
use std::fmt;
use std::io;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The scenario says what the live bench cannot do.
    Scenario(String),
    /// The machine lacks something; the sentence ends with the fix.
    Machine(String),
    /// It was there and failed.
    Failed(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Error::Scenario(text) | Error::Machine(text) | Error::Failed(text)) = self;
        f.write_str(text)
    }
}

impl std::error::Error for Error {}

/// Names what failed.
pub(crate) trait Told<T> {
    fn told(self, what: impl fmt::Display) -> Result<T, Error>;
}

impl<T> Told<T> for io::Result<T> {
    fn told(self, what: impl fmt::Display) -> Result<T, Error> {
        self.map_err(|e| match is_refused(&e) {
            true => Error::Machine(format!(
                "{what}: not permitted; run it as root, or with CAP_NET_ADMIN, CAP_NET_RAW and CAP_SYS_ADMIN"
            )),
            false => Error::Failed(format!("{what}: {}", sentence(&e))),
        })
    }
}

/// Whoever runs this may not.
pub(crate) fn is_refused(e: &io::Error) -> bool {
    matches!(e.raw_os_error(), Some(libc::EPERM | libc::EACCES))
}
