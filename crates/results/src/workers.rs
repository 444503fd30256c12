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
use analysis::{Analyzer, CaptureProgress, Config, Fate, Totals, part, review_every};
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

/// The rows, how many connections there were, and how many packets came once the memory was used up.
pub struct Analysed {
    pub shelf: Shelf,
    pub connections: u64,
    pub not_analysed: u64,
}

/// Analyses what `read` hands over within so much memory, on so many threads: this one, which also reads, and others.
pub fn analyse<R>(
    request: &Request,
    config: Config,
    max_memory: Option<u64>,
    read: impl FnOnce(&mut dyn Takes) -> R,
) -> (R, Analysed) {
    let (threads, reviews) = (request.threads, Reviews::new(max_memory));
    if threads <= 1 {
        let analyzer = Analyzer::new(config, request.spool()).within(max_memory).surviving();
        let mut alone = Alone { analyzer, reviews };
        let done = read(&mut alone);
        let (totals, spool) = alone.analyzer.finish();
        let shelf = spool.seal();
        let Totals { connections, not_analysed, .. } = totals;
        return (done, Analysed { shelf, connections, not_analysed });
    }
    let of_part = |_| Analyzer::of_part(config.clone(), request.spool()).within(max_memory).surviving();
    let desk = Desk::new((0..threads).map(of_part).collect(), threads * LOADS);
    let done = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(|| desk.serve())).collect();
        let mut crew = Crew::new(&desk, threads, reviews);
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
    let (mut connections, mut not_analysed) = (0, 0);
    let shelves = desk.found().into_iter().map(|(totals, shelf, births)| {
        connections += totals.connections;
        not_analysed += totals.not_analysed;
        (shelf, births)
    });
    let shelf = parts::gather(shelves.collect()).unwrap_or_else(|| request.spool().seal());
    (done, Analysed { shelf, connections, not_analysed })
}

/// Where in the capture the memory is reviewed: at the same packets on however many threads.
struct Reviews {
    every: u64,
    /// Packets until the next.
    left: u64,
}

impl Reviews {
    fn new(max_memory: Option<u64>) -> Reviews {
        let every = max_memory.map_or(u64::MAX, review_every);
        Reviews { every, left: every }
    }
    /// Of so many packets that come next those up to a review, if one is due by then.
    #[inline]
    fn due_within(&mut self, packets: usize) -> Option<usize> {
        let packets = packets as u64;
        if packets < self.left {
            self.left -= packets;
            return None;
        }
        let due = self.left;
        self.left = self.every;
        Some(due as usize)
    }
}

/// One thread, which reads and analyses.
struct Alone {
    analyzer: Analyzer<Spool>,
    reviews: Reviews,
}

impl Takes for Alone {
    fn note_earlier(&mut self, syns: &[Packet]) {
        self.analyzer.note_earlier(syns);
    }
    fn push(&mut self, mut packets: &[Packet]) {
        while let Some(due) = self.reviews.due_within(packets.len()) {
            self.analyzer.push(&packets[..due]);
            self.analyzer.review(None);
            packets = &packets[due..];
        }
        self.analyzer.push(packets);
    }
    fn push_with_fates(&mut self, packets: &[Packet], fates: &[Fate]) {
        for (packet, fate) in packets.iter().zip(fates) {
            self.analyzer.push_with_fate(packet, *fate);
            if self.reviews.due_within(1).is_some() {
                self.analyzer.review(None);
            }
        }
    }
}

/// The one that reads, and what it fills for each part.
struct Crew<'a> {
    desk: &'a Desk,
    filling: Vec<Load>,
    origin: Time,
    course: CaptureProgress,
    reviews: Reviews,
}

impl<'a> Crew<'a> {
    fn new(desk: &'a Desk, parts: usize, reviews: Reviews) -> Crew<'a> {
        let filling = (0..parts).map(|_| Load::new()).collect();
        Crew { desk, filling, origin: Time::FAR_FUTURE, course: CaptureProgress::default(), reviews }
    }
    /// What was read is handed over, and that nothing comes behind it.
    fn finish(&mut self) {
        for (of, mut load) in self.filling.drain(..).enumerate() {
            load.origin = self.origin;
            load.ends = Some(self.course);
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
    /// Every part reviews its memory behind what it has been given so far.
    #[cold]
    fn review(&mut self) {
        for of in 0..self.filling.len() {
            self.filling[of].review = Some(self.course);
            self.hand_over(of);
        }
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
        let mut packets = packets;
        while let Some(due) = self.reviews.due_within(packets.len()) {
            packets[..due].iter().for_each(|packet| self.give(packet, None));
            self.review();
            packets = &packets[due..];
        }
        packets.iter().for_each(|packet| self.give(packet, None));
    }
    fn push_with_fates(&mut self, packets: &[Packet], fates: &[Fate]) {
        self.begin(packets);
        for (packet, fate) in packets.iter().zip(fates) {
            self.give(packet, Some(*fate));
            if self.reviews.due_within(1).is_some() {
                self.review();
            }
        }
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
