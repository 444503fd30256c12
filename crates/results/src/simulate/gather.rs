//! The rows of many runs, kept by run: one table of each kind for all of them, in little memory whatever their number.

use super::labelled;
use super::tables::{self as own, Names, RunTable};
use super::{At, Played, Request, Wish};
use crate::run::Findings;
use crate::spool::codec::decode;
use crate::spool::merge::Merge;
use crate::spool::store::{Sealed, Store};
use crate::spool::{Listing, Row, Table};
use crate::tables::column::{Column, Columns, Int, Seed, field};
use crate::tables::{self, Batches, Reader};
use analysis::Config;
use arrow_array::RecordBatch;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_schema::{ArrowError, Field, Schema};
use scenario::model::{Record, Scenario};
use serde::de::DeserializeOwned;
use std::io;
use std::sync::Arc;

/// A table of the analysis or one of the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnyTable {
    Found(Table),
    Own(RunTable),
}

impl AnyTable {
    /// Its rows have numbers in the place of names that each run has its own of.
    fn has_names(self) -> bool {
        matches!(self, AnyTable::Own(_) | AnyTable::Found(Table::Bursts | Table::Episodes))
    }
    pub fn name(self) -> &'static str {
        match self {
            AnyTable::Found(table) => table.name(),
            AnyTable::Own(table) => table.name(),
        }
    }
}

/// What is kept of each run besides its counts.
#[derive(Clone, Debug)]
pub struct Keep {
    pub at: At,
    pub config: Config,
    pub tables: Vec<AnyTable>,
    pub wish: Wish,
    /// Bytes that each run may take.
    pub max_memory: Option<u64>,
}

impl Keep {
    pub fn request(&self, scenario: &Scenario, seed: u64) -> Request {
        let mut scenario = scenario.clone();
        let asked = std::mem::take(&mut scenario.record);
        // Only what is asked for is recorded, of what the scenario narrows it down to.
        scenario.record = Record {
            state: if self.wish.state { asked.state } else { Vec::new() },
            queues: if self.wish.queues { asked.queues } else { Vec::new() },
            ..Record::default()
        };
        // What only the simulator knows is the same from wherever the packets are seen: one pass is enough.
        let is_analysed = self.tables.iter().any(|t| matches!(t, AnyTable::Found(_)));
        let at = if is_analysed { self.at } else { At::Sender };
        let (config, listing) = (self.config.clone(), Listing::default());
        let max_memory = self.max_memory;
        Request { scenario, seed, at, config, listing, wish: self.wish, captures: None, max_memory }
    }
}

/// Takes the rows of runs as they end, in any order.
pub struct Gather {
    shelves: Vec<(AnyTable, Store)>,
    /// By the run's place in the plan, where the simulator's tables are kept.
    names: Vec<Option<Arc<Names>>>,
    complaints: Vec<String>,
}

impl Gather {
    pub fn new(keep: &Keep, runs: usize) -> Gather {
        let shelves = keep.tables.iter().map(|table| (*table, Store::default())).collect();
        let named = keep.tables.iter().any(|t| t.has_names());
        Gather { shelves, names: vec![None; if named { runs } else { 0 }], complaints: Vec::new() }
    }
    pub fn take(&mut self, place: usize, found: &Findings, played: &Played) -> io::Result<()> {
        for (table, store) in &mut self.shelves {
            let mut records = match *table {
                AnyTable::Found(table) => found.shelf.records(table)?,
                AnyTable::Own(table) => played.run_rows.records(table)?,
            };
            while let Some((_, record)) = records.next()? {
                store.push(place as u32, |bytes| bytes.extend_from_slice(record));
            }
        }
        if let Some(names) = self.names.get_mut(place) {
            *names = Some(Arc::clone(played.run_rows.names()));
        }
        let seed = played.report.seed;
        let incomplete = found.shelf.losses().into_iter().chain(played.run_rows.complaints());
        self.complaints.extend(incomplete.map(|said| format!("seed {seed}: {said}")));
        Ok(())
    }
    /// `places`: where each run of the plan stands among those that are done.
    pub fn seal(self, places: Vec<Option<Place>>) -> Gathered {
        let shelves: Vec<(AnyTable, Sealed)> =
            self.shelves.into_iter().map(|(table, store)| (table, store.seal())).collect();
        let mut complaints = self.complaints;
        complaints.extend(shelves.iter().filter_map(|(table, store)| {
            let (error, lost) = store.loss()?;
            let (name, why) = (table.name(), capture::sentence(error));
            Some(format!("table {name}: {lost} rows of the last runs could not be kept ({why})"))
        }));
        Gathered { shelves, places: places.into(), names: self.names.into(), complaints }
    }
}

/// A run: which it is, of which variant of the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub run: usize,
    pub variant: usize,
    pub seed: u64,
}

