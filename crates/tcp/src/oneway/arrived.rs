//! Which packets have arrived at a sink.

use super::{Number, Run};

#[derive(Clone, Debug, Default)]
pub(super) struct Arrived {
    /// Everything below has arrived.
    next: Number,
    /// The highest that has arrived; 0 before any.
    highest: Number,
    /// Beyond `next`, apart from each other, in order.
    runs: Vec<Run>,
}

impl Arrived {
    /// True if it had arrived before.
    pub(super) fn add(&mut self, number: Number) -> bool {
        if number < self.next {
            return true;
        }
        self.highest = self.highest.max(number);
        if number == self.next {
            self.next += 1;
            self.take_in_order();
            return false;
        }
        self.add_beyond(number)
    }

    fn take_in_order(&mut self) {
        if self.runs.first().is_some_and(|r| r.left <= self.next) {
            self.next = self.runs.remove(0).right;
        }
    }

    fn add_beyond(&mut self, number: Number) -> bool {
        let at = self.runs.partition_point(|r| r.right < number);
        match self.runs.get_mut(at) {
            Some(r) if r.left <= number && number < r.right => return true,
            Some(r) if r.right == number => r.right += 1,
            Some(r) if r.left == number + 1 => r.left = number,
            _ => self.runs.insert(at, Run { left: number, right: number + 1 }),
        }
        if at + 1 < self.runs.len() && self.runs[at].right == self.runs[at + 1].left {
            self.runs[at].right = self.runs.remove(at + 1).right;
        }
        false
    }

    /// The highest up to which everything has arrived, -1 before packet 0.
    pub(super) fn cumulative(&self) -> Number {
        self.next - 1
    }
    pub(super) fn highest(&self) -> Number {
        self.highest
    }

    /// The run of a packet that has arrived; all in order count as one from 0.
    pub(super) fn run_of(&self, number: Number) -> Run {
        if number < self.next {
            return Run { left: 0, right: self.next };
        }
        let at = self.runs.partition_point(|r| r.right <= number);
        self.runs.get(at).copied().unwrap_or(Run { left: number, right: number + 1 })
    }
}
