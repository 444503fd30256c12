//! Columns: how a value of a row becomes a cell of an Arrow array.

use crate::names::in_column;
use analysis::rows::{
    ByCause, Cause, Closed, EcnKind, EpisodeKind, Evidence, IdleCause, Limit, PacketClass, Proof, Release,
    Role, RtoRule, RttKind, Trigger, Vantage, Wait,
};
use analysis::sure::Certainty;
use arrow_array::builder::*;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, TimeUnit};
use explain::cause::Cause as AnswerCause;
use std::sync::Arc;
use wire::{Span, Time};

/// One column while it is filled.
pub trait Column: Default + Send {
    /// What a cell takes.
    type Cell;
    const NULLABLE: bool;
    fn data_type() -> DataType;
    fn push(&mut self, cell: Self::Cell);
    fn take(&mut self) -> ArrayRef;
}

/// What stands under one name in the list of a table: a column, or one for each value of a closed set.
pub trait Part: Default + Send {
    type Cell;
    fn fields(name: &str) -> Vec<Field>;
    fn push(&mut self, cell: Self::Cell);
    fn take(&mut self, arrays: &mut Vec<ArrayRef>);
}
impl<C: Column> Part for C {
    type Cell = C::Cell;
    fn fields(name: &str) -> Vec<Field> {
        vec![field::<C>(name)]
    }
    #[inline]
    fn push(&mut self, cell: C::Cell) {
        Column::push(self, cell);
    }
    fn take(&mut self, arrays: &mut Vec<ArrayRef>) {
        arrays.push(Column::take(self));
    }
}

/// A count for each cause of a retransmission: `retransmitted_recovery` and so on.
#[derive(Default)]
pub struct EachCause([Int; Cause::ALL.len()]);
impl Part for EachCause {
    type Cell = ByCause;
    fn fields(name: &str) -> Vec<Field> {
        Cause::ALL.iter().map(|&cause| field::<Int>(&format!("{name}_{}", in_column(cause)))).collect()
    }
    #[inline]
    fn push(&mut self, counts: ByCause) {
        for (column, count) in self.0.iter_mut().zip(counts) {
            Column::push(column, count.cell());
        }
    }
    fn take(&mut self, arrays: &mut Vec<ArrayRef>) {
        arrays.extend(self.0.iter_mut().map(Column::take));
    }
}

macro_rules! column {
    ($(#[$doc:meta])* $column:ident($builder:ty), $cell:ty, $nullable:literal, $data_type:expr,
     |$b:ident, $v:ident| $push:expr) => {
        $(#[$doc])*
        pub struct $column($builder);
        impl Default for $column {
            fn default() -> $column {
                $column(<$builder>::new().with_type($data_type))
            }
        }
        impl Column for $column {
            type Cell = $cell;
            const NULLABLE: bool = $nullable;
            fn data_type() -> DataType {
                $data_type
            }
            #[inline]
            fn push(&mut self, $v: $cell) {
                let $b = &mut self.0;
                $push;
            }
            fn take(&mut self) -> ArrayRef {
                Arc::new(self.0.finish())
            }
        }
    };
}

/// Gives a builder its column's type, where the type says more than the builder does.
trait WithType {
    fn with_type(self, data_type: DataType) -> Self;
}
impl WithType for TimestampNanosecondBuilder {
    fn with_type(self, data_type: DataType) -> Self {
        self.with_data_type(data_type)
    }
}
macro_rules! plain {
    ($($builder:ty),*) => {$(
        impl WithType for $builder {
            fn with_type(self, _: DataType) -> Self { self }
        }
    )*};
}
plain!(Int64Builder, UInt32Builder, UInt64Builder, Float64Builder, BooleanBuilder, StringBuilder);

fn utc() -> DataType {
    DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()))
}

column!(/** A flow's id. */ Id(UInt32Builder), u32, false, DataType::UInt32, |b, v| b.append_value(v));
column!(/** A run's seed. */ Seed(UInt64Builder), u64, false, DataType::UInt64, |b, v| b.append_value(v));
column!(/** A count or a size. */ Int(Int64Builder), i64, false, DataType::Int64, |b, v| b.append_value(v));
column!(/** A count, if known. */ MaybeInt(Int64Builder), Option<i64>, true, DataType::Int64, |b, v| b.append_option(v));
column!(/** A ratio or rate. */ Real(Float64Builder), f64, false, DataType::Float64, |b, v| b.append_value(v));
column!(/** A ratio, if known. */ MaybeReal(Float64Builder), Option<f64>, true, DataType::Float64, |b, v| b.append_option(v));
column!(/** Seconds. */ Secs(Float64Builder), Span, false, DataType::Float64, |b, v| b.append_value(v.as_secs()));
column!(/** Seconds, if known. */ MaybeSecs(Float64Builder), Option<Span>, true, DataType::Float64,
    |b, v| b.append_option(v.map(Span::as_secs)));