/// The rows of runs that are over, in the order of the runs.
pub struct Gathered {
    shelves: Vec<(AnyTable, Sealed)>,
    places: Arc<[Option<Place>]>,
    names: Arc<[Option<Arc<Names>>]>,
    /// Sentences about rows that the disk could not take.
    pub complaints: Vec<String>,
}

impl Gathered {
    /// The table of this name, if it was kept.
    pub fn named(&self, name: &str) -> Option<AnyTable> {
        self.shelves.iter().map(|(table, _)| *table).find(|table| table.name() == name)
    }
    fn store(&self, table: AnyTable) -> io::Result<&Sealed> {
        let found = self.shelves.iter().find(|(kept, _)| *kept == table);
        found.map(|(_, store)| store).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
    pub fn rows(&self, table: AnyTable) -> u64 {
        self.store(table).map_or(0, Sealed::rows)
    }
    /// A table as a stream of the Arrow C interface.
    pub fn stream(&self, table: AnyTable) -> io::Result<FFI_ArrowArrayStream> {
        self.reader(table).map(FFI_ArrowArrayStream::new)
    }
    fn reader(&self, table: AnyTable) -> io::Result<Reader> {
        let merge = self.store(table)?.read()?;
        let read = Read { merge, places: Arc::clone(&self.places), names: Arc::clone(&self.names) };
        Ok(match table {
            AnyTable::Found(table) => match labelled::visit_labelled(table, read) {
                Ok(reader) => reader,
                Err(read) => tables::visit(table, read),
            },
            AnyTable::Own(table) => own::visit(table, read),
        })
    }
}

pub fn schema(table: AnyTable) -> Schema {
    prefixed(&match table {
        AnyTable::Found(table) => labelled::found_schema(table),
        AnyTable::Own(table) => own::schema(table),
    })
}

/// Opens a table of whichever kind.
struct Read {
    merge: Merge,
    places: Arc<[Option<Place>]>,
    names: Arc<[Option<Arc<Names>>]>,
}

impl tables::Visitor for Read {
    type Out = Reader;
    fn visit<C: Columns>(self) -> Reader
    where
        C::Row: Row,
    {
        let row = |_: usize, bytes: &[u8]| decode(bytes);
        Box::new(Batches::<OfRun<C>, _>::of(Lines { merge: self.merge, places: self.places, row }))
    }
}

impl own::Visitor for Read {
    type Out = Reader;
    fn visit<R, C>(self, line: fn(&Names, R) -> C::Row) -> Reader
    where
        R: DeserializeOwned + Send + 'static,
        C: Columns,
    {
        let (names, unknown) = (self.names, Names::default());
        let row = move |place: usize, bytes: &[u8]| {
            let names = names.get(place).and_then(Option::as_deref).unwrap_or(&unknown);
            decode(bytes).map(|row| line(names, row))
        };
        Box::new(Batches::<OfRun<C>, _>::of(Lines { merge: self.merge, places: self.places, row }))
    }
}

/// Rows read back, each with its run.
struct Lines<F> {
    merge: Merge,
    places: Arc<[Option<Place>]>,
    row: F,
}

impl<F: Fn(usize, &[u8]) -> io::Result<L>, L> Iterator for Lines<F> {
    type Item = io::Result<(Place, L)>;
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (at, bytes) = match self.merge.next() {
                Ok(record) => record?,
                Err(e) => return Some(Err(e)),
            };
            if let Some(Some(place)) = self.places.get(at as usize) {
                return Some((self.row)(at as usize, bytes).map(|row| (*place, row)));
            }
        }
    }
}

/// A table's columns behind those that say of which run a row is.
struct OfRun<C> {
    run: Int,
    variant: Int,
    seed: Seed,
    row: C,
    row_schema: Arc<Schema>,
}

impl<C: Columns> Default for OfRun<C> {
    fn default() -> OfRun<C> {
        let (run, variant, seed) = Default::default();
        OfRun { run, variant, seed, row: C::default(), row_schema: Arc::new(C::schema()) }
    }
}

impl<C: Columns> Columns for OfRun<C> {
    type Row = (Place, C::Row);
    fn schema() -> Schema {
        prefixed(&C::schema())
    }
    #[inline]
    fn push(&mut self, (place, row): (Place, C::Row)) {
        self.run.push(place.run as i64);
        self.variant.push(place.variant as i64);
        self.seed.push(place.seed);
        self.row.push(row);
    }
    fn take(&mut self, schema: &Arc<Schema>) -> Result<RecordBatch, ArrowError> {
        let row = self.row.take(&self.row_schema)?;
        let mut columns = vec![self.run.take(), self.variant.take(), self.seed.take()];
        columns.extend_from_slice(row.columns());
        RecordBatch::try_new(Arc::clone(schema), columns)
    }
}

fn prefixed(row: &Schema) -> Schema {
    let mut fields: Vec<Arc<Field>> =
        [field::<Int>("run"), field::<Int>("variant"), field::<Seed>("seed")].map(Arc::new).into();
    fields.extend(row.fields().iter().cloned());
    Schema::new(fields)
}
