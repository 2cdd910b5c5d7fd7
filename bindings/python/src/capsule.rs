//! Tables from and to other packages without a copy: the Arrow PyCapsule interface.

#![expect(unsafe_code, reason = "takes a C structure out of a capsule")]

use crate::failure::{Class, Failure};
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::SchemaRef;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::CStr;

const NAME: &CStr = c"arrow_array_stream";

/// A capsule with the batches of a table, which are shared.
pub(crate) fn export<'py>(
    py: Python<'py>,
    schema: &SchemaRef,
    batches: &[RecordBatch],
) -> PyResult<Bound<'py, PyCapsule>> {
    let batches = batches.to_vec();
    let reader = RecordBatchIterator::new(batches.into_iter().map(Ok), schema.clone());
    let stream = FFI_ArrowArrayStream::new(Box::new(reader));
    PyCapsule::new_with_value(py, stream, NAME)
}

/// The batches of an object with `__arrow_c_stream__`, which they share memory with.
pub(crate) fn import(table: &Bound<'_, PyAny>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    let Ok(method) = table.getattr("__arrow_c_stream__") else {
        let message = format!(
            "{} is no table: give one of pyarrow, pandas, polars or DuckDB, or another object with __arrow_c_stream__",
            table.get_type()
        );
        return Err(PyTypeError::new_err(message));
    };
    let capsule = method.call0()?;
    let capsule = capsule.cast::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(NAME))?;
    // SAFETY: a capsule of this name holds an ArrowArrayStream, by the interface's rules. Its
    // content is moved out, and the original is marked as released.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr().cast()) };
    let unreadable =
        |error| Failure::new(Class::Corrupt, format!("the table cannot be read: {error}"));
    let reader = ArrowArrayStreamReader::try_new(stream).map_err(unreadable)?;
    let schema = reader.schema();
    let batches = reader.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    Ok((schema, batches))
}
