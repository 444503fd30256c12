//! Keys of how programs read.

use super::*;
use crate::reader::Reader;

pub static READER: Table = Table {
    noun: "a reader",
    doc: "How a program reads the data that has arrived. Unread data fills the receive buffer, and the receive window that \
          the host offers shrinks. In the simulator only, and over TCP.",
    keys: &[],
    forms: None,
    variants: Some(Variants {
        tag: "kind",
        noun: "reader",
        doc: "How the program reads.",
        default: None,
        list: Reader::VARIANTS,
    }),
};
