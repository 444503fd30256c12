//! Scenario and stack files: TOML, units, overrides, errors with line and key.
//!
//! [`keys`] says once what may stand in a file. A file becomes a tree of values that know their lines (`tree`),
//! overrides are applied to it (`overrides`), it is held against the table of keys (`check`), and what is left is
//! built into the plain data of [`model`] (`build`, `stacks`). The JSON Schema ([`schema`]) and the documentation
//! ([`docs`]) are made from the same table. What an application of it does, whoever runs it, is in [`workload`].

mod build;
mod check;
pub mod describe;
pub mod docs;
pub mod file;
pub mod keys;
pub mod model;
mod overrides;
mod read;
pub mod reader;
pub mod schema;
mod stacks;
mod tree;
pub mod workload;
mod write;

pub use params::problem::{Errors, Origin, Problem, nearest};
pub use read::{Override, load, load_as, load_stack, parse, parse_stack, place};
pub use stacks::built_in as built_in_stacks;
pub use write::{stack_to_toml, timer_rule, to_toml};

/// The generated files of docs/: name and text.
pub fn generated() -> [(&'static str, String); 3] {
    [
        ("scenario.md", docs::scenario_page()),
        ("scenario.schema.json", schema::scenario_schema()),
        ("stack.schema.json", schema::stack_schema()),
    ]
}
