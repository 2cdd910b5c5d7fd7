//! Rows to Arrow columns: what the Parquet encoder and the spool share.

use crate::Access;
use arrow_array::{ArrayRef, Int32Array, Int64Array, UInt32Array, UInt64Array};
use std::sync::Arc;

pub(crate) fn u32s(rows: &[Access], field: impl Fn(&Access) -> u32) -> ArrayRef {
    Arc::new(UInt32Array::from_iter_values(rows.iter().map(field)))
}

pub(crate) fn u64s(rows: &[Access], field: impl Fn(&Access) -> u64) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(rows.iter().map(field)))
}

pub(crate) fn optional_u64s(rows: &[Access], field: impl Fn(&Access) -> Option<u64>) -> ArrayRef {
    Arc::new(rows.iter().map(field).collect::<UInt64Array>())
}

pub(crate) fn offsets(rows: &[Access]) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.offset)))
}

pub(crate) fn errors(rows: &[Access]) -> ArrayRef {
    Arc::new(rows.iter().map(|row| row.error).collect::<Int32Array>())
}
