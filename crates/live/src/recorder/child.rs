//! The command whose traffic is recorded: it has the terminal, and the recording goes on until it ends.

use crate::error::{Error, sentence};
use crate::sys;
use std::fs::File;
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

/// Told to stop (SIGINT, then SIGTERM), it has so long each time before it is ended.
const GRACE: Duration = Duration::from_millis(1000);
const LOOK: Duration = Duration::from_millis(10);

pub struct Running {
    child: Child,
    ended: Option<ExitStatus>,
}

impl Running {
    /// `processes`: the file of the cgroup that it begins in.
    pub fn start(words: &[String], processes: Option<&File>) -> Result<Running, Error> {
        let [program, arguments @ ..] = words else {
            return Err(Error::Scenario("there is no command after --".into()));
        };
        let mut command = Command::new(program);
        command.args(arguments);
        if let Some(processes) = processes {
            sys::in_cgroup(&mut command, processes)
                .map_err(|e| Error::Scenario(format!("{program}: {}", sentence(&e))))?;
        }
        match command.spawn() {
            Ok(child) => Ok(Running { child, ended: None }),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                Err(Error::Scenario(format!("{program}: there is no such command")))
            }
            Err(e) => Err(Error::Scenario(format!("{program}: {}", sentence(&e)))),
        }
    }

    pub fn process(&self) -> i32 {
        self.child.id() as i32
    }

    pub fn has_ended(&mut self) -> bool {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().ok().flatten();
        }
        self.ended.is_some()
    }

    /// Ends it, gently first, if it has not ended; how it ended, in words, and whether well.
    pub fn finish(&mut self) -> (String, bool) {
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGKILL] {
            if self.has_ended() {
                break;
            }
            let _ = sys::signal(self.process(), signal);
            for _ in 0..GRACE.as_millis() / LOOK.as_millis() {
                if self.has_ended() {
                    break;
                }
                std::thread::sleep(LOOK);
            }
        }
        use std::os::unix::process::ExitStatusExt;
        match self.ended.map(|status| (status.code(), status.signal())) {
            Some((Some(code), _)) => (format!("code {code}"), code == 0),
            Some((None, Some(signal))) => (format!("signal {signal}"), false),
            _ => ("it still runs".to_owned(), false),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}
