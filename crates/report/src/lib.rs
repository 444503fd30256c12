//! What the page of a report shows of captures, as explorer/FORMAT.md describes it: META, and blobs.
//!
//! Rows in, text and bytes out; nothing of files, and nothing of the page itself.

mod container;
mod detail;
mod episodes;
mod flows;
mod held;
mod judged;
mod levels;
mod members;
mod packets;
mod page;
mod repeated;
mod round_trips;
mod source;
mod text;

pub use page::{End, Page, page};
