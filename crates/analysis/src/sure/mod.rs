//! How sure a row is, and on what that rests.

pub mod certainty;
pub mod grounds;

pub use certainty::{Certainty, Claim, Evidence, Grounds};
pub use grounds::Sure;
