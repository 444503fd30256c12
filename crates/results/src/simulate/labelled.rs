//! The tables of the analysis in a simulated run: as those of a capture, and which known outage it was.

use super::tables::{Describe, Lines, Names, RunRows, Visitor};
use crate::spool::merge::Merge;
use crate::spool::{Shelf, Table};
use crate::tables::column::{Column, Columns, MaybeShared, field};
use crate::tables::rows::{BurstColumns, EpisodeColumns};
use crate::tables::{self, Batches, Reader};
use analysis::rows::{BurstRow, EpisodeRow};
use arrow_array::RecordBatch;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_schema::{ArrowError, Schema};
use serde::de::DeserializeOwned;
use std::io;
use std::sync::Arc;

/// The tables of the analysis that say besides which known outage it was; the visitor back if it is none of them.
pub(crate) fn visit_labelled<V: Visitor>(table: Table, visitor: V) -> Result<V::Out, V> {
    Ok(match table {
        Table::Bursts => {
            visitor.visit::<BurstRow, Labelled<BurstColumns>>(|n, row| (n.outages.of_burst(&row), row))
        }
        Table::Episodes => {
            visitor.visit::<EpisodeRow, Labelled<EpisodeColumns>>(|n, row| (n.outages.of_episode(&row), row))
        }
        _ => return Err(visitor),
    })
}

/// A table that the analysis found in this run.
pub fn found(shelf: &Shelf, run_rows: &RunRows, table: Table) -> io::Result<FFI_ArrowArrayStream> {
    let merge = shelf.records(table)?;
    match visit_labelled(table, ReadFound(merge, Arc::clone(run_rows.names()))) {
        Ok(reader) => Ok(FFI_ArrowArrayStream::new(reader)),
        Err(_) => tables::stream(shelf, table).map_err(io::Error::other),
    }
}

pub fn found_schema(table: Table) -> Schema {
    visit_labelled(table, Describe).unwrap_or_else(|_| tables::schema(table))
}

struct ReadFound(Merge, Arc<Names>);

impl Visitor for ReadFound {
    type Out = Reader;
    fn visit<R, C>(self, line: fn(&Names, R) -> C::Row) -> Reader
    where
        R: DeserializeOwned + Send + 'static,
        C: Columns,
    {
        Box::new(Batches::<C, _>::of(Lines::new(self.0, &self.1, line)))
    }
}

/// A table's columns, and the outage.
struct Labelled<C> {
    row: C,
    outage: MaybeShared,
    row_schema: Arc<Schema>,
}

impl<C: Columns> Default for Labelled<C> {
    fn default() -> Labelled<C> {
        Labelled { row: C::default(), outage: MaybeShared::default(), row_schema: Arc::new(C::schema()) }
    }
}

impl<C: Columns> Columns for Labelled<C> {
    type Row = (Option<Arc<str>>, C::Row);
    fn schema() -> Schema {
        let mut fields: Vec<_> = C::schema().fields().iter().cloned().collect();
        fields.push(Arc::new(field::<MaybeShared>("outage")));
        Schema::new(fields)
    }
    #[inline]
    fn push(&mut self, (outage, row): (Option<Arc<str>>, C::Row)) {
        self.outage.push(outage);
        self.row.push(row);
    }
    fn take(&mut self, schema: &Arc<Schema>) -> Result<RecordBatch, ArrowError> {
        let row = self.row.take(&self.row_schema)?;
        let mut columns = row.columns().to_vec();
        columns.push(self.outage.take());
        RecordBatch::try_new(Arc::clone(schema), columns)
    }
}
