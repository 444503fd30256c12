//! Where loads wait for whoever has time, and parts of the analysis for their next loads.
//!
//! A part is analysed by one thread at a time, whichever is free, and its loads in the order in which they were filled:
//! what is found does not depend on who did it, nor when.

use super::load::Load;
use crate::spool::{Shelf, Spool};
use analysis::ascending::Ascending;
use analysis::{Analyzer, Totals};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What was found in a part: its counts, rows, and when each connection began.
pub type Found = (Totals, Shelf, Ascending);

#[derive(Default)]
struct Part {
    /// Not here while somebody is at it, nor once it has ended.
    analyzer: Option<Box<Analyzer<Spool>>>,
    /// Full, the oldest first.
    loads: VecDeque<Load>,
}

/// A part that somebody is at.
pub struct Job {
    part: usize,
    analyzer: Box<Analyzer<Spool>>,
    loads: Vec<Load>,
    /// Nothing comes behind these loads.
    is_last: bool,
}

/// What became of it.
pub struct Done {
    part: usize,
    emptied: Vec<Load>,
    left: Result<Box<Analyzer<Spool>>, Found>,
}

impl Job {
    pub fn work(mut self) -> Done {
        for load in &mut self.loads {
            load.give_to(&mut self.analyzer);
            load.empty();
        }
        let left = match self.is_last {
            false => Ok(self.analyzer),
            true => {
                let (totals, spool, births) = self.analyzer.finish_part();
                Err((totals, spool.seal(), births))
            }
        };
        Done { part: self.part, emptied: self.loads, left }
    }
}

struct State {
    parts: Vec<Part>,
    /// Parts that there is something to do for, the longest waiting first.
    ready: VecDeque<usize>,
    /// Full loads that nobody is at.
    waiting: usize,
    empty: Vec<Load>,
    /// Threads that wait for work.
    asleep: usize,
    /// The reader waits for an empty load.
    reader_waits: bool,
    /// Everything is read.
    is_read: bool,
    /// A thread is no more.
    failed: bool,
    found: Vec<Option<Found>>,
}

pub struct Desk {
    state: Mutex<State>,
    work: Condvar,
    room: Condvar,
    /// Loads that may be full at once.
    loads: usize,
}

impl Desk {
    pub fn new(analyzers: Vec<Analyzer<Spool>>, loads: usize) -> Desk {
        let found = analyzers.iter().map(|_| None).collect();
        let part = |analyzer| Part { analyzer: Some(Box::new(analyzer)), loads: VecDeque::new() };
        let state = State {
            parts: analyzers.into_iter().map(part).collect(),
            ready: VecDeque::new(),
            waiting: 0,
            empty: (0..loads).map(|_| Load::new()).collect(),
            asleep: 0,
            reader_waits: false,
            is_read: false,
            failed: false,
            found,
        };
        Desk { state: Mutex::new(state), work: Condvar::new(), room: Condvar::new(), loads }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Who panics does so outside, in a part's analysis.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A full load of a part for an empty one. Without one left the reader helps, and waits if all that there is to do is
    /// being done.
    pub fn exchange(&self, part: usize, full: Load) -> Load {
        let mut state = self.state();
        state.put(part, full);
        loop {
            if state.failed {
                return Load::new();
            }
            let empty = state.empty.pop();
            // To wake somebody takes longer than to fill a load: not for each.
            let is_asleep = state.asleep > 0;
            if is_asleep && (state.waiting > self.loads / 4 || empty.is_none()) {
                self.work.notify_one();
            }
            if let Some(empty) = empty {
                return empty;
            }
            // Whoever is just waking up would find nothing left to do.
            let job = if is_asleep { None } else { state.take(1) };
            state = match job {
                Some(job) => {
                    drop(state);
                    let done = job.work();
                    let mut state = self.state();
                    state.take_back(done);
                    state
                }
                None => {
                    state.reader_waits = true;
                    let mut state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
                    state.reader_waits = false;
                    state
                }
            };
        }
    }

    /// The last load of a part.
    pub fn hand_in(&self, part: usize, full: Load) {
        self.state().put(part, full);
    }

    /// Everything is read: each part ends behind its last load.
    pub fn close(&self) {
        let mut state = self.state();
        state.is_read = true;
        for part in 0..state.parts.len() {
            state.make_ready(part);
        }
        self.work.notify_all();
    }

    /// Nobody waits for a thread that is no more.
    pub fn fail(&self) {
        self.state().failed = true;
        self.room.notify_all();
        self.work.notify_all();
    }

    /// Works until nothing is left to do.
    pub fn serve(&self) {
        let _end = Ends(self);
        let mut state = self.state();
        loop {
            if state.failed {
                return;
            } else if let Some(job) = state.take(self.loads / 2) {
                drop(state);
                let done = job.work();
                state = self.state();
                state.take_back(done);
                if state.reader_waits {
                    self.room.notify_one();
                }
            } else if state.is_read {
                return;
            } else {
                state.asleep += 1;
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.asleep -= 1;
            }
        }
    }

    /// Of all parts, in their order.
    pub fn found(self) -> Vec<Found> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.found.into_iter().flatten().collect()
    }
}

