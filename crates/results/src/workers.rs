//! One analysis on many cores: what threads do it is nobody's concern but their own, and what they found is put together
//! in an order that no clock has a part in.
//!
//! Connections are shared out to as many parts as there are threads, each with an analysis of its own. The caller reads, and
//! fills a load of packets for each part; full ones go to the desk, where whoever is idle takes the part that has waited
//! longest: no part is anybody's. So many loads, and no more, are under way: without an empty one the caller analyses, too.

mod desk;
mod load;

use crate::run::Request;
use crate::spool::{Shelf, Spool, parts};
use analysis::{Analyzer, Config, Course, Fate, part};
use desk::Desk;
use load::{LOAD, Load};
use std::mem;
use std::path::PathBuf;
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

/// Loads for each thread, beside those that are being filled: one is worked on, and the others wait.
const LOADS: usize = 2;

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

/// Analyses what `read` hands over, on so many threads: this one, which also reads, and others.
pub fn analyse<R>(
    request: &Request,
    config: Config,
    threads: usize,
    read: impl FnOnce(&mut dyn Takes) -> R,
) -> (R, Analysed) {
    if threads <= 1 {
        let mut analyzer = Analyzer::new(config, request.spool());
        let done = read(&mut analyzer);
        let (totals, spool) = analyzer.finish();
        return (done, Analysed { shelf: spool.seal(), connections: totals.connections });
    }
    let analyzers = (0..threads).map(|_| Analyzer::of_part(config.clone(), request.spool())).collect();
    let desk = Desk::new(analyzers, threads * LOADS);
    let done = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(|| desk.serve())).collect();
        let mut crew = Crew::new(&desk, threads);
        let done = read(&mut crew);
        crew.finish();
        desk.serve();
        for thread in others {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
        done
    });
    let mut connections = 0;
    let shelves = desk.found().into_iter().map(|(n, shelf, births)| {
        connections += n;
        (shelf, births)
    });
    let shelf = parts::gather(shelves.collect()).unwrap_or_else(|| request.spool().seal());
    (done, Analysed { shelf, connections })
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

/// The one that reads, and what it fills for each part.
struct Crew<'a> {
    desk: &'a Desk,
    filling: Vec<Load>,
    origin: Time,
    course: Course,
}

impl<'a> Crew<'a> {
    fn new(desk: &'a Desk, parts: usize) -> Crew<'a> {
        let filling = (0..parts).map(|_| Load::new()).collect();
        Crew { desk, filling, origin: Time::FAR_FUTURE, course: Course::default() }
    }
    /// What was read is handed over, and that nothing comes behind it.
    fn finish(&mut self) {
        for (of, mut load) in self.filling.drain(..).enumerate() {
            load.origin = self.origin;
            self.desk.hand_in(of, load);
        }
        self.desk.close();
    }
    #[inline(always)]
    fn give(&mut self, packet: &Packet, fate: Option<Fate>) {
        let of = part(&packet.tuple, self.filling.len());
        let filling = &mut self.filling[of];
        filling.packets.push(*packet);
        filling.before.push(self.course);
        filling.fates.extend(fate);
        self.course.pass(packet);
        if filling.packets.len() == LOAD {
            self.hand_over(of);
        }
    }
    #[cold]
    #[inline(never)]
    fn hand_over(&mut self, of: usize) {
        self.filling[of].origin = self.origin;
        let full = mem::take(&mut self.filling[of]);
        self.filling[of] = self.desk.exchange(of, full);
    }
    fn begin(&mut self, packets: &[Packet]) {
        if let (Time::FAR_FUTURE, Some(first)) = (self.origin, packets.first()) {
            self.origin = first.time;
        }
    }
}

/// Who reads no more without having finished has failed.
impl Drop for Crew<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.desk.fail();
        }
    }
}

impl Takes for Crew<'_> {
    fn note_earlier(&mut self, syns: &[Packet]) {
        for syn in syns {
            let of = part(&syn.tuple, self.filling.len());
            if !self.filling[of].packets.is_empty() {
                self.hand_over(of);
            }
            self.filling[of].earlier.push(*syn);
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
}
