//! The sink that keeps rows: by flow, in little memory whatever their number, to be read as often as wanted.

pub mod codec;
#[cfg_attr(target_arch = "wasm32", path = "disk_in_memory.rs")]
mod disk;
pub mod merge;
mod narrow;
pub mod parts;
pub mod store;

use crate::sums::Sums;
use crate::worst::Worst;
use analysis::paths::{Paths, Stretch};
use analysis::rows::*;
use analysis::{Flows, Sink, Wanted};
use codec::{append, decode};
use narrow::Narrow;
use std::io;
use std::marker::PhantomData;
use store::{Sealed, Store};
use wire::{Host, Time};

/// Declares a set of tables, each with its name, in the order in which they are documented.
macro_rules! tables {
    ($set:ident { $($table:ident = $name:literal),* $(,)? }) => {
        $crate::names::named! {
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            $set { $($table = $name),* }
        }
        impl $set {
            pub const ALL: [$set; [$($name),*].len()] = [$($set::$table),*];
            pub fn named(name: &str) -> Option<$set> {
                $set::ALL.into_iter().find(|t| t.name() == name)
            }
        }
    };
}
pub(crate) use tables;

tables! { Table {
    Flows = "flows", Bursts = "bursts", Episodes = "episodes", Retransmissions = "retransmissions", Probes = "probes",
    Idle = "idle", Rounds = "rounds", Waits = "waits", Intervals = "intervals", Rtt = "rtt", Packets = "packets",
} }

const TABLES: usize = Table::ALL.len();

impl Table {
    /// Whether it is kept only on demand, because it costs a row per packet or per ACK.
    fn is_kept(self, wanted: Wanted) -> bool {
        match self {
            Table::Retransmissions => wanted.retransmissions,
            Table::Intervals => wanted.intervals,
            Table::Rtt => wanted.rtts,
            Table::Packets => wanted.packets,
            _ => true,
        }
    }
}

/// A row that a table holds.
pub trait Row: serde::Serialize + serde::de::DeserializeOwned + Send + 'static {
    const TABLE: Table;
    fn flow(&self) -> FlowId;
    /// Gives it another number: a part of an analysis counts its flows by itself.
    fn set_flow(&mut self, flow: FlowId);
    /// A row of `flow` as a store gives it back.
    fn read(flow: FlowId, record: &[u8]) -> io::Result<Self> {
        let mut row: Self = decode(record)?;
        row.set_flow(flow);
        Ok(row)
    }
}

macro_rules! rows {
    ($($row:ident in $table:ident),* $(,)?) => {$(
        impl Row for $row {
            const TABLE: Table = Table::$table;
            fn flow(&self) -> FlowId {
                self.flow
            }
            fn set_flow(&mut self, flow: FlowId) {
                self.flow = flow;
            }
        }
    )*};
}
rows! {
    FlowRow in Flows, BurstRow in Bursts, EpisodeRow in Episodes, RetransmissionRow in Retransmissions,
    ProbeRow in Probes, IdleRow in Idle, IntervalRow in Intervals, RttRow in Rtt, PacketRow in Packets,
    RoundRow in Rounds, WaitRow in Waits,
}

/// Of which flows there is to be more than sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// How many flows the JSON lists at most: the worst. `None`: all.
    pub most: Option<usize>,
    /// Keep rows for nothing but that.
    pub only: bool,
}

/// Keeps the rows of an analysis while it runs, and sums and ranks its flows as they end.
pub struct Spool {
    stores: [Store; TABLES],
    wanted: Wanted,
    listing: Listing,
    sums: Sums,
    worst: Worst,
    pub(crate) paths: Paths,
    narrow: Option<Narrow>,
}

