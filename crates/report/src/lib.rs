//! What the page of a report shows of captures, as explorer/FORMAT.md describes it: META, and blobs.
//!
//! Rows in, text and bytes out; nothing of files, and nothing of the page itself.

mod about;
mod column;
pub mod container;
mod detail;
mod episodes;
mod flows;
mod held;
mod judged;
mod levels;
mod limits;
mod lists;
mod members;
mod owners;
mod packets;
mod page;
mod places;
mod repeated;
mod round_trips;
mod source;
mod state;
mod text;
mod turns;
mod windows;

pub use about::About;
pub use judged::{Copies, Gone, lost_among};
pub use limits::Limits;
pub use page::{Page, Written, all_fit, blob, load, meta, page, served, written};
pub use source::Source;
pub use state::States;
pub use text::{in_html, visible};
