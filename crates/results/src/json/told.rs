//! What a sender's kernel told of a flow, where packets alone say something else, and what it counted.

use super::write::{By, Put, members, object};
use crate::told::{Difference, OfFlow};
use wire::Time;

/// Writes `,"kernel":…`; nothing of a flow of which no kernel told.
pub fn put(out: &mut Vec<u8>, told: Option<&OfFlow>, differ: &[Difference], origin: Time) {
    let Some(told) = told else { return };
    let mut differ: Vec<&Difference> = differ.iter().collect();
    differ.sort_by_key(|d| d.at);
    let limits = told.counted().map(|c| {
        By(move |out: &mut Vec<u8>| {
            object!(out,
                "seconds": c.time,
                "busy_s": c.busy,
                "receiver_window_s": c.receiver,
                "send_buffer_s": c.buffer,
            );
        })
    });
    let differ: Vec<_> = differ.into_iter().map(|d| difference(d, origin)).collect();
    members!(out, ",", "kernel": { "limits": limits, "differ": differ });
}

fn difference(d: &Difference, origin: Time) -> impl Put + '_ {
    By(move |out: &mut Vec<u8>| {
        object!(out, "at_s": d.at - origin, "what": d.what, "capture": d.capture, "kernel": d.kernel);
    })
}
