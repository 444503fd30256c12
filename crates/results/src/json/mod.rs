//! The answer as JSON text (docs/json.md), written flow by flow.

pub mod answer;
pub mod flow;
pub mod heaviest;
pub mod lists;
pub mod overview;
mod told;
pub mod write;

use crate::facts::Facts;
use crate::simulate::outages::Labels;
use crate::spool::{ByFlow, Row, Rows, Shelf, Table};
use crate::told::{Difference, Told};
use analysis::rows::*;
use answer::Answers;
use lists::{Around, Item};
use std::io::{self, Write};
use write::members;

/// The layout that docs/json.md and docs/json.schema.json describe. Counts up when a key changes its meaning.
pub const FORMAT: u32 = 2;

/// Text on its way out; what is written goes on in pieces of about this size.
const PIECE: usize = 256 << 10;

struct Stream<W> {
    out: Vec<u8>,
    to: W,
}

impl<W: Write> Stream<W> {
    fn pass_on(&mut self) -> io::Result<()> {
        if self.out.len() >= PIECE {
            self.flush()?;
        }
        Ok(())
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

/// The flows that are listed, in order of their ids.
enum Flows {
    All(Rows<FlowRow>),
    Chosen(ByFlow<FlowRow>, std::vec::IntoIter<FlowId>),
}

impl Flows {
    fn new(shelf: &Shelf) -> io::Result<Flows> {
        Ok(match shelf.listed() {
            None => Flows::All(shelf.rows()?),
            Some(flows) => Flows::Chosen(ByFlow::new(shelf)?, flows.into_iter()),
        })
    }
    fn how_many(&self, shelf: &Shelf) -> u64 {
        match self {
            Flows::All(_) => shelf.len(Table::Flows),
            Flows::Chosen(_, flows) => flows.len() as u64,
        }
    }
}

impl Iterator for Flows {
    type Item = io::Result<FlowRow>;
    fn next(&mut self) -> Option<io::Result<FlowRow>> {
        match self {
            Flows::All(rows) => rows.next(),
            // A flow whose row the disk did not take is passed over; a warning counts these.
            Flows::Chosen(rows, flows) => flows.find_map(|flow| rows.next_of(flow).transpose()),
        }
    }
}

fn put_listed_count(out: &mut Vec<u8>, listed: u64, shelf: &Shelf) {
    members!(out, ",",
        "flows_listed": listed,
        "flows_left_out": shelf.sums.flows.saturating_sub(listed),
    );
}

fn put_head(out: &mut Vec<u8>, facts: &Facts, shelf: &Shelf) {
    members!(out, "",
        "rexmit": env!("CARGO_PKG_VERSION"),
        "format": FORMAT,
        "capture": write::By(|out: &mut Vec<u8>| facts.put(out, &shelf.sums, &shelf.losses())),
        "totals": write::By(|out: &mut Vec<u8>| shelf.sums.put(out, facts.connections)),
    );
    if let Some(simulation) = &facts.simulation {
        members!(out, ",", "simulation": write::Raw(simulation));
    }
}

/// What is known beside the packets: the outages of a run, or what the kernels of a recording told.
#[derive(Clone, Copy, Default)]
pub struct Beside<'a> {
    pub outages: Option<&'a Labels>,
    pub told: Option<&'a Told>,
}

impl<'a> Beside<'a> {
    fn around(self, facts: &'a Facts) -> Around<'a> {
        let Beside { outages, told } = self;
        Around { origin: facts.origin, outages, told }
    }
}

/// Writes the whole answer. Memory does not depend on how many flows or rows there are.
pub fn write(to: impl Write, facts: &Facts, shelf: &Shelf, beside: Beside<'_>) -> io::Result<()> {
    let around = beside.around(facts);
    let mut s = Stream { out: Vec::with_capacity(PIECE + (64 << 10)), to };
    s.out.push(b'{');
    put_head(&mut s.out, facts, shelf);
    let flows = Flows::new(shelf)?;
    put_listed_count(&mut s.out, flows.how_many(shelf), shelf);
    s.out.extend_from_slice(b",\"flows\":[");
    let mut lists = Lists::new(shelf)?;
    let mut answers = Answers::of(shelf, facts, beside.told)?;
    for (i, row) in flows.enumerate() {
        let mut row = row?;
        let told = around.told.and_then(|told| told.of(row.flow));
        let mut differ = Vec::new();
        if let Some(told) = told {
            told.flow(&mut row);
        }
        s.out.extend_from_slice(if i == 0 { b"\n{" } else { b",\n{" });
        flow::put_members(&row, facts.like_of(row.flow), &mut s.out, facts.origin);
        let read = answers.read(&row)?;
        let (bursts, episodes, idle) =
            (read.map(|d| &d.bursts), read.map(|d| &d.episodes), read.map(|d| &d.idle));
        put_list(&mut s, "bursts", bursts, &mut lists.bursts, &row, around, &mut differ)?;
        put_list(&mut s, "episodes", episodes, &mut lists.episodes, &row, around, &mut differ)?;
        put_list(&mut s, "idle", idle, &mut lists.idle, &row, around, &mut differ)?;
        answers.put(&mut s.out, &row);
        told::put(&mut s.out, told, &differ, around.origin);
        s.out.push(b'}');
        s.pass_on()?;
    }
    s.out.extend_from_slice(b"\n]}\n");
    s.flush()?;
    s.to.flush()
}

/// Writes a list: what was `read` of it, or `rows`.
fn put_list<R: Row + Item>(
    s: &mut Stream<impl Write>,
    name: &str,
    read: Option<&Vec<R>>,
    rows: &mut ByFlow<R>,
    flow: &FlowRow,
    around: Around<'_>,
    differ: &mut Vec<Difference>,
) -> io::Result<()> {
    put_key(&mut s.out, name);
    let mut first = true;
    let mut put = |row: &R| {
        if !first {
            s.out.push(b',');
        }
        first = false;
        row.put(&mut s.out, flow, around);
        s.pass_on()
    };
    let told = around.told.and_then(|told| told.of(flow.flow));
    match read {
        Some(read) => read.iter().try_for_each(put)?,
        None => {
            while let Some(mut row) = rows.next_of(flow.flow)? {
                if let Some(told) = told {
                    row.tell(told, differ);
                }
                put(&row)?;
            }
        }
    }
    s.out.push(b']');
    Ok(())
}

fn put_key(out: &mut Vec<u8>, list: &str) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(list.as_bytes());
    out.extend_from_slice(b"\":[");
}

#[cfg(test)]
mod tests;
