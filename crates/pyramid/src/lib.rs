//! A transfer at several scales: packets in bins of time, each of which knows all that happened in it, so that a
//! screen of a thousand columns shows each loss of ten million packets.
//!
//! Columns in, bins out; nothing of files. Counts are exact at every scale: a coarser level adds up a finer one.

mod bin;
mod grid;
mod level;

pub use bin::{Bin, Range};
pub use grid::Grid;
pub use level::{Level, Rows, Sack};

#[cfg(test)]
mod tests;
