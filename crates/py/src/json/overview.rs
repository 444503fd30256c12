//! What the terminal page shows: the capture, the totals, and the flows that cost most.

use super::{Lists, flow, put_head};
use crate::facts::Facts;
use crate::spool::{ByFlow, Row, Shelf};
use crate::worst::Worst;
use analysis::rows::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::io;
use wire::Time;

use super::lists::Item;

/// How many bursts, episodes and idle gaps of a flow a page gets: the heaviest, in order of time.
const LISTED: usize = 200;

/// The `top` flows that cost most, the worst first, as JSON.
pub fn write(facts: &Facts, shelf: &Shelf, top: usize) -> io::Result<Vec<u8>> {
    let ids = worst(shelf, top)?;
    let mut flows: BTreeMap<FlowId, Vec<u8>> = ids.iter().map(|id| (*id, Vec::new())).collect();
    let mut lists = Lists::new(shelf)?;
    let mut rows: ByFlow<FlowRow> = ByFlow::new(shelf)?;
    for (id, text) in &mut flows {
        if let Some(row) = rows.next_of(*id)? {
            put_flow(text, &row, &mut lists, facts.origin)?;
        }
    }
    let mut out = vec![b'{'];
    put_head(&mut out, facts, shelf);
    out.extend_from_slice(b",\"flows\":[");
    for (i, id) in ids.iter().enumerate() {
        out.extend_from_slice(if i == 0 { b"\n" } else { b",\n" });
        out.extend_from_slice(&flows[id]);
    }
    out.extend_from_slice(b"\n]}\n");
    Ok(out)
}

fn worst(shelf: &Shelf, top: usize) -> io::Result<Vec<FlowId>> {
    if shelf.worst.covers(top) {
        return Ok(shelf.worst.first(top));
    }
    let mut worst = Worst::of(top);
    for row in shelf.rows::<FlowRow>()? {
        worst.offer(&row?);
    }
    Ok(worst.first(top))
}

fn put_flow(out: &mut Vec<u8>, row: &FlowRow, lists: &mut Lists, origin: Time) -> io::Result<()> {
    out.push(b'{');
    flow::put_members(row, out, origin);
    put_heaviest(out, "bursts", &mut lists.bursts, row.flow, origin)?;
    put_heaviest(out, "episodes", &mut lists.episodes, row.flow, origin)?;
    put_heaviest(out, "idle", &mut lists.idle, row.flow, origin)?;
    out.push(b'}');
    Ok(())
}

/// A row with its weight and its place, for a heap that lets the lightest go.
struct Weighed<R>(i64, Reverse<usize>, R);
impl<R> PartialEq for Weighed<R> {
    fn eq(&self, o: &Self) -> bool {
        (self.0, self.1) == (o.0, o.1)
    }
}
impl<R> Eq for Weighed<R> {}
impl<R> PartialOrd for Weighed<R> {
    fn partial_cmp(&self, o: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(o))
    }
}
impl<R> Ord for Weighed<R> {
    fn cmp(&self, o: &Self) -> std::cmp::Ordering {
        (self.0, self.1).cmp(&(o.0, o.1))
    }
}

fn put_heaviest<R: Row + Item>(
    out: &mut Vec<u8>,
    name: &str,
    rows: &mut ByFlow<R>,
    flow: FlowId,
    origin: Time,
) -> io::Result<()> {
    let mut heap = BinaryHeap::with_capacity(LISTED + 1);
    let mut place = 0;
    while let Some(row) = rows.next_of(flow)? {
        heap.push(Reverse(Weighed(row.weight(), Reverse(place), row)));
        place += 1;
        if heap.len() > LISTED {
            heap.pop();
        }
    }
    let mut kept: Vec<R> = heap.into_iter().map(|w| w.0.2).collect();
    kept.sort_by_key(Item::start);
    out.extend_from_slice(format!(",\"{name}\":[").as_bytes());
    for (i, row) in kept.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        row.put(out, origin);
    }
    out.push(b']');
    Ok(())
}
