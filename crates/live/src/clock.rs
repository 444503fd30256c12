//! Virtual time against the machine's clocks.
//!
//! Virtual time is the monotonic clock, counted from the beginning of the run. The kernel stamps packets by the
//! wall clock; the difference of both is taken anew at each reading, so that a step of the wall clock moves no
//! packet but those that wait to be read at that moment.

use crate::sys::{self, Clock as Source};
use instant::{Span, Time};

/// A step of the wall clock: it is slewed far less than this between two readings.
const STEP_NS: i64 = 1_000_000;

#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: i64,
    /// The wall clock at the start.
    pub origin: Time,
    offset: i64,
    pub steps: u64,
}

/// Readings of the two clocks that lie closer together are not tried again.
const CLOSE_NS: i64 = 2_000;
const TRIES: u32 = 20;

/// The wall clock less the monotonic one. Who is interrupted between the two readings would be wrong by half of it:
/// of some tries, the one that took least counts.
fn offset() -> i64 {
    let (mut least, mut found) = (i64::MAX, 0);
    for _ in 0..TRIES {
        let before = sys::clock(Source::Monotonic);
        let wall = sys::clock(Source::Realtime);
        let took = sys::clock(Source::Monotonic) - before;
        if took < least {
            (least, found) = (took, wall - (before + took / 2));
        }
        if took <= CLOSE_NS {
            break;
        }
    }
    found
}

impl Clock {
    /// Virtual time zero is now.
    pub fn start() -> Clock {
        let (start, offset) = (sys::clock(Source::Monotonic), offset());
        Clock { start, origin: Time(start + offset), offset, steps: 0 }
    }

    pub fn now(&self) -> Time {
        Time(sys::clock(Source::Monotonic) - self.start)
    }

    /// To be called before timestamps are read.
    pub fn settle(&mut self) {
        let now = offset();
        if (now - self.offset).abs() > STEP_NS {
            self.steps += 1;
        }
        // Between steps both clocks are slewed alike: what differs is that the clocks are read one after the other.
        if (now - self.offset).abs() > STEP_NS / 20 {
            self.offset = now;
        }
    }

    /// The virtual time of a kernel timestamp.
    pub fn stamped(&self, wall_ns: i64) -> Time {
        Time(wall_ns - self.offset - self.start)
    }

    /// The virtual time of a moment of the monotonic clock.
    pub fn of_monotonic(&self, ns: i64) -> Time {
        Time(ns - self.start)
    }

    pub fn sleep_until(&self, at: Time) {
        sys::sleep_until(at.0 + self.start);
    }

    /// Sleeps, unless it is that time already.
    pub fn wait(&self, until: Time, most: Span) {
        let now = self.now();
        self.sleep_until(until.min(now + most));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    #[test]
    fn a_busy_machine_does_not_move_one_clock_against_the_other() {
        let busy = AtomicBool::new(true);
        let mut all = Vec::new();
        std::thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(|| {
                    while busy.load(Relaxed) {
                        std::hint::spin_loop()
                    }
                });
            }
            let end = sys::clock(Source::Monotonic) + 300_000_000;
            while sys::clock(Source::Monotonic) < end {
                all.push(offset());
            }
            busy.store(false, Relaxed);
        });
        let (least, most) = (all.iter().min().unwrap(), all.iter().max().unwrap());
        assert!(most - least < 100_000, "{} ns", most - least);
    }

    #[test]
    fn a_timestamp_of_now_is_now() {
        let mut clock = Clock::start();
        clock.settle();
        let wall = sys::clock(Source::Realtime);
        let off = clock.stamped(wall) - clock.now();
        assert!(off.0.abs() < 5_000_000, "{off}");
        assert_eq!(clock.steps, 0);
    }
}
