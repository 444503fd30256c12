//! Declared parameters: what a file may say of a strategy, how that becomes its plain data, and how it is written back.
//!
//! A strategy's own file declares its keys with [`params!`] (or implements [`Params`] by hand where a value is not a
//! key each), and [`choice!`] lists the strategies of a kind once. What reads files, writes them and documents them
//! goes through those lists and knows no strategy by name.

mod declared;
mod form;
pub mod keys;
mod lines;
pub mod plain;
pub mod problem;
pub mod units;
mod values;

pub use declared::{Field, Param, Params};
pub use form::Form;
pub use lines::{Lines, quoted};
pub use plain::Plain;
pub use values::{Item, Value, Values, join};

// What the macros need wherever they are used.
#[doc(hidden)]
pub use crate::{
    keys::{Key, Variant, Word},
    problem::Problems,
};
