//! When a program reads the data that has arrived. A reader does no I/O and is told the time.

pub mod at_once;
pub mod pauses;
pub mod rate;
pub mod stops;

use instant::Time;

// The readers: the name of each, and the page that describes it. The keys that a file may use follow from this line.
params::choice! {
    /// How a program reads, as a scenario says it.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum Reader {
        AtOnce(at_once::Params),
        Rate(rate::Params),
        Pauses(pauses::Params),
        Stops(stops::Params),
    }
}

impl Default for Reader {
    fn default() -> Reader {
        Reader::AtOnce(at_once::Params {})
    }
}

impl Reader {
    /// The program reads all data as soon as it arrives.
    pub fn is_at_once(&self) -> bool {
        matches!(self, Reader::AtOnce(_))
    }
    /// The program stops reading for good.
    pub fn stops_for_good(&self) -> bool {
        matches!(self, Reader::Stops(stops) if stops.length.is_none())
    }
}

/// The behaviour that each reader's page implements.
trait Habit {
    /// Largest number of bytes that the program reads at `now`, if data has arrived.
    fn most(&self, memory: &mut Memory, now: Time) -> u64;
    /// The program has read this many bytes at `now`.
    fn has_read(&self, memory: &mut Memory, now: Time, bytes: u64);
}

/// What a reader remembers between reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Memory {
    /// The connection's start.
    began: Time,
    /// Time of the program's next read, if it waits for a time rather than for data.
    next: Option<Time>,
}

/// A program that reads.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    reader: Reader,
    memory: Memory,
}

macro_rules! habit {
    ($reader:expr, $habit:ident => $call:expr) => {
        match $reader {
            Reader::AtOnce($habit) => $call,
            Reader::Rate($habit) => $call,
            Reader::Pauses($habit) => $call,
            Reader::Stops($habit) => $call,
        }
    };
}

impl Reading {
    pub fn new(reader: Reader, began: Time) -> Reading {
        Reading { reader, memory: Memory { began, next: None } }
    }

    /// Largest number of bytes that the program reads at `now`. Ask only if unread data has arrived.
    pub fn most(&mut self, now: Time) -> u64 {
        habit!(&self.reader, habit => habit.most(&mut self.memory, now))
    }

    /// The program has read this many bytes at `now`.
    pub fn has_read(&mut self, now: Time, bytes: u64) {
        habit!(&self.reader, habit => habit.has_read(&mut self.memory, now, bytes));
    }

    /// Time of the next read while unread data is there; `None` if the program reads when more data arrives, or never.
    pub fn next(&self) -> Option<Time> {
        self.memory.next
    }
}

#[cfg(test)]
mod tests;
