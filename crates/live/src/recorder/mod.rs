//! `rexmit record`: the chosen traffic of this machine, and beside it what its kernel knows.
//!
//! | module | what it does |
//! |---|---|
//! | `filter`, `classic` | which traffic is chosen: an expression, and the program that the kernel makes of it |
//! | `owned` | what a command sends and receives: programs in a cgroup of its own |
//! | `sockets` | the kernel's list of sockets: TCP_INFO, and whose they are where there is no cgroup |
//! | `taking`, `files` | packets from the kernel's ring to the disk |
//! | `kernel` | why segments were sent again, what senders knew, how connections changed |
//! | `private` | files that only this user can read |
//! | `machine` | counters, interfaces, queues: before and after |
//!
//! Nothing of the machine is changed. All that hooks into the kernel hangs on descriptors, and is gone with them.

mod child;
mod chosen;
mod classic;
mod files;
mod filter;
mod kernel;
mod machine;
mod owned;
mod private;
mod sockets;
mod strangers;
mod taking;

use crate::cgroup::{self, Cgroup};
use crate::error::{Error, Told, is_refused, sentence};
use crate::sys::{self, Clock, PacketRing};
use crate::trace::events::Events;
use child::Running;
use chosen::Chosen;
use filter::Expr;
use instant::{Span, Time};
use owned::Owned;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

pub use files::Ring;
pub use kernel::Told as Kernel;
pub use machine::{Counters, Interface};
pub use taking::Taken;

/// IP and TCP headers with all their options, in a tunnel too.
const HEADERS: u32 = 128;
/// More than any packet has.
const WHOLE: u32 = 1 << 18;
/// Seconds of 1 Gbps in small packets; with payload, half a second.
const RING_BYTES: usize = 64 << 20;
const WHOLE_RING_BYTES: usize = 128 << 20;
const LOOK: Duration = Duration::from_millis(20);
/// What a command sent last is still acknowledged.
const LAST_PACKETS: Span = Span::from_millis(300);

#[derive(Clone, Debug, Default)]
pub struct Options {
    pub filter: Option<String>,
    pub interface: Option<String>,
    /// With its arguments; empty: all traffic.
    pub command: Vec<String>,
    pub folder: PathBuf,
    /// Packets whole, not only their headers.
    pub payload: bool,
    pub ring: Option<Ring>,
    pub limit: Option<Span>,
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    pub now: Span,
    pub limit: Option<Span>,
    pub packets: u64,
}

/// How the traffic was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum By {
    /// All of it, or what the filter chooses.
    Filter,
    Cgroup,
    /// The sockets that the command's processes were seen to hold, and why there was no cgroup.
    Sockets(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The command ended.
    Command,
    Limit,
    Stopped,
}

#[derive(Clone, Debug)]
pub struct Outcome {
    pub end: End,
    pub by: By,
    pub began: Time,
    pub ended: Time,
    pub kernel: String,
    /// Bytes of each packet, from its IP header on.
    pub snap: u32,
    pub taken: Taken,
    pub told: Kernel,
    /// Why the kernel does not tell, if it does not.
    pub silent: Option<String>,
    /// How the command ended, and whether well.
    pub exit: Option<(String, bool)>,
    pub counters: Counters,
    /// Before, and what they and their queues counted meanwhile.
    pub interfaces: Vec<Interface>,
    /// CPU time that this process took meanwhile, the command's not counted.
    pub cpu: Span,
    /// What a reader has to know.
    pub warnings: Vec<String>,
}

/// A filter's fault, in words.
pub fn check_filter(text: &str) -> Result<(), Error> {
    expression(text).map(drop)
}

fn expression(text: &str) -> Result<Expr, Error> {
    let expr = filter::parse(text).map_err(|wrong| Error::Scenario(wrong.to_string()))?;
    match classic::compile(Some(&expr), HEADERS).len() {
        0..=classic::LONGEST => Ok(expr),
        lines => Err(Error::Scenario(format!(
            "--filter: it becomes a program of {lines} lines, and the kernel takes {}: choose networks instead of \
             single hosts, or fewer",
            classic::LONGEST
        ))),
    }
}

