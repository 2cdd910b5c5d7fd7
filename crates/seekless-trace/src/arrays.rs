//! Turns rows into Arrow columns, for the spool.

use crate::Access;
use arrow_array::types::{ArrowPrimitiveType, Int32Type, UInt64Type};
use arrow_array::{ArrayRef, Int64Array, PrimitiveArray, UInt32Array, UInt64Array};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use std::sync::Arc;

/// The columns of `rows`, in the order of the schema. The caller passes those that are not plain
/// numbers of a row.
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
        optional::<UInt64Type>(rows, |row| row.latency_ns),
        optional::<Int32Type>(rows, |row| row.error),
        optional::<UInt64Type>(rows, |row| row.file_bytes),
        optional::<UInt64Type>(rows, |row| row.device),
        optional::<UInt64Type>(rows, |row| row.inode),
    ]
}

fn u32s(rows: &[Access], field: impl Fn(&Access) -> u32) -> ArrayRef {
    Arc::new(UInt32Array::from_iter_values(rows.iter().map(field)))
}

fn u64s(rows: &[Access], field: impl Fn(&Access) -> u64) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(rows.iter().map(field)))
}

/// Values and gaps apart, which is several times as fast as one value after another.
fn optional<T: ArrowPrimitiveType>(
    rows: &[Access],
    field: impl Fn(&Access) -> Option<T::Native>,
) -> ArrayRef
where
    T::Native: Default,
{
    let present = BooleanBuffer::collect_bool(rows.len(), |at| field(&rows[at]).is_some());
    let present = NullBuffer::new(present);
    if present.null_count() == rows.len() {
        return Arc::new(PrimitiveArray::<T>::new_null(rows.len()));
    }
    let values: Vec<T::Native> = rows.iter().map(|row| field(row).unwrap_or_default()).collect();
    let gaps = Some(present).filter(|present| present.null_count() > 0);
    Arc::new(PrimitiveArray::<T>::new(values.into(), gaps))
}
