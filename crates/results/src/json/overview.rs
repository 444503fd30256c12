//! What the terminal page shows: the capture, the totals, and the flows that cost most.

use super::answer::Answers;
use super::lists::{Around, Item};
use super::{Beside, Lists, flow, put_head};
use crate::connections::considered;
use crate::facts::Facts;
use crate::spool::{ByFlow, Row, Shelf};
use crate::told::{Difference, OfFlow};
use crate::worst::Worst;
use analysis::rows::*;
use std::collections::BTreeMap;
use std::io;

/// How many bursts, episodes and idle gaps of a flow a page gets: the heaviest, in order of time.
const LISTED: usize = 200;

/// The `top` flows that cost most, the worst first, as JSON.
pub fn write(facts: &Facts, shelf: &Shelf, beside: Beside<'_>, top: usize) -> io::Result<Vec<u8>> {
    let ids = worst(shelf, top)?;
    let flows = flows(facts, shelf, beside, &ids)?;
    let mut out = vec![b'{'];
    put_head(&mut out, facts, shelf);
    super::put_listed_count(&mut out, ids.len() as u64, shelf);
    out.extend_from_slice(b",\"flows\":[");
    for (i, id) in ids.iter().enumerate() {
        out.extend_from_slice(if i == 0 { b"\n" } else { b",\n" });
        out.extend_from_slice(&flows[id]);
    }
    out.extend_from_slice(b"\n]}\n");
    Ok(out)
}

/// Flows as JSON, by their ids; nothing of one that there is not.
pub fn flows(
    facts: &Facts,
    shelf: &Shelf,
    beside: Beside<'_>,
    ids: &[FlowId],
) -> io::Result<BTreeMap<FlowId, Vec<u8>>> {
    let around = beside.around(facts);
    let mut flows: BTreeMap<FlowId, Vec<u8>> = ids.iter().map(|id| (*id, Vec::new())).collect();
    let mut lists = Lists::new(shelf)?;
    let mut rows: ByFlow<FlowRow> = ByFlow::new(shelf)?;
    let mut answers = Answers::of(shelf, facts, beside.told)?;
    for (id, text) in &mut flows {
        if let Some(row) = rows.next_of(*id)? {
            put_flow(text, row, &mut lists, &mut answers, around, facts)?;
        }
    }
    Ok(flows)
}

/// The ids of the `top` flows that cost most, the worst first.
pub fn worst(shelf: &Shelf, top: usize) -> io::Result<Vec<FlowId>> {
    if shelf.is_narrowed() || shelf.worst.covers(top) {
        return Ok(shelf.worst.first(top));
    }
    let mut worst = Worst::of(top);
    for row in shelf.rows::<FlowRow>()? {
        worst.offer(&row?);
    }
    Ok(worst.first(top))
}

fn put_flow(
    out: &mut Vec<u8>,
    mut row: FlowRow,
    lists: &mut Lists,
    answers: &mut Answers<'_>,
    around: Around<'_>,
    facts: &Facts,
) -> io::Result<()> {
    let told = around.told.and_then(|told| told.of(row.flow));
    let mut differ = Vec::new();
    if let Some(told) = told {
        told.flow(&mut row);
    }
    let row = &row;
    let bursts = heaviest(&mut lists.bursts, row.flow, told, &mut differ)?;
    let episodes = heaviest(&mut lists.episodes, row.flow, told, &mut differ)?;
    let idle = heaviest(&mut lists.idle, row.flow, told, &mut differ)?;
    out.push(b'{');
    flow::put_members(row, facts.like_of(row.flow), out, around.origin);
    put_listed(out, "bursts", row, &bursts, around);
    put_listed(out, "episodes", row, &episodes, around);
    put_listed(out, "idle", row, &idle, around);
    answers.read(row)?;
    answers.put(out, row);
    super::told::put(out, told, &differ, around.origin);
    out.push(b'}');
    Ok(())
}

fn heaviest<R: Row + Item>(
    rows: &mut ByFlow<R>,
    flow: FlowId,
    told: Option<&OfFlow>,
    differ: &mut Vec<Difference>,
) -> io::Result<Vec<R>> {
    let mut considered = considered();
    while let Some(mut row) = rows.next_of(flow)? {
        if let Some(told) = told {
            row.tell(told, differ);
        }
        considered.offer(row);
    }
    Ok(considered.rows())
}

/// The heaviest rows in order of time.
fn put_listed<R: Item>(out: &mut Vec<u8>, name: &str, flow: &FlowRow, rows: &[R], around: Around<'_>) {
    let mut listed = super::heaviest::heaviest(rows, LISTED);
    listed.sort_by_key(|r| r.start());
    super::put_key(out, name);
    for (i, row) in listed.into_iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        row.put(out, flow, around);
    }
    out.push(b']');
}
