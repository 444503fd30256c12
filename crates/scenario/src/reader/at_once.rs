//! The program reads all data as soon as it arrives.

use super::{Habit, Memory};
use instant::Time;

params::params! {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Params: "at-once", "The program reads all data as soon as it arrives." {}
}

impl Habit for Params {
    fn most(&self, _: &mut Memory, _: Time) -> u64 {
        u64::MAX
    }
    fn has_read(&self, _: &mut Memory, _: Time, _: u64) {}
}