/// Records until the command ends, the limit is reached, or `go_on`, which is asked about fifty times a second, says no.
/// What was recorded until then is there.
pub fn run(options: &Options, go_on: &mut dyn FnMut(Progress) -> bool) -> Result<Outcome, Error> {
    let expr = options.filter.as_deref().map(expression).transpose()?.map(Arc::new);
    let interfaces = machine::interfaces();
    let interface = options.interface.as_deref().map(|name| index(name, &interfaces)).transpose()?;
    let (captures, tables) = (options.folder.join("captures"), options.folder.join("kernel"));
    for folder in [&captures, &tables] {
        private::create_folder(folder).told(folder.display())?;
    }
    let snap = if options.payload { WHOLE } else { HEADERS };
    let mut warnings: Vec<String> = Vec::new();
    let (left, _) = cgroup::clean();
    if !left.is_empty() {
        warnings.push(format!("removed first, of a recording that was killed: {}", left.join(", ")));
    }
    let (cgroup, owned, by) = whose(options, snap);

    let bytes = if options.payload { WHOLE_RING_BYTES } else { RING_BYTES };
    let ring = match &owned {
        Some(owned) => PacketRing::open(bytes, &sys::Filter::Program(owned.filter()), interface),
        None => {
            let code = classic::compile(expr.as_deref(), snap);
            PacketRing::open(bytes, &sys::Filter::Classic(&code), interface)
        }
    };
    let ring = ring.map_err(|e| no_packets(&e))?;
    let files = files::Files::create(&captures, options.ring, if options.payload { 0 } else { snap });
    let files = files.told(captures.display())?;
    let (events, silent) = match Events::open() {
        Ok(events) => {
            warnings.extend(events.lacking.iter().cloned());
            (Some(events), None)
        }
        Err(why) => (None, Some(why)),
    };
    let in_user_space = expr.clone().filter(|_| owned.is_some());
    let taking = taking::Taking::new(ring, files, in_user_space, &interfaces, interface);
    let chosen = Chosen::new(expr, owned.clone());

    let before = machine::counters();
    let cpu = sys::cpu_time();
    let began = sys::clock(Clock::Realtime);
    let (stop, seen) = (AtomicBool::new(false), AtomicU64::new(0));
    let (end, exit, taken, told, strangers) = thread::scope(|scope| {
        let capture = scope.spawn(|| taking.run(&stop, &seen));
        let tables = tables.as_path();
        let kernel = scope.spawn(|| kernel::run(tables, events, chosen, &stop));
        let watched = watch(options, cgroup.as_ref(), &by, &seen, go_on);
        stop.store(true, Ordering::Relaxed);
        let taken = capture.join().map_err(|_| Error::Failed("the capture's thread died".into()))?;
        let told =
            kernel.join().map_err(|_| Error::Failed("the thread of the kernel's tables died".into()))?;
        let (end, exit, strangers) = watched?;
        Ok::<_, Error>((end, exit, taken, told, strangers))
    })?;
    let ended = sys::clock(Clock::Realtime);
    let cpu = Span(sys::cpu_time() - cpu);
    if let Some(family) = strangers {
        family.remove(&taken.files, &tables).told("what is not the command's")?;
    }
    if let Some(members) = cgroup.as_ref().map(Cgroup::members).filter(|members| !members.is_empty()) {
        let n = members.len();
        warnings.push(format!("{n} processes that the command started still run, and are recorded no more"));
    }
    Ok(Outcome {
        end,
        by,
        began: Time(began),
        ended: Time(ended),
        kernel: crate::check::kernel(),
        snap,
        taken,
        told,
        silent,
        exit,
        counters: machine::grown(&before, &machine::counters()),
        interfaces: meanwhile(interfaces),
        cpu,
        warnings,
    })
}

