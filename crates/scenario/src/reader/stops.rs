//! The program stops reading, for a while or for good.

use super::{Habit, Memory};
use instant::{Span, Time};
use params::keys::{NOT_NEGATIVE_TIME, POSITIVE_TIME, key};

params::params! {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Params: "stops", "The program reads all data as it arrives, then stops reading for a while or for good." {
        after: Span = key("after", NOT_NEGATIVE_TIME, "When the program stops reading, counted from the connection's start.");
        length: Option<Span> = key("for", POSITIVE_TIME, "How long the program does not read.").absent("for good");
    }
}

impl Habit for Params {
    fn most(&self, memory: &mut Memory, now: Time) -> u64 {
        let stops = memory.began + self.after;
        let resumes = self.length.map(|length| stops + length);
        let reads = now < stops || resumes.is_some_and(|at| now >= at);
        memory.next = if reads { None } else { resumes };
        if reads { u64::MAX } else { 0 }
    }
    fn has_read(&self, _: &mut Memory, _: Time, _: u64) {}
}
