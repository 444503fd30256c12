//! One analysis on many cores: each connection is analysed by one worker, and what they found is put together in an
//! order that no clock has a part in.
//!
//! The caller reads. Packets go to their connection's worker in loads, which come back empty and are filled again: so
//! many, and no more, are under way. The caller waits for an empty load, a worker for a full one and for nothing else:
//! nobody waits for somebody who waits.

use crate::run::Request;
use crate::spool::{Shelf, Spool, parts};
use analysis::ascending::Ascending;
use analysis::{Analyzer, Config, Course, Fate, part};
use std::mem;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};
use wire::{Packet, Time};

/// More than these have nothing to do: what one thread reads keeps fewer busy.
pub const MOST: usize = 16;
/// Captures below this size are analysed sooner than threads are started for them.
const WORTH_IT: u64 = 256 << 10;

/// How many threads analyse these files if nobody says: one for each processor, one for small files.
pub fn usual(paths: &[PathBuf]) -> usize {
    // What is no file may be of any size.
    let size =
        |path: &PathBuf| path.metadata().map_or(WORTH_IT, |m| if m.is_file() { m.len() } else { WORTH_IT });
    match paths.iter().map(size).sum::<u64>() {
        ..WORTH_IT => 1,
        _ => std::thread::available_parallelism().map_or(1, usize::from).min(MOST),
    }
}

/// Packets that go to a worker at a time.
const LOAD: usize = 2048;
/// Loads of a worker: one is filled, one worked on, and the others wait.
const LOADS: usize = 4;

/// Who analyses what the caller reads.
pub trait Takes {
    /// SYNs from before the part of the capture that is analysed.
    fn note_earlier(&mut self, syns: &[Packet]);
    /// Packets in the order of the capture.
    fn push(&mut self, packets: &[Packet]);
    /// The same where a second capture tells the fate of each.
    fn push_with_fates(&mut self, packets: &[Packet], fates: &[Fate]);
}

/// The rows, and how many connections there were.
pub struct Analysed {
    pub shelf: Shelf,
    pub connections: u64,
}

/// Analyses what `read` hands over: here with one worker, else on as many threads beside this one.
pub fn analyse<R>(
    request: &Request,
    config: Config,
    workers: usize,
    read: impl FnOnce(&mut dyn Takes) -> R,
) -> (R, Analysed) {
    if workers <= 1 {
        let mut analyzer = Analyzer::new(config, request.spool());
        let done = read(&mut analyzer);
        let (totals, spool) = analyzer.finish();
        return (done, Analysed { shelf: spool.seal(), connections: totals.connections });
    }
    std::thread::scope(|scope| {
        let start = |_| Worker::start(scope, config.clone(), request.spool());
        let mut crew = Crew {
            workers: (0..workers).map(start).collect(),
            origin: Time::FAR_FUTURE,
            course: Course::default(),
        };
        let done = read(&mut crew);
        let (shelf, connections) = crew.finish();
        let shelf = shelf.unwrap_or_else(|| request.spool().seal());
        (done, Analysed { shelf, connections })
    })
}

impl Takes for Analyzer<Spool> {
    fn note_earlier(&mut self, syns: &[Packet]) {
        Analyzer::note_earlier(self, syns);
    }
    fn push(&mut self, packets: &[Packet]) {
        Analyzer::push(self, packets);
    }
    fn push_with_fates(&mut self, packets: &[Packet], fates: &[Fate]) {
        for (packet, fate) in packets.iter().zip(fates) {
            self.push_with_fate(packet, *fate);
        }
    }
}

/// Packets of a worker's connections.
#[derive(Default)]
struct Load {
    /// When the capture began.
    origin: Time,
    /// SYNs from before what is analysed.
    earlier: Vec<Packet>,
    packets: Vec<Packet>,
    /// How far the capture had come before each.
    before: Vec<Course>,
    /// What became of each, where a second capture tells.
    fates: Vec<Fate>,
}

impl Load {
    fn new() -> Load {
        Load { packets: Vec::with_capacity(LOAD), before: Vec::with_capacity(LOAD), ..Load::default() }
    }
    fn empty(&mut self) {
        self.earlier.clear();
        self.packets.clear();
        self.before.clear();
        self.fates.clear();
    }
    fn give_to(&self, analyzer: &mut Analyzer<Spool>) {
        analyzer.note_earlier(&self.earlier);
        if self.fates.is_empty() {
            return analyzer.push_part(self.origin, &self.packets, &self.before);
        }
        for ((packet, before), fate) in self.packets.iter().zip(&self.before).zip(&self.fates) {
            analyzer.push_part_with_fate(self.origin, packet, before, *fate);
        }
    }
}

/// What a worker found: connections, rows, and when each connection began.
type Found = (u64, Shelf, Ascending);

