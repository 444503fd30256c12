//! Captures for benchmarks: as real captures look, of any length, and the same for the same seed.
//!
//! [`bulk`] makes long transfers through a path that loses packets, each repaired by SACK as a modern sender
//! does it; [`short`] makes very many small exchanges. Both give packets in the order of time to a
//! [`pcap::Writer`], until it holds as many as were asked for: a shorter capture of the same seed is the
//! beginning of a longer one.

pub mod bulk;
pub mod pcap;
pub mod random;
mod receiver;
mod sender;
pub mod short;
