//! Programs that run in the hosts: servers first, clients once something listens. Whatever they start ends with the run.

use crate::error::{Error, Told};
use crate::host::Host;
use crate::netns::Namespace;
use crate::plan::{Plan, Program};
use crate::processes;
use crate::sys;
use instant::{Span, Time};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// A server listens within that, or its client starts without.
const LISTENS_WITHIN: Span = Span::from_secs(5);
/// A program that is told to end (SIGTERM) has so long before it is ended.
const GRACE: Duration = Duration::from_millis(500);
/// Of what a program wrote, the last line is told.
const LONGEST_LINE: usize = 160;

/// How a flow's programs ended; `None`: still running when the run was over, or never started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exit {
    /// Of the flow.
    pub name: String,
    pub client: Option<Ended>,
    pub server: Option<Ended>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    pub well: bool,
    /// "code 7: cannot connect".
    pub told: String,
}

/// One program.
struct Running {
    child: Child,
    /// What it prints, and what it complains of (standard error).
    logs: [PathBuf; 2],
    ended: Option<Ended>,
}

/// The two programs of a flow.
struct Pair {
    plan: Program,
    client: Option<Running>,
    server: Option<Running>,
    /// Since when the client may run; `None` while its server does not listen.
    ready: Option<Time>,
}

pub struct Programs {
    pairs: Vec<Pair>,
    /// By node.
    hosts: Vec<(usize, Arc<Namespace>)>,
    folder: PathBuf,
    pub warnings: Vec<String>,
}

impl Programs {
    /// Starts the servers.
    pub fn start(plan: &Plan, hosts: &[Host], folder: &Path) -> Result<Programs, Error> {
        let hosts = hosts.iter().map(|h| (h.node, Arc::clone(&h.ns))).collect();
        let mut programs =
            Programs { pairs: Vec::new(), hosts, folder: folder.to_owned(), warnings: Vec::new() };
        for program in &plan.programs {
            let mut pair = Pair { plan: program.clone(), client: None, server: None, ready: None };
            if let Some(line) = &program.server_line {
                pair.server = Some(programs.spawn(program, "server", program.server, line)?);
            }
            programs.pairs.push(pair);
        }
        Ok(programs)
    }