/// The caller's end of a worker.
struct Worker<'scope> {
    filling: Load,
    full: SyncSender<Load>,
    emptied: Receiver<Load>,
    thread: ScopedJoinHandle<'scope, Found>,
}

impl<'scope> Worker<'scope> {
    fn start(scope: &'scope Scope<'scope, '_>, config: Config, spool: Spool) -> Worker<'scope> {
        let (full, loads) = sync_channel::<Load>(LOADS);
        let (back, emptied) = sync_channel::<Load>(LOADS);
        for _ in 1..LOADS {
            // There is room for all of them.
            let _ = back.send(Load::new());
        }
        let work = move || {
            let mut analyzer = Analyzer::of_part(config, spool);
            for mut load in loads {
                load.give_to(&mut analyzer);
                load.empty();
                // After its last load nobody fills it again.
                let _ = back.send(load);
            }
            let (totals, spool, births) = analyzer.finish_part();
            (totals.connections, spool.seal(), births)
        };
        Worker { filling: Load::new(), full, emptied, thread: scope.spawn(work) }
    }

    /// Hands its load over. A worker that is no more takes none; `finish` tells why.
    #[cold]
    #[inline(never)]
    fn hand_over(&mut self, origin: Time) {
        self.filling.origin = origin;
        let empty = self.emptied.recv().unwrap_or_else(|_| Load::new());
        let _ = self.full.send(mem::replace(&mut self.filling, empty));
    }
}

/// Workers, each with a part of the connections.
struct Crew<'scope> {
    workers: Vec<Worker<'scope>>,
    origin: Time,
    course: Course,
}

impl Crew<'_> {
    #[inline(always)]
    fn give(&mut self, packet: &Packet, fate: Option<Fate>) {
        let of = part(&packet.tuple, self.workers.len());
        let worker = &mut self.workers[of];
        worker.filling.packets.push(*packet);
        worker.filling.before.push(self.course);
        worker.filling.fates.extend(fate);
        self.course.pass(packet);
        if worker.filling.packets.len() == LOAD {
            worker.hand_over(self.origin);
        }
    }
    fn begin(&mut self, packets: &[Packet]) {
        if let (Time::FAR_FUTURE, Some(first)) = (self.origin, packets.first()) {
            self.origin = first.time;
        }
    }
    fn finish(mut self) -> (Option<Shelf>, u64) {
        self.workers.iter_mut().for_each(|worker| worker.hand_over(self.origin));
        // All of them are told that no more comes before any is waited for.
        let threads: Vec<_> = self.workers.into_iter().map(|worker| worker.thread).collect();
        let found = threads.into_iter().map(|thread| match thread.join() {
            Ok(found) => found,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        let mut connections = 0;
        let shelves = found.map(|(n, shelf, births)| {
            connections += n;
            (shelf, births)
        });
        (parts::gather(shelves.collect()), connections)
    }
}

impl Takes for Crew<'_> {
    fn note_earlier(&mut self, syns: &[Packet]) {
        for syn in syns {
            let of = part(&syn.tuple, self.workers.len());
            if !self.workers[of].filling.packets.is_empty() {
                self.workers[of].hand_over(self.origin);
            }
            self.workers[of].filling.earlier.push(*syn);
        }
    }
    fn push(&mut self, packets: &[Packet]) {
        self.begin(packets);
        packets.iter().for_each(|packet| self.give(packet, None));
    }
    fn push_with_fates(&mut self, packets: &[Packet], fates: &[Fate]) {
        self.begin(packets);
        packets.iter().zip(fates).for_each(|(packet, fate)| self.give(packet, Some(*fate)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_started_for_what_is_worth_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: u64| {
            let path = folder.path().join(name);
            std::fs::File::create(&path).unwrap().set_len(bytes).unwrap();
            path
        };
        let most = std::thread::available_parallelism().unwrap().get().min(MOST);
        let half = [file("a", WORTH_IT / 2), file("b", WORTH_IT / 2)];
        assert_eq!(usual(&half[..1]), 1);
        assert_eq!(usual(&half), most, "a rotation is as long as all of it");
        assert_eq!(usual(&[PathBuf::from("-")]), most, "nobody knows how much comes");
    }

    #[test]
    #[should_panic(expected = "something nobody thought of")]
    fn whoever_reads_does_not_wait_for_a_worker_that_is_no_more() {
        std::thread::scope(|scope| {
            let (full, loads) = sync_channel::<Load>(LOADS);
            let (_, emptied) = sync_channel(LOADS);
            let work = move || -> Found {
                drop(loads);
                panic!("something nobody thought of")
            };
            let worker = Worker { filling: Load::new(), full, emptied, thread: scope.spawn(work) };
            let mut crew = Crew { workers: vec![worker], origin: Time::ZERO, course: Course::default() };
            for _ in 0..3 * LOADS * LOAD {
                crew.give(&Packet::default(), None);
            }
            crew.finish();
        });
    }
}
