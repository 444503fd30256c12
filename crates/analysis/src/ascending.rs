//! Ascending numbers in few bytes: each as the step from the one before.

use std::ops::Deref;

/// Numbers in the order of their size, a byte or two each where they lie close together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ascending {
    /// Steps, seven bits a byte, the lowest first; the top bit is set on all bytes of a step but its last.
    steps: Vec<u8>,
    last: u64,
}

const MORE: u8 = 0x80;

impl Ascending {
    /// Appends a number, no less than the one before.
    pub fn push(&mut self, number: u64) {
        debug_assert!(number >= self.last);
        let mut step = number.wrapping_sub(self.last);
        self.last = number;
        while step >= u64::from(MORE) {
            self.steps.push(step as u8 | MORE);
            step >>= 7;
        }
        self.steps.push(step as u8);
    }
}

/// Goes through such numbers, borrowed or shared.
#[derive(Clone, Debug)]
pub struct Walk<A> {
    of: A,
    at: usize,
    last: u64,
}

impl<A: Deref<Target = Ascending>> Walk<A> {
    pub fn new(of: A) -> Walk<A> {
        Walk { of, at: 0, last: 0 }
    }
}

impl<A: Deref<Target = Ascending>> Iterator for Walk<A> {
    type Item = u64;
    fn next(&mut self) -> Option<u64> {
        let (mut step, mut shift) = (0, 0);
        loop {
            let byte = *self.of.steps.get(self.at)?;
            self.at += 1;
            step |= u64::from(byte & !MORE) << shift;
            if byte & MORE == 0 {
                break;
            }
            shift += 7;
        }
        self.last = self.last.wrapping_add(step);
        Some(self.last)
    }
}
