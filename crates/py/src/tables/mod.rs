//! Tables as Arrow: batches straight from the spool, never all at once.

pub mod column;
pub mod flows;
pub mod rows;

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

fn of<C: Columns>(shelf: &Shelf) -> Result<Reader, ArrowError>
where
    C::Row: Row,
{
    Ok(Box::new(Batches::<C, _>::of(shelf.rows()?)))
}

/// A table's batches.
pub(crate) fn reader(shelf: &Shelf, table: Table) -> Result<Reader, ArrowError> {
    match table {
        Table::Flows => of::<flows::FlowColumns>(shelf),
        Table::Bursts => of::<rows::BurstColumns>(shelf),
        Table::Episodes => of::<rows::EpisodeColumns>(shelf),
        Table::Retransmissions => of::<rows::RetransmissionColumns>(shelf),
        Table::Probes => of::<rows::ProbeColumns>(shelf),
        Table::Idle => of::<rows::IdleColumns>(shelf),
        Table::Intervals => of::<rows::IntervalColumns>(shelf),
        Table::Rtt => of::<rows::RttColumns>(shelf),
        Table::Packets => of::<rows::PacketColumns>(shelf),
    }
}

/// A table as a stream of the Arrow C interface.
pub fn stream(shelf: &Shelf, table: Table) -> Result<FFI_ArrowArrayStream, ArrowError> {
    reader(shelf, table).map(FFI_ArrowArrayStream::new)
}

pub fn schema(table: Table) -> Schema {
    match table {
        Table::Flows => flows::FlowColumns::schema(),
        Table::Bursts => rows::BurstColumns::schema(),
        Table::Episodes => rows::EpisodeColumns::schema(),
        Table::Retransmissions => rows::RetransmissionColumns::schema(),
        Table::Probes => rows::ProbeColumns::schema(),
        Table::Idle => rows::IdleColumns::schema(),
        Table::Intervals => rows::IntervalColumns::schema(),
        Table::Rtt => rows::RttColumns::schema(),
        Table::Packets => rows::PacketColumns::schema(),
    }
}

#[cfg(test)]
mod tests;
