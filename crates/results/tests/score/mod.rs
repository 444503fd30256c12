//! The analysis against the truth of simulated runs. What counts, and how, stands in docs/validation.md.
#![allow(dead_code)] // the test and the example each use their part

pub mod causes;
pub mod cost;
pub mod losses;
pub mod paths;
#[path = "../../../sim/tests/support/random.rs"]
pub mod random;
pub mod run;
pub mod senders;

pub use random::{Draw, WIRE};
