//! Columns as bytes: a header as JSON, then the columns, each padded, so that the page reads them where they lie.

use crate::text::string;
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type, UInt32Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{ArrowError, DataType, SchemaRef};

/// What each column and the header are padded to.
const ALIGNED: usize = 8;

/// The values of a column, in one of the kinds that the page reads.
pub enum Values {
    F64(Vec<f64>),
    F32(Vec<f32>),
    I32(Vec<i32>),
    U32(Vec<u32>),
    U16(Vec<u16>),
    U8(Vec<u8>),
}

impl Values {
    /// Whole numbers in the smallest kind that holds them.
    pub fn whole(values: &[i64]) -> Values {
        let least = values.iter().copied().min().unwrap_or(0);
        let most = values.iter().copied().max().unwrap_or(0);
        if least >= 0 && u32::try_from(most).is_ok() {
            Values::U32(values.iter().map(|v| *v as u32).collect())
        } else if i32::try_from(least).is_ok() && i32::try_from(most).is_ok() {
            Values::I32(values.iter().map(|v| *v as i32).collect())
        } else {
            Values::real(values)
        }
    }
    pub fn real(values: &[i64]) -> Values {
        Values::F64(values.iter().map(|v| *v as f64).collect())
    }
    fn len(&self) -> usize {
        match self {
            Values::F64(v) => v.len(),
            Values::F32(v) => v.len(),
            Values::I32(v) => v.len(),
            Values::U32(v) => v.len(),
            Values::U16(v) => v.len(),
            Values::U8(v) => v.len(),
        }
    }
    fn kind(&self) -> (&'static str, usize) {
        match self {
            Values::F64(_) => ("f64", 8),
            Values::F32(_) => ("f32", 4),
            Values::I32(_) => ("i32", 4),
            Values::U32(_) => ("u32", 4),
            Values::U16(_) => ("u16", 2),
            Values::U8(_) => ("u8", 1),
        }
    }
    /// Differences first, then the bytes of equal weight together: both help deflate.
    fn put(&self, delta: bool, out: &mut Vec<u8>) {
        macro_rules! planes {
            ($values:expr, $minus:expr) => {{
                let mut before = Default::default();
                let stored: Vec<_> = $values
                    .iter()
                    .map(|&value| {
                        let kept = if delta { $minus(value, before) } else { value };
                        before = value;
                        kept.to_le_bytes()
                    })
                    .collect();
                let width = self.kind().1;
                (0..width).for_each(|byte| out.extend(stored.iter().map(|bytes| bytes[byte])));
            }};
        }
        match self {
            Values::F64(v) => planes!(v, |a: f64, b: f64| a - b),
            Values::F32(v) => planes!(v, |a: f32, b: f32| a - b),
            Values::I32(v) => planes!(v, i32::wrapping_sub),
            Values::U32(v) => planes!(v, u32::wrapping_sub),
            Values::U16(v) => planes!(v, u16::wrapping_sub),
            Values::U8(v) => planes!(v, u8::wrapping_sub),
        }
    }
}

/// delta: stored as differences between neighbours, which repeat themselves more.
pub struct Column {
    pub name: String,
    pub values: Values,
    pub delta: bool,
}

impl Column {
    pub fn of(name: &str, values: Values, delta: bool) -> Column {
        Column { name: name.to_owned(), values, delta }
    }
}