fn index(name: &str, interfaces: &[Interface]) -> Result<u32, Error> {
    let all = || interfaces.iter().map(|i| i.name.as_str());
    interfaces.iter().find(|i| i.name == name).map(|i| i.index).ok_or_else(|| {
        let near = scenario::nearest(name, all()).map(|near| format!("; did you mean {near:?}?"));
        let has = all().collect::<Vec<_>>().join(", ");
        Error::Scenario(format!(
            "--interface {name}: there is no such interface ({has}){}",
            near.unwrap_or_default()
        ))
    })
}

/// The cgroup of a command, where there can be one.
fn whose(options: &Options, snap: u32) -> (Option<Cgroup>, Option<Arc<Owned>>, By) {
    if options.command.is_empty() {
        return (None, None, By::Filter);
    }
    let made = Cgroup::create().and_then(|cgroup| match Owned::open(&cgroup.folder, snap) {
        Ok(owned) => Ok((cgroup, owned)),
        Err(e) => Err(format!("BPF programs in a cgroup: {}", sentence(&e))),
    });
    match made {
        Ok((cgroup, owned)) => (Some(cgroup), Some(Arc::new(owned)), By::Cgroup),
        Err(why) => (None, None, By::Sockets(why)),
    }
}

fn no_packets(e: &std::io::Error) -> Error {
    match e.raw_os_error() {
        _ if is_refused(e) => Error::Machine(
            "recording needs root, or CAP_NET_RAW for packets, and CAP_BPF and CAP_PERFMON for the kernel's own word: \
             sudo rexmit record …"
                .into(),
        ),
        Some(libc::EAFNOSUPPORT | libc::EPROTONOSUPPORT) => {
            Error::Machine("this kernel has no packet sockets: it needs CONFIG_PACKET".into())
        }
        _ => Error::Failed(format!("packets cannot be had: {}", sentence(e))),
    }
}

type Watched = (End, Option<(String, bool)>, Option<strangers::Strangers>);

/// Until the recording is over.
fn watch(
    options: &Options,
    cgroup: Option<&Cgroup>,
    by: &By,
    seen: &AtomicU64,
    go_on: &mut dyn FnMut(Progress) -> bool,
) -> Result<Watched, Error> {
    let begun = sys::clock(Clock::Monotonic);
    let mut child = match options.command.as_slice() {
        [] => None,
        words => Some(Running::start(words, cgroup.map(|c| &c.processes))?),
    };
    let by_sockets = matches!(by, By::Sockets(_));
    let mut strangers = child.as_ref().filter(|_| by_sockets).map(|c| strangers::Strangers::of(c.process()));
    let mut over_at = None;
    let end = loop {
        let now = Span(sys::clock(Clock::Monotonic) - begun);
        if let Some(strangers) = &mut strangers {
            strangers.look();
        }
        if !go_on(Progress { now, limit: options.limit, packets: seen.load(Ordering::Relaxed) }) {
            break End::Stopped;
        }
        if options.limit.is_some_and(|limit| now >= limit) {
            break End::Limit;
        }
        if child.as_mut().is_some_and(Running::has_ended) {
            let at = *over_at.get_or_insert(now);
            if now - at >= LAST_PACKETS {
                break End::Command;
            }
        }
        thread::sleep(if strangers.is_some() { LOOK / 4 } else { LOOK });
    };
    let still_ran = child.as_mut().is_some_and(|child| !child.has_ended());
    let exit = child.as_mut().map(Running::finish);
    if still_ran {
        // What it says as it ends belongs to it.
        thread::sleep(Duration::from_nanos(LAST_PACKETS.0 as u64));
    }
    Ok((end, exit, strangers))
}

/// What interfaces and their queues counted since; those that are gone keep their names.
fn meanwhile(before: Vec<Interface>) -> Vec<Interface> {
    let now = machine::interfaces();
    let of = |old: Interface| match now.iter().find(|new| new.index == old.index) {
        Some(new) => Interface {
            counts: machine::grown(&old.counts, &new.counts),
            queue: machine::grown(&old.queue, &new.queue),
            ..old
        },
        None => Interface { counts: Counters::new(), queue: Counters::new(), ..old },
    };
    before.into_iter().map(of).collect()
}
