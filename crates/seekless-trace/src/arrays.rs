//! Turns rows into Arrow columns, for the Parquet encoder and for the spool.

use crate::Access;
use arrow_array::{ArrayRef, Int32Array, Int64Array, UInt32Array, UInt64Array};
use std::sync::Arc;

/// The columns of `rows`, in the order of the schema. The caller passes those in which the two
/// formats differ.
pub(crate) fn columns(
    rows: &[Access],
    op: ArrayRef,
    file: ArrayRef,
    path: ArrayRef,
) -> Vec<ArrayRef> {
    vec![
        u32s(rows, |row| row.run),
        u64s(rows, |row| row.time_ns),
        u32s(rows, |row| row.pid),
        u32s(rows, |row| row.tid),
        op,
        file,
        path,
        Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.offset))),
        u64s(rows, |row| row.bytes),
        optional_u64s(rows, |row| row.latency_ns),
        Arc::new(rows.iter().map(|row| row.error).collect::<Int32Array>()),
        optional_u64s(rows, |row| row.file_bytes),
        optional_u64s(rows, |row| row.device),
        optional_u64s(rows, |row| row.inode),
    ]
}

pub(crate) fn u32s(rows: &[Access], field: impl Fn(&Access) -> u32) -> ArrayRef {
    Arc::new(UInt32Array::from_iter_values(rows.iter().map(field)))
}

fn u64s(rows: &[Access], field: impl Fn(&Access) -> u64) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(rows.iter().map(field)))
}

fn optional_u64s(rows: &[Access], field: impl Fn(&Access) -> Option<u64>) -> ArrayRef {
    Arc::new(rows.iter().map(field).collect::<UInt64Array>())
}
