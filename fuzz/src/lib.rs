//! Fuzzing of everything that reads a file from a stranger: each input has to end with an answer or with one sentence, in
//! bounded time and memory.
//!
//! A target ([`targets`]) is a function of bytes. The driver ([`driver`]) calls it with inputs that follow from a seed, so
//! each fault is found again from its seed and number, on any machine and on the stable toolchain. An input is either a
//! file of the project that was mutated, or a row of decisions from which a capture ([`capture`]), a script or a TOML file
//! ([`text`]) is built; its first bytes choose what is asked of the file.

mod capture;
mod choices;
pub mod driver;
pub mod limits;
mod mutation;
mod scratch;
pub mod seeds;
pub mod targets;
mod text;
