//! The answer as JSON text (docs/json.md), written flow by flow.

pub mod flow;
pub mod lists;
pub mod overview;
pub mod write;

use crate::facts::Facts;
use crate::spool::{ByFlow, Row, Rows, Shelf};
use analysis::rows::*;
use lists::Item;
use std::io::{self, Write};
use wire::Time;
use write::members;

/// The layout that docs/json.md and docs/json.schema.json describe. Counts up when a key changes its meaning.
pub const FORMAT: u32 = 1;

/// Text on its way out; what is written goes on in pieces of about this size.
const PIECE: usize = 256 << 10;

struct Stream<W> {
    out: Vec<u8>,
    to: W,
}

impl<W: Write> Stream<W> {
    fn pass_on(&mut self) -> io::Result<()> {
        if self.out.len() >= PIECE { self.flush() } else { Ok(()) }
    }
    fn flush(&mut self) -> io::Result<()> {
        self.to.write_all(&self.out)?;
        self.out.clear();
        Ok(())
    }
}

/// A flow's lists, read alongside the flows.
struct Lists {
    bursts: ByFlow<BurstRow>,
    episodes: ByFlow<EpisodeRow>,
    idle: ByFlow<IdleRow>,
}

impl Lists {
    fn new(shelf: &Shelf) -> io::Result<Lists> {
        Ok(Lists { bursts: ByFlow::new(shelf)?, episodes: ByFlow::new(shelf)?, idle: ByFlow::new(shelf)? })
    }
}

fn put_head(out: &mut Vec<u8>, facts: &Facts, shelf: &Shelf) {
    members!(out, "",
        "rexmit": env!("CARGO_PKG_VERSION"),
        "format": FORMAT,
        "capture": write::By(|out: &mut Vec<u8>| facts.put(out, &shelf.sums, &shelf.losses())),
        "totals": write::By(|out: &mut Vec<u8>| shelf.sums.put(out, facts.connections)),
    );
}

/// Writes the whole answer. Memory does not depend on how many flows or rows there are.
pub fn write(to: impl Write, facts: &Facts, shelf: &Shelf) -> io::Result<()> {
    let mut s = Stream { out: Vec::with_capacity(PIECE + (64 << 10)), to };
    s.out.push(b'{');
    put_head(&mut s.out, facts, shelf);
    s.out.extend_from_slice(b",\"flows\":[");
    let mut lists = Lists::new(shelf)?;
    let flows: Rows<FlowRow> = shelf.rows()?;
    for (i, row) in flows.enumerate() {
        let row = row?;
        s.out.extend_from_slice(if i == 0 { b"\n{" } else { b",\n{" });
        flow::put_members(&row, &mut s.out, facts.origin);
        put_list(&mut s, "bursts", &mut lists.bursts, row.flow, facts.origin)?;
        put_list(&mut s, "episodes", &mut lists.episodes, row.flow, facts.origin)?;
        put_list(&mut s, "idle", &mut lists.idle, row.flow, facts.origin)?;
        s.out.push(b'}');
        s.pass_on()?;
    }
    s.out.extend_from_slice(b"\n]}\n");
    s.flush()?;
    s.to.flush()
}

fn put_list<R: Row + Item>(
    s: &mut Stream<impl Write>,
    name: &str,
    rows: &mut ByFlow<R>,
    flow: FlowId,
    origin: Time,
) -> io::Result<()> {
    s.out.extend_from_slice(b",\"");
    s.out.extend_from_slice(name.as_bytes());
    s.out.extend_from_slice(b"\":[");
    let mut first = true;
    while let Some(row) = rows.next_of(flow)? {
        if !first {
            s.out.push(b',');
        }
        first = false;
        row.put(&mut s.out, origin);
        s.pass_on()?;
    }
    s.out.push(b']');
    Ok(())
}

#[cfg(test)]
mod tests;
