//! What is this packet?

pub mod identification;