impl Spool {
    pub fn new(wanted: Wanted) -> Spool {
        Spool::listing(wanted, Listing::default())
    }
    pub fn listing(wanted: Wanted, listing: Listing) -> Spool {
        // Where all flows are listed nothing is narrowed down.
        let narrow = (listing.only && listing.most.is_some()).then(Narrow::new);
        Spool {
            stores: std::array::from_fn(|_| Store::default()),
            wanted,
            listing,
            sums: Sums::default(),
            worst: Worst::at_least(listing.most.unwrap_or(0)),
            paths: Paths::default(),
            narrow,
        }
    }
    pub(crate) fn keep<R: Row>(&mut self, row: &R) {
        // What is narrowed down keeps what the JSON lists in its own way, and nothing else.
        if self.narrow.is_none() && R::TABLE.is_kept(self.wanted) {
            self.stores[R::TABLE as usize].push(row.flow(), |bytes| append(bytes, row));
        }
    }
    /// Ends the taking.
    pub fn seal(mut self) -> Shelf {
        if let Some(narrow) = &mut self.narrow {
            narrow.settle(&mut self.stores);
        }
        let stores = self.stores.map(Store::seal);
        Shelf {
            stores,
            wanted: self.wanted,
            listing: self.listing,
            narrowed: self.narrow.is_some(),
            sums: self.sums,
            worst: self.worst,
            paths: self.paths,
            far: None,
        }
    }
}

impl Sink for Spool {
    fn wants_all(&self, counts: &Flows) -> bool {
        self.narrow.is_none() || counts.iter().flatten().any(|row| self.worst.takes(row))
    }
    fn connection(&mut self, flows: &Flows) {
        flows.iter().flatten().for_each(|row| self.sums.add(row));
        match &mut self.narrow {
            Some(narrow) => narrow.connection(flows, &mut self.worst, &mut self.stores),
            None => {
                for row in flows.iter().flatten() {
                    self.worst.offer(row);
                    self.keep(row);
                }
            }
        }
    }
    /// A connection of which one direction was seen.
    fn flow(&mut self, row: &FlowRow) {
        self.connection(&[Some(row.clone()), None]);
    }
    fn burst(&mut self, row: BurstRow) {
        match &mut self.narrow {
            Some(narrow) => narrow.burst(row, &mut self.stores),
            None => self.keep(&row),
        }
    }
    fn episode(&mut self, row: EpisodeRow) {
        match &mut self.narrow {
            Some(narrow) => narrow.episode(row, &mut self.stores),
            None => self.keep(&row),
        }
    }
    fn retransmission(&mut self, row: RetransmissionRow) {
        self.keep(&row);
    }
    fn probe(&mut self, row: ProbeRow) {
        self.keep(&row);
    }
    fn idle(&mut self, row: IdleRow) {
        match &mut self.narrow {
            Some(narrow) => narrow.idle(row, &mut self.stores),
            None => self.keep(&row),
        }
    }
    fn round(&mut self, row: RoundRow) {
        match &mut self.narrow {
            Some(narrow) => narrow.keep(&row, &mut self.stores),
            None => self.keep(&row),
        }
    }
    fn wait(&mut self, row: WaitRow) {
        match &mut self.narrow {
            Some(narrow) => narrow.keep(&row, &mut self.stores),
            None => self.keep(&row),
        }
    }
    fn stretch(&mut self, path: (Host, Host), stretch: &Stretch) {
        self.paths.add(path, stretch);
    }
    fn lost(&mut self, path: (Host, Host), time: Time, copies: u64) {
        self.paths.lose(path, time, copies);
    }
    fn begun(&mut self, origin: Time) {
        self.paths.begun(origin);
    }
    fn interval(&mut self, row: IntervalRow) {
        self.keep(&row);
    }
    fn rtt(&mut self, row: RttRow) {
        self.keep(&row);
    }
    fn packet(&mut self, row: PacketRow) {
        self.keep(&row);
    }
}