/// Whoever waits for a thread that is no more is told.
struct Ends<'a>(&'a Desk);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail();
        }
    }
}

impl State {
    fn put(&mut self, part: usize, full: Load) {
        self.parts[part].loads.push_back(full);
        self.waiting += 1;
        if self.parts[part].loads.len() == 1 {
            self.make_ready(part);
        }
    }

    fn make_ready(&mut self, part: usize) {
        if self.parts[part].analyzer.is_some() && !self.ready.contains(&part) {
            self.ready.push_back(part);
        }
    }

    fn take(&mut self, most: usize) -> Option<Job> {
        let part = self.ready.pop_front()?;
        let of = &mut self.parts[part];
        let analyzer = of.analyzer.take()?;
        let loads: Vec<Load> = of.loads.drain(..of.loads.len().min(most.max(1))).collect();
        let is_last = self.is_read && of.loads.is_empty();
        self.waiting -= loads.len();
        Some(Job { part, analyzer, loads, is_last })
    }

    fn take_back(&mut self, done: Done) {
        self.empty.extend(done.emptied);
        match done.left {
            Err(found) => self.found[done.part] = Some(found),
            Ok(analyzer) => {
                self.parts[done.part].analyzer = Some(analyzer);
                if self.is_read || !self.parts[done.part].loads.is_empty() {
                    self.make_ready(done.part);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spool::Spool;
    use crate::workers::load::LOAD;
    use analysis::{Config, Wanted};
    use std::sync::mpsc::channel;
    use wire::{Packet, Time};

    fn desk(parts: usize, loads: usize) -> Desk {
        let of_part = |_| Analyzer::of_part(Config::default(), Spool::new(Wanted::default()));
        Desk::new((0..parts).map(of_part).collect(), loads)
    }

    fn full() -> Load {
        let mut load = Load::new();
        load.origin = Time::ZERO;
        load.packets.resize(LOAD, Packet::default());
        load.before.resize(LOAD, analysis::CaptureProgress::default());
        load
    }

    #[test]
    fn whoever_reads_alone_does_all_the_work_and_no_more_loads_are_under_way() {
        let desk = desk(3, 2);
        for turn in 0..20 {
            assert!(desk.exchange(turn % 3, full()).packets.is_empty());
            assert!(desk.state().waiting <= 2);
        }
        desk.close();
        desk.serve();
        assert_eq!(desk.found().iter().map(|(totals, ..)| totals.connections).sum::<u64>(), 3);
    }

    #[test]
    fn a_part_is_one_threads_at_a_time_and_its_loads_stay_in_order() {
        let desk = desk(2, 8);
        for n in 0..6 {
            let mut load = full();
            load.origin = Time(n);
            desk.hand_in(usize::from(n == 5), load);
        }
        let mut state = desk.state();
        let first = state.take(3).unwrap();
        let origins = |job: &Job| job.loads.iter().map(|load| load.origin.0).collect::<Vec<_>>();
        assert_eq!((first.part, origins(&first)), (0, vec![0, 1, 2]));
        let other = state.take(3).unwrap();
        assert_eq!((other.part, origins(&other)), (1, vec![5]));
        assert!(state.take(3).is_none(), "two loads wait for the part that somebody is at");
        state.take_back(first.work());
        assert_eq!(origins(&state.take(3).unwrap()), [3, 4]);
    }

    #[test]
    #[should_panic(expected = "something nobody thought of")]
    fn nobody_waits_for_a_thread_that_is_no_more() {
        let desk = desk(1, 2);
        std::thread::scope(|scope| {
            let (took, taken) = channel();
            desk.hand_in(0, full());
            let desk = &desk;
            let failing = scope.spawn(move || {
                let _end = Ends(desk);
                let _job = desk.state().take(1);
                let _ = took.send(());
                panic!("something nobody thought of");
            });
            taken.recv().unwrap();
            (0..9).for_each(|_| drop(desk.exchange(0, full())));
            desk.close();
            desk.serve();
            std::panic::resume_unwind(failing.join().unwrap_err());
        });
    }
}
