//! What packets do not say of those that were sent again.

use crate::container::{Column, Values, pack};
use crate::text::list;
use analysis::rows::{ClosedSet, Evidence, Proof, RetransmissionRow, Trigger};
use results::names::proof;

pub fn container(rows: &[RetransmissionRow]) -> Vec<u8> {
    fn places<T: ClosedSet>(values: impl Iterator<Item = T>) -> Values {
        let place = |value: T| T::ALL.iter().position(|v| v.name() == value.name()).unwrap_or(0) as u8;
        Values::U8(values.map(place).collect())
    }
    let proofs = rows.iter().map(|row| {
        proof(row.needless).map_or(0, |proof| {
            1 + Proof::ALL.iter().position(|p| p.name() == proof.name()).unwrap_or(0) as u8
        })
    });
    let columns = [
        Column::of("packet", Values::U32(rows.iter().map(|r| r.packet as u32).collect()), true),
        Column::of("trigger", places(rows.iter().map(|r| r.trigger)), false),
        Column::of("evidence", places(rows.iter().map(|r| r.evidence)), false),
        Column::of("proof", Values::U8(proofs.collect()), false),
        Column::of("backoff", Values::U8(rows.iter().map(|r| r.backoff.min(255) as u8).collect()), false),
        Column::of("copy", Values::U8(rows.iter().map(|r| r.copy.min(255) as u8).collect()), false),
    ];
    let triggers = list(Trigger::ALL.iter().map(|v| v.name()));
    let evidence = list(Evidence::ALL.iter().map(|v| v.name()));
    let proofs = list([""].into_iter().chain(Proof::ALL.iter().map(|v| v.name())));
    let words = format!("\"trigger\":{triggers},\"evidence\":{evidence},\"proof\":{proofs}");
    pack("table", &columns, &format!(",\"words\":{{{words}}}"))
}
