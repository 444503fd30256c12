//! What becomes of rows: captures and analysis, which do not see each other, are joined, rows are kept and ranked,
//! labelled by what the bench knows, and handed on as JSON text and Arrow tables.

pub mod annotate;
pub mod connections;
pub mod facts;
mod far;
pub mod json;
#[cfg(target_os = "linux")]
pub mod live;
pub mod names;
pub mod pair;
pub mod replay;
pub mod run;
pub mod script;
pub mod simulate;
pub mod spool;
pub mod sums;
pub mod tables;
pub mod told;
pub mod traffic;
pub mod workers;
pub mod worst;
