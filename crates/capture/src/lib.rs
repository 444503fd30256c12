//! Captures: TCP packets out of pcap, pcapng and snoop files, plain or compressed, and captures written.
//!
//! [`open`] gives a [`Reader`], which fills batches of [`wire::Packet`] and tells in [`Info`] what else was
//! there: other protocols, damage, drops, what the capture cannot show. Nothing is held but a buffer of fixed
//! size, whatever the lengths in the file say; a damaged file ends where its damage is, and what came before
//! stands. [`traffic`] counts all frames, whatever they carry. [`Writer`] writes captures, [`annotate`] copies one with a comment on chosen packets.

mod annotate;
mod beside;
mod decode;
mod decoders;
mod dictionary;
mod error;
#[cfg_attr(target_arch = "wasm32", path = "handed.rs")]
mod files;
mod filters;
mod fragments;
mod info;
mod layers;
pub mod link;
mod options;
mod pcap;
mod pcapng;
mod reader;
mod record;
mod rotation;
mod sets;
mod sniff;
mod snoop;
mod source;
mod traffic;
mod tunnel;
mod whole;
mod wifi;
mod window;
mod writer;

pub use annotate::{Annotated, annotate, is_annotated};
pub use beside::Datagrams;
pub use error::{Damage, Error, What, grouped, sentence, shown};
#[cfg(target_arch = "wasm32")]
pub use files::{Bytes, hand_over};
pub use info::{
    Compression, FileInfo, Format, Info, Interface, Malformed, Others, Resolution, Tunnel, Unread,
    Unsupported, links,
};
pub use link::LinkType;
pub use options::{Options, parse_flow, parse_host, parse_port, parse_span};
pub use reader::{Progress, Reader, open, open_with};
pub use source::{Patience, Source};
pub use traffic::{Kind, MOST_BINS, Tally, Traffic, traffic};
pub use whole::create;
pub use writer::{NewPacket, Writer};