column!(/** A point in time. */ Stamp(TimestampNanosecondBuilder), Time, false, utc(), |b, v| b.append_value(v.0));
column!(/** A point in time, if known. */ MaybeStamp(TimestampNanosecondBuilder), Option<Time>, true, utc(),
    |b, v| b.append_option(v.map(|t| t.0)));
column!(/** Yes or no. */ Bool(BooleanBuilder), bool, false, DataType::Boolean, |b, v| b.append_value(v));
column!(/** Yes, no or unknown. */ MaybeBool(BooleanBuilder), Option<bool>, true, DataType::Boolean, |b, v| b.append_option(v));
column!(/** A word of a closed set. */ Word(StringBuilder), &'static str, false, DataType::Utf8, |b, v| b.append_value(v));
column!(/** A word, if known. */ MaybeWord(StringBuilder), Option<&'static str>, true, DataType::Utf8, |b, v| b.append_option(v));
column!(/** Text. */ Text(StringBuilder), String, false, DataType::Utf8, |b, v| b.append_value(v));

column!(/** A flow's id, if it has one. */ MaybeId(UInt32Builder), Option<u32>, true, DataType::UInt32, |b, v| b.append_option(v));
column!(/** Text that many rows share. */ Shared(StringBuilder), Arc<str>, false, DataType::Utf8, |b, v| b.append_value(&*v));
column!(/** Text that many rows share, if there is any. */ MaybeShared(StringBuilder), Option<Arc<str>>, true, DataType::Utf8,
    |b, v| b.append_option(v.as_deref()));

/// All columns of a table while a batch is filled.
pub trait Columns: Default + Send + 'static {
    type Row;
    fn schema() -> Schema;
    fn push(&mut self, row: Self::Row);
    fn take(&mut self, schema: &Arc<Schema>) -> Result<RecordBatch, ArrowError>;
}

pub fn field<C: Column>(name: &str) -> Field {
    Field::new(name, C::data_type(), C::NULLABLE)
}

/// A value of a row that a cell takes: as it is, as a count, or as its word.
pub trait AsCell<C> {
    fn cell(self) -> C;
}
impl<T> AsCell<T> for T {
    #[inline]
    fn cell(self) -> T {
        self
    }
}
macro_rules! counts {
    ($($number:ty),*) => {$(
        impl AsCell<i64> for $number {
            #[inline]
            fn cell(self) -> i64 {
                i64::try_from(self).unwrap_or(i64::MAX)
            }
        }
        impl AsCell<Option<i64>> for Option<$number> {
            #[inline]
            fn cell(self) -> Option<i64> {
                self.map(AsCell::cell)
            }
        }
    )*};
}
counts!(u8, u16, u32, u64);
macro_rules! words {
    ($($set:ty),*) => {$(
        impl $crate::tables::column::AsCell<&'static str> for $set {
            #[inline]
            fn cell(self) -> &'static str {
                self.name()
            }
        }
        impl $crate::tables::column::AsCell<Option<&'static str>> for Option<$set> {
            #[inline]
            fn cell(self) -> Option<&'static str> {
                self.map(|word| word.name())
            }
        }
    )*};
}
pub(crate) use words;
words!(
    AnswerCause,
    Cause,
    Certainty,
    Closed,
    EcnKind,
    EpisodeKind,
    Evidence,
    IdleCause,
    Limit,
    PacketClass,
    Proof,
    Release,
    RtoRule,
    Role,
    RttKind,
    Trigger,
    Vantage,
    Wait
);

/// Declares a table: the row taken apart by name, so that a field that is added to a row and forgotten here does
/// not compile, what rules of the row derive from it, and the columns, each with its kind and its value, which is the field
/// of its name where none is given.
macro_rules! table {
    (@value $name:ident) => { $name };
    (@value $name:ident $value:expr) => { $value };
    ($columns:ident of $row:ident { $($fields:tt)* } $(and { $($derived:ident = $rule:path),* })?
     => $( $name:ident : $kind:ident $(= $value:expr)? ),* $(,)?) => {
        #[derive(Default)]
        pub struct $columns { $($name: $kind),* }
        impl Columns for $columns {
            type Row = $row;
            fn schema() -> Schema {
                Schema::new([$(<$kind as $crate::tables::column::Part>::fields(stringify!($name))),*].concat())
            }
            #[inline]
            fn push(&mut self, row: $row) {
                $($(let $derived = $rule(&row);)*)?
                let $row { $($fields)* } = row;
                $($crate::tables::column::Part::push(&mut self.$name, AsCell::cell(table!(@value $name $($value)?)));)*
            }
            fn take(&mut self, schema: &Arc<Schema>) -> Result<RecordBatch, ArrowError> {
                let mut arrays = Vec::with_capacity(schema.fields().len());
                $($crate::tables::column::Part::take(&mut self.$name, &mut arrays);)*
                RecordBatch::try_new(Arc::clone(schema), arrays)
            }
        }
    };
}
pub(crate) use table;
