//! Scenario and stack files: TOML, units, overrides, errors with line and key.

pub mod model;
