//! How sure a statement is. *Known* is never wrong, *likely* is wrong now and then, *open* is one of several that fit.

pub use analysis::sure::Certainty;
