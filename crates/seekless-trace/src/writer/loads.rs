//! Loads of ids as columns: what millions of records become on their way into a trace. They skip
//! the window of rows, since they come in order, and are never rows of a hundred bytes.

use crate::{Op, schema};
use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int8Array, Int32Array, Int64Array, StringArray, UInt32Array,
    UInt64Array,
};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use std::ops::Range;
use std::sync::Arc;

/// Loads in order of run and time. An id is a file that is named by its number. Files are numbered
/// by first appearance, from 0, without a gap.
#[derive(Debug, Default)]
pub(crate) struct Loads {
    pub(crate) runs: Vec<u32>,
    pub(crate) times: Vec<u64>,
    pub(crate) files: Vec<u32>,
    pub(crate) ids: Vec<u64>,
    /// The size of the file, all of which is loaded.
    pub(crate) bytes: Vec<u64>,
}

impl Loads {
    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// Leaves the first `length` loads, and returns those behind them.
    pub(crate) fn split_off(&mut self, length: usize) -> Self {
        Loads {
            runs: self.runs.split_off(length),
            times: self.times.split_off(length),
            files: self.files.split_off(length),
            ids: self.ids.split_off(length),
            bytes: self.bytes.split_off(length),
        }
    }

    /// The columns of each `rows` loads, in the order of the schema.
    pub(super) fn into_columns(self, rows: usize) -> Vec<Vec<ArrayRef>> {
        let length = self.len();
        let columns = Columns {
            constant: Constant::new(length.min(rows)),
            runs: self.runs.into(),
            times: self.times.into(),
            files: self.files.into(),
            bytes: self.bytes.into(),
            ids: self.ids,
        };
        let starts = (0..length).step_by(rows);
        starts.map(|start| columns.of(start..length.min(start + rows))).collect()
    }
}

struct Columns {
    constant: Constant,
    runs: ScalarBuffer<u32>,
    times: ScalarBuffer<u64>,
    files: ScalarBuffer<u32>,
    bytes: ScalarBuffer<u64>,
    ids: Vec<u64>,
}

impl Columns {
    fn of(&self, rows: Range<usize>) -> Vec<ArrayRef> {
        let (start, length) = (rows.start, rows.len());
        let u32s = |of: &ScalarBuffer<u32>| -> ArrayRef {
            Arc::new(UInt32Array::new(of.slice(start, length), None))
        };
        let u64s = |of: &ScalarBuffer<u64>| -> ArrayRef {
            Arc::new(UInt64Array::new(of.slice(start, length), None))
        };
        let constant = |of: &ArrayRef| of.slice(0, length);
        let Constant { zeros, op, offset, unknown, no_error } = &self.constant;
        let bytes = u64s(&self.bytes);
        vec![
            u32s(&self.runs),
            u64s(&self.times),
            constant(zeros),
            constant(zeros),
            constant(op),
            u32s(&self.files),
            names(&self.ids[rows]),
            constant(offset),
            bytes.clone(),
            constant(unknown),
            constant(no_error),
            bytes,
            constant(unknown),
            constant(unknown),
        ]
    }
}

/// The columns that are alike in all loads.
struct Constant {
    zeros: ArrayRef,
    op: ArrayRef,
    offset: ArrayRef,
    unknown: ArrayRef,
    no_error: ArrayRef,
}

impl Constant {
    fn new(length: usize) -> Self {
        let words = StringArray::from_iter_values(Op::ALL.iter().map(|op| op.as_str()));
        let keys = Int8Array::from(vec![Op::Load as i8; length]);
        Constant {
            zeros: Arc::new(UInt32Array::from(vec![0; length])),
            op: Arc::new(DictionaryArray::<Int8Type>::new(keys, Arc::new(words))),
            offset: Arc::new(Int64Array::from(vec![0; length])),
            unknown: Arc::new(UInt64Array::new_null(length)),
            no_error: Arc::new(Int32Array::new_null(length)),
        }
    }
}

/// The ids in digits. The Parquet encoder makes the dictionary of them.
fn names(ids: &[u64]) -> ArrayRef {
    const DIGITS_MAX: usize = 20;
    let mut text = Vec::with_capacity(ids.len() * DIGITS_MAX);
    let mut ends = Vec::with_capacity(ids.len() + 1);
    let mut digits = itoa::Buffer::new();
    ends.push(0);
    for &id in ids {
        text.extend_from_slice(digits.format(id).as_bytes());
        ends.push(text.len() as i32); // a batch has some hundred kilobytes
    }
    let ends = OffsetBuffer::new(ends.into());
    debug_assert_eq!(schema::schema().field(schema::PATH_COLUMN).name(), schema::PATH);
    Arc::new(StringArray::new(ends, text.into(), None))
}
