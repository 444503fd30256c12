//! Tables as Arrow: batches straight from the spool, never all at once.

pub mod column;
pub mod flows;
pub mod rows;

use crate::connections::{CauseRow, OwnerRow};
use crate::spool::{Row, Shelf, Table};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use column::Columns;
use std::io;
use std::sync::Arc;

/// Rows in a batch: enough that a reader's per-batch work does not count, few enough to stay small.
const BATCH: usize = 16_384;

/// A table read from the beginning, batch by batch.
pub(crate) struct Batches<C, I> {
    rows: I,
    columns: C,
    schema: SchemaRef,
}

impl<C: Columns, I: Iterator<Item = io::Result<C::Row>>> Batches<C, I> {
    pub fn of(rows: I) -> Batches<C, I> {
        Batches { rows, columns: C::default(), schema: Arc::new(C::schema()) }
    }
    fn batch(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let mut n = 0;
        for row in self.rows.by_ref().take(BATCH) {
            self.columns.push(row?);
            n += 1;
        }
        if n == 0 { Ok(None) } else { self.columns.take(&self.schema).map(Some) }
    }
}

impl<C: Columns, I: Iterator<Item = io::Result<C::Row>>> Iterator for Batches<C, I> {
    type Item = Result<RecordBatch, ArrowError>;
    fn next(&mut self) -> Option<Self::Item> {
        self.batch().transpose()
    }
}

impl<C: Columns, I: Iterator<Item = io::Result<C::Row>>> RecordBatchReader for Batches<C, I> {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

pub(crate) type Reader = Box<dyn RecordBatchReader + Send>;

/// What is done with a table of the analysis, whichever it is.
pub(crate) trait Visitor {
    type Out;
    fn visit<C: Columns>(self) -> Self::Out
    where
        C::Row: Row;
}

pub(crate) fn visit<V: Visitor>(table: Table, visitor: V) -> V::Out {
    match table {
        Table::Flows => visitor.visit::<flows::FlowColumns>(),
        Table::Bursts => visitor.visit::<rows::BurstColumns>(),
        Table::Episodes => visitor.visit::<rows::EpisodeColumns>(),
        Table::Retransmissions => visitor.visit::<rows::RetransmissionColumns>(),
        Table::Probes => visitor.visit::<rows::ProbeColumns>(),
        Table::Idle => visitor.visit::<rows::IdleColumns>(),
        Table::Intervals => visitor.visit::<rows::IntervalColumns>(),
        Table::Rtt => visitor.visit::<rows::RttColumns>(),
        Table::Packets => visitor.visit::<rows::PacketColumns>(),
        Table::Rounds => visitor.visit::<rows::RoundColumns>(),
        Table::Waits => visitor.visit::<rows::WaitColumns>(),
    }
}

struct Read<'a>(&'a Shelf);

impl Visitor for Read<'_> {
    type Out = Result<Reader, ArrowError>;
    fn visit<C: Columns>(self) -> Self::Out
    where
        C::Row: Row,
    {
        Ok(Box::new(Batches::<C, _>::of(self.0.rows()?)))
    }
}

struct Describe;

impl Visitor for Describe {
    type Out = Schema;
    fn visit<C: Columns>(self) -> Schema {
        C::schema()
    }
}

/// Some rows as one batch.
pub fn batch<C: Columns>(rows: impl IntoIterator<Item = C::Row>) -> Result<RecordBatch, ArrowError> {
    let mut columns = C::default();
    rows.into_iter().for_each(|row| columns.push(row));
    columns.take(&Arc::new(C::schema()))
}

/// A table's batches.
pub(crate) fn reader(shelf: &Shelf, table: Table) -> Result<Reader, ArrowError> {
    visit(table, Read(shelf))
}

/// A table as a stream of the Arrow C interface.
pub fn stream(shelf: &Shelf, table: Table) -> Result<FFI_ArrowArrayStream, ArrowError> {
    reader(shelf, table).map(FFI_ArrowArrayStream::new)
}

pub fn schema(table: Table) -> Schema {
    visit(table, Describe)
}

/// The table of causes as a stream of the Arrow C interface.
pub fn causes(rows: Arc<Vec<CauseRow>>) -> FFI_ArrowArrayStream {
    let rows = (0..rows.len()).map(move |i| Ok(rows[i].clone()));
    FFI_ArrowArrayStream::new(Box::new(Batches::<rows::CauseColumns, _>::of(rows)))
}

/// The table of owners as a stream of the Arrow C interface.
pub fn owners(rows: Arc<Vec<OwnerRow>>) -> FFI_ArrowArrayStream {
    let rows = (0..rows.len()).map(move |i| Ok(rows[i].clone()));
    FFI_ArrowArrayStream::new(Box::new(Batches::<rows::OwnerColumns, _>::of(rows)))
}

pub fn schema_of_owners() -> Schema {
    rows::OwnerColumns::schema()
}

pub fn schema_of_causes() -> Schema {
    rows::CauseColumns::schema()
}

#[cfg(test)]
mod tests;