    fn spawn(&self, program: &Program, role: &str, node: usize, line: &str) -> Result<Running, Error> {
        let what = || format!("flow.{}: its {role}", program.name);
        let ns =
            self.host(node).ok_or_else(|| Error::Failed(format!("{}: node {node} is no host", what())))?;
        let log = |kind| self.folder.join(format!("{}.{role}.{kind}", program.name));
        let create = |log: &Path| File::create(log).told(log.display());
        let logs = [log("log"), log("err")];
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line]).stdin(Stdio::null());
        command.stdout(create(&logs[0])?).stderr(create(&logs[1])?);
        sys::in_namespace(&mut command, ns.raw());
        let child = command.spawn().told(what())?;
        Ok(Running { child, logs, ended: None })
    }

    fn host(&self, node: usize) -> Option<&Namespace> {
        self.hosts.iter().find(|(n, _)| *n == node).map(|(_, ns)| ns.as_ref())
    }

    /// Starts what is due, and sees what has ended. A server that failed is why the run cannot go on.
    pub fn look(&mut self, now: Time) -> Result<(), String> {
        for at in 0..self.pairs.len() {
            let pair = &mut self.pairs[at];
            let name = pair.plan.name.clone();
            for running in [&mut pair.server, &mut pair.client].into_iter().flatten() {
                running.look();
            }
            let client_runs = !matches!(&pair.client, Some(Running { ended: Some(_), .. }));
            if let Some(Running { ended: Some(ended), .. }) = &pair.server
                && !ended.well
                && client_runs
            {
                return Err(format!("flow.{name}: its server ended with {}", ended.told));
            }
            self.start_client(at, now).map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    fn start_client(&mut self, at: usize, now: Time) -> Result<(), Error> {
        let pair = &self.pairs[at];
        if pair.client.is_some() || now < pair.plan.start {
            return Ok(());
        }
        if pair.server.is_some() && pair.ready.is_none() {
            let ns = self.host(pair.plan.server);
            let listens = ns.is_some_and(|ns| ns.inside(|| Ok(something_listens())).unwrap_or(false));
            if !listens && now - pair.plan.start < LISTENS_WITHIN {
                return Ok(());
            }
            if !listens {
                let told = format!("flow.{}: its server did not listen within 5 s", pair.plan.name);
                self.warnings.push(told);
            }
        }
        let (program, line) = (pair.plan.clone(), pair.plan.client_line.clone());
        let client = self.spawn(&program, "client", program.client, &line)?;
        let pair = &mut self.pairs[at];
        (pair.client, pair.ready) = (Some(client), Some(now));
        Ok(())
    }

    /// Whether all clients have ended.
    pub fn done(&self) -> bool {
        self.pairs.iter().all(|p| p.client.as_ref().is_some_and(|c| c.ended.is_some()))
    }

    /// Clients that have not ended, in words: where a run ends before they do.
    pub fn hung(&self) -> impl Iterator<Item = String> + '_ {
        let runs = |p: &&Pair| p.client.as_ref().is_none_or(|c| c.ended.is_none());
        self.pairs.iter().filter(runs).map(|p| {
            let what = if p.client.is_some() { "still ran" } else { "had not started" };
            format!("flow.{}: its client {what} as the run ended", p.plan.name)
        })
    }

    /// What became of them, once all that still runs was ended.
    pub fn stop(&mut self) -> Vec<Exit> {
        let of = |running: &Option<Running>| running.as_ref().and_then(|r| r.ended.clone());
        let exit =
            |p: &Pair| Exit { name: p.plan.name.clone(), client: of(&p.client), server: of(&p.server) };
        let exits = self.pairs.iter().map(exit).collect();
        let logs: Vec<PathBuf> = self
            .pairs
            .iter()
            .flat_map(|p| [&p.client, &p.server])
            .flatten()
            .map(|r| r.logs[1].clone())
            .collect();
        self.end_all();
        // Of who did not complain nothing is kept.
        for log in logs.iter().filter(|log| fs::metadata(log).is_ok_and(|m| m.len() == 0)) {
            let _ = fs::remove_file(log);
        }
        exits
    }

    fn end_all(&mut self) {
        let mut alive: Vec<&mut Running> =
            self.pairs.iter_mut().flat_map(|p| [&mut p.client, &mut p.server]).flatten().collect();
        alive.retain_mut(|r| r.ended.is_none());
        for running in &alive {
            let _ = sys::signal(-(running.child.id() as i32), libc::SIGTERM);
        }
        let patience = GRACE.as_millis() / 10;
        for _ in 0..patience {
            if alive.iter_mut().all(|r| matches!(r.child.try_wait(), Ok(Some(_)) | Err(_))) {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        for running in &mut alive {
            let _ = sys::signal(-(running.child.id() as i32), libc::SIGKILL);
            let _ = running.child.kill();
            let _ = running.child.wait();
        }
        // And what went its own way.
        if !self.pairs.is_empty() {
            self.hosts.iter().for_each(|(_, ns)| drop(processes::end_in(ns.path())));
        }
        self.pairs.clear();
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        self.end_all();
    }
}

impl Running {
    fn look(&mut self) {
        if self.ended.is_none()
            && let Ok(Some(status)) = self.child.try_wait()
        {
            self.ended = Some(Ended { well: status.success(), told: told(status, &self.logs) });
        }
    }
}

fn told(status: ExitStatus, [out, err]: &[PathBuf; 2]) -> String {
    use std::os::unix::process::ExitStatusExt;
    let how = match (status.code(), status.signal()) {
        (Some(code), _) => format!("code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no code".to_owned(),
    };
    // What it complained of last is why, rather than what it printed last.
    match [err, out].into_iter().find_map(|log| last_line(log).ok().flatten()) {
        Some(line) => format!("{how}: {line}"),
        None => how,
    }
}

fn last_line(log: &Path) -> io::Result<Option<String>> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = File::open(log)?;
    let len = file.metadata()?.len();
    file.seek(SeekFrom::Start(len.saturating_sub(4096)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().rev().map(str::trim).find(|l| !l.is_empty());
    Ok(line.map(|l| l.chars().take(LONGEST_LINE).collect()))
}

/// Whether a socket of this thread's namespace waits for connections (proc(5), net/tcp; state 10).
fn something_listens() -> bool {
    ["tcp", "tcp6"].iter().any(|kind| {
        let text = fs::read_to_string(format!("/proc/thread-self/net/{kind}")).unwrap_or_default();
        text.lines().skip(1).any(|l| l.split_whitespace().nth(3) == Some("0A"))
    })
}
