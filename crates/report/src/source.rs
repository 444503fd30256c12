//! One capture as a source of a page: its tables, by flow.

use crate::detail::Lists;
use crate::held;
use crate::judged::judge;
use crate::members::Members;
use crate::packets::Packets;
use crate::round_trips::RoundTrips;
use analysis::rows::{FlowId, PacketRow, RetransmissionRow, RttRow};
use results::json::{Beside, overview};
use results::run::Findings;
use results::spool::{ByFlow, Row, Shelf};
use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::Range;
use wire::Time;

pub struct Source<'a> {
    pub found: &'a Findings,
    /// Its place among the sources of a page.
    pub number: usize,
    pub origin: Time,
    /// Of the flows that the page tells everything of.
    lists: HashMap<FlowId, Lists>,
    repeated: HashMap<FlowId, Vec<RetransmissionRow>>,
    pub trips: RoundTrips,
    trips_of: HashMap<FlowId, Range<usize>>,
    packets_of: HashMap<FlowId, usize>,
    none: Lists,
}

/// All rows of some flows.
fn gathered<R: Row>(shelf: &Shelf, of: &HashSet<FlowId>, mut put: impl FnMut(FlowId, R)) -> io::Result<()> {
    for row in shelf.rows::<R>()? {
        let row = row?;
        if of.contains(&row.flow()) {
            put(row.flow(), row);
        }
    }
    Ok(())
}

impl<'a> Source<'a> {
    /// flows: those that the page tells everything of.
    pub fn of(found: &'a Findings, number: usize, flows: &[FlowId]) -> io::Result<Source<'a>> {
        let (shelf, origin) = (&found.shelf, found.facts.origin);
        let of: HashSet<FlowId> = flows.iter().copied().collect();
        let mut lists: HashMap<FlowId, Lists> = HashMap::new();
        gathered(shelf, &of, |flow, row| lists.entry(flow).or_default().episodes.push(row))?;
        gathered(shelf, &of, |flow, row| lists.entry(flow).or_default().bursts.push(row))?;
        gathered(shelf, &of, |flow, row| lists.entry(flow).or_default().idle.push(row))?;
        gathered(shelf, &of, |flow, row| lists.entry(flow).or_default().intervals.push(row))?;
        let mut repeated: HashMap<FlowId, Vec<RetransmissionRow>> = HashMap::new();
        gathered(shelf, &of, |flow, row| repeated.entry(flow).or_default().push(row))?;
        let (mut trips, mut trips_of) = (RoundTrips::default(), HashMap::new());
        gathered(shelf, &of, |flow, row: RttRow| {
            let at = trips.size();
            trips.push(&row, origin);
            trips_of.entry(flow).or_insert(at..at).end = at + 1;
        })?;
        let mut packets_of = HashMap::new();
        for row in shelf.rows::<PacketRow>()? {
            *packets_of.entry(row?.flow).or_insert(0) += 1;
        }
        Ok(Source {
            found,
            number,
            origin,
            lists,
            repeated,
            trips,
            trips_of,
            packets_of,
            none: Lists::default(),
        })
    }

    pub fn packets_of(&self, flow: FlowId) -> usize {
        self.packets_of.get(&flow).copied().unwrap_or(0)
    }
    pub fn trips_of(&self, flow: FlowId) -> Range<usize> {
        self.trips_of.get(&flow).cloned().unwrap_or(0..0)
    }
    pub fn lists_of(&self, flow: FlowId) -> &Lists {
        self.lists.get(&flow).unwrap_or(&self.none)
    }
    pub fn repeated_of(&self, flow: FlowId) -> &[RetransmissionRow] {
        self.repeated.get(&flow).map_or(&[], Vec::as_slice)
    }

    /// The packets of some flows, with all that is known of each; flow after flow in order of their numbers.
    pub fn each(
        &self,
        flows: &[FlowId],
        mut visit: impl FnMut(FlowId, Packets) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut flows = flows.to_vec();
        flows.sort_unstable();
        let mut rows = ByFlow::new(&self.found.shelf)?;
        for flow in flows {
            let mut packets = Packets::default();
            held::read(&mut rows, flow, self.origin, &mut packets)?;
            let all = 0..packets.size();
            let lists = self.lists_of(flow);
            judge(&mut packets, all, self.origin, &lists.bursts, &lists.episodes, self.repeated_of(flow));
            visit(flow, packets)?;
        }
        Ok(())
    }

    /// The flow of each number as docs/json.md has it.
    pub fn told(&self, flows: &[FlowId]) -> io::Result<HashMap<FlowId, Members>> {
        let (facts, shelf) = (&self.found.facts, &self.found.shelf);
        let texts = overview::flows(facts, shelf, Beside::default(), flows)?;
        let told = texts.into_iter().filter(|(_, text)| !text.is_empty());
        told.map(|(flow, text)| Ok((flow, Members::of(&text)?))).collect()
    }
}