/// The rows of an analysis that has ended.
pub struct Shelf {
    stores: [Sealed; TABLES],
    wanted: Wanted,
    listing: Listing,
    /// Rows of the listed flows only: no table is whole.
    narrowed: bool,
    pub sums: Sums,
    pub worst: Worst,
    pub paths: Paths,
    /// What a second capture shows of the same flows, under the same numbers ([`crate::far`]).
    pub far: Option<Box<Shelf>>,
}

impl Shelf {
    pub fn holds(&self, table: Table) -> bool {
        !self.narrowed && table.is_kept(self.wanted)
    }
    pub fn is_narrowed(&self) -> bool {
        self.narrowed
    }
    /// The flows that the JSON lists, in order; `None`: all of them.
    pub fn listed(&self) -> Option<Vec<FlowId>> {
        let most = self.listing.most.filter(|most| (*most as u64) < self.sums.flows)?;
        let mut flows = self.worst.first(most);
        flows.sort_unstable();
        Some(flows)
    }
    pub fn len(&self, table: Table) -> u64 {
        self.stores[table as usize].rows()
    }
    /// The rows of a table in order of flow; within a flow as the analysis gave them.
    pub fn rows<R: Row>(&self) -> io::Result<Rows<R>> {
        Rows::new(&self.stores[R::TABLE as usize])
    }
    /// The same, undecoded.
    pub fn records(&self, table: Table) -> io::Result<merge::Merge> {
        self.stores[table as usize].read()
    }
    /// Puts the rows that another spool has taken in the place of these.
    pub fn replace<R: Row>(&mut self, by: Spool) {
        let mut stores = by.stores;
        self.stores[R::TABLE as usize] = std::mem::take(&mut stores[R::TABLE as usize]).seal();
    }
    /// Sentences about rows that the disk could not take.
    pub fn losses(&self) -> Vec<String> {
        let told = |table: Table| self.stores[table as usize].complaint(table.name());
        Table::ALL.into_iter().filter_map(told).collect()
    }
}

/// Reads the rows of one table.
pub struct Rows<R> {
    merge: merge::Merge,
    row: PhantomData<R>,
}

impl<R: Row> Rows<R> {
    fn new(store: &Sealed) -> io::Result<Rows<R>> {
        Ok(Rows { merge: store.read()?, row: PhantomData })
    }
}

impl<R: Row> Iterator for Rows<R> {
    type Item = io::Result<R>;
    fn next(&mut self) -> Option<io::Result<R>> {
        match self.merge.next() {
            Ok(record) => record.map(|(flow, bytes)| R::read(flow, bytes)),
            Err(e) => Some(Err(e)),
        }
    }
}

/// Reads a table alongside another one, a flow at a time.
pub struct ByFlow<R> {
    merge: merge::Merge,
    /// A record read ahead: it belongs to a later flow than the one asked for.
    ahead: Option<(FlowId, Vec<u8>)>,
    ended: bool,
    row: PhantomData<R>,
}

impl<R: Row> ByFlow<R> {
    pub fn new(shelf: &Shelf) -> io::Result<ByFlow<R>> {
        let merge = shelf.stores[R::TABLE as usize].read()?;
        Ok(ByFlow { merge, ahead: None, ended: false, row: PhantomData })
    }
    /// The next row of `flow`, `None` after its last. Flows are asked for in rising order; the rows of those
    /// passed over are skipped.
    pub fn next_of(&mut self, flow: FlowId) -> io::Result<Option<R>> {
        match &self.ahead {
            Some((f, _)) if *f > flow => return Ok(None),
            Some((f, bytes)) if *f == flow => {
                let row = R::read(flow, bytes);
                self.ahead = None;
                return row.map(Some);
            }
            _ => self.ahead = None,
        }
        while !self.ended {
            let Some((f, bytes)) = self.merge.next()? else { break };
            if f > flow {
                self.ahead = Some((f, bytes.to_vec()));
                return Ok(None);
            }
            if f == flow {
                return R::read(flow, bytes).map(Some);
            }
        }
        self.ended = true;
        Ok(None)
    }
}

#[cfg(test)]
mod tests;