/// A container. more: further members of the header, each with a comma before it.
pub fn pack(kind: &str, columns: &[Column], more: &str) -> Vec<u8> {
    let rows = columns.first().map_or(0, |c| c.values.len());
    let told: Vec<String> = columns
        .iter()
        .map(|column| {
            let (kind, width) = column.values.kind();
            let delta = if column.delta { ",\"delta\":true" } else { "" };
            let shuffle = if width > 1 { ",\"shuffle\":true" } else { "" };
            format!("{{\"name\":{},\"type\":\"{kind}\"{delta}{shuffle}}}", string(&column.name))
        })
        .collect();
    let mut head = format!("{{\"kind\":\"{kind}\",\"rows\":{rows},\"columns\":[{}]{more}}}", told.join(","));
    while !(4 + head.len()).is_multiple_of(ALIGNED) {
        head.push(' ');
    }
    let mut out = (head.len() as u32).to_le_bytes().to_vec();
    out.extend_from_slice(head.as_bytes());
    for column in columns {
        column.values.put(column.delta, &mut out);
        out.resize(out.len().next_multiple_of(ALIGNED), 0);
    }
    out
}

/// Rows of numbers without nulls as a container of the kind `table`.
pub fn table(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<Vec<u8>, ArrowError> {
    fn all<T: ArrowPrimitiveType>(parts: &[&dyn Array]) -> Vec<T::Native> {
        parts.iter().flat_map(|part| part.as_primitive::<T>().values().iter().copied()).collect()
    }
    let mut columns = Vec::new();
    for (at, field) in schema.fields().iter().enumerate() {
        let parts: Vec<&dyn Array> = batches.iter().map(|batch| &**batch.column(at)).collect();
        if parts.iter().any(|part| part.null_count() > 0) {
            return Err(ArrowError::SchemaError(format!("column {} has nulls", field.name())));
        }
        let values = match field.data_type() {
            DataType::UInt32 => Values::U32(all::<UInt32Type>(&parts)),
            DataType::Float32 => Values::F32(all::<Float32Type>(&parts)),
            DataType::Float64 => Values::F64(all::<Float64Type>(&parts)),
            other => return Err(ArrowError::SchemaError(format!("column {} is {other}", field.name()))),
        };
        columns.push(Column::of(field.name(), values, false));
    }
    Ok(pack("table", &columns, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a column back, as a page does.
    fn stored(kind: &str, values: Values, delta: bool) -> Vec<u64> {
        let (rows, (_, width)) = (values.len(), values.kind());
        let packed = pack("table", &[Column::of("x", values, delta)], "");
        let head = u32::from_le_bytes(packed[..4].try_into().unwrap()) as usize;
        assert!((4 + head).is_multiple_of(ALIGNED) && packed.len().is_multiple_of(ALIGNED));
        let text: serde_json::Value = serde_json::from_slice(&packed[4..4 + head]).unwrap();
        assert_eq!(text["rows"], rows);
        assert_eq!(text["columns"][0]["type"], kind);
        assert_eq!(text["columns"][0].get("delta").is_some(), delta);
        assert_eq!(text["columns"][0].get("shuffle").is_some(), width > 1);
        let planes = &packed[4 + head..];
        let byte = |row: usize, plane: usize| u64::from(planes[plane * rows + row]) << (8 * plane);
        (0..rows).map(|row| (0..width).map(|plane| byte(row, plane)).sum()).collect()
    }

    #[test]
    fn bytes_of_equal_weight_lie_together_and_differences_wrap() {
        assert_eq!(stored("u16", Values::U16(vec![1, 300, 2]), false), [1, 300, 2]);
        assert_eq!(stored("u16", Values::U16(vec![1, 300, 2]), true), [1, 299, 65_536 - 298]);
        assert_eq!(stored("u8", Values::U8(vec![]), true), [0; 0]);
        let reals = Values::F64(vec![1.5, 4.0]);
        assert_eq!(stored("f64", reals, true), [1.5f64.to_bits(), 2.5f64.to_bits()]);
    }

    #[test]
    fn whole_numbers_take_the_smallest_kind_that_holds_them() {
        let kind = |values: &[i64]| Values::whole(values).kind().0;
        assert_eq!(kind(&[0, i64::from(u32::MAX)]), "u32");
        assert_eq!(kind(&[-1, 5]), "i32");
        assert_eq!(kind(&[-1, 1 << 31]), "f64");
        assert_eq!(kind(&[1 << 32]), "f64");
    }
}
