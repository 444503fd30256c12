//! The program reads at regular times, and pauses between them.

use super::{Habit, Memory};
use instant::{Span, Time};
use params::keys::{POSITIVE_TIME, key};

params::params! {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Params: "pauses", "The program reads at regular times, each time all data that has arrived." {
        every: Span = key("every", POSITIVE_TIME, "Time between two reads. Read k happens k * every after the connection's start.");
    }
}

impl Habit for Params {
    fn most(&self, memory: &mut Memory, now: Time) -> u64 {
        match memory.next {
            Some(next) if now >= next => u64::MAX,
            Some(_) => 0,
            None => {
                let passed = (now - memory.began).0 / self.every.0.max(1);
                memory.next = Some(memory.began + self.every * (passed + 1));
                0
            }
        }
    }
    fn has_read(&self, memory: &mut Memory, _: Time, bytes: u64) {
        if bytes > 0 {
            memory.next = None;
        }
    }
}
