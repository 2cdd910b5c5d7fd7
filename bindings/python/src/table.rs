//! `Table`: rows in Arrow's layout, which other packages take without a copy.

use crate::capsule;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};

/// Rows in Arrow's layout.
#[pyclass(frozen, module = "seekless._seekless")]
pub(crate) struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Table {
    pub(crate) fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches }
    }
}

impl From<RecordBatch> for Table {
    fn from(batch: RecordBatch) -> Self {
        Self { schema: batch.schema(), batches: vec![batch] }
    }
}

#[pymethods]
impl Table {
    /// Shares the batches of an object with `__arrow_c_stream__`.
    #[staticmethod]
    fn share(table: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (schema, batches) = capsule::import(table)?;
        Ok(Self { schema, batches })
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema; // a wish, which a producer need not fulfil
        capsule::export(py, &self.schema, &self.batches)
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Bytes of memory of all columns.
    #[getter]
    fn nbytes(&self) -> usize {
        self.batches.iter().map(RecordBatch::get_array_memory_size).sum()
    }

    /// The values of a column as Python's own.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let Some((at, _)) = self.schema.column_with_name(name) else {
            let known = self.column_names().join(", ");
            return Err(PyKeyError::new_err(format!("no column {name:?}; there are {known}")));
        };
        let values = PyList::empty(py);
        for batch in &self.batches {
            let array = batch.column(at);
            for row in 0..array.len() {
                values.append(value(py, array, row)?)?;
            }
        }
        Ok(values)
    }
}

/// One value; `None` for a null and for types that none of our tables has.
fn value<'py>(
    py: Python<'py>,
    array: &ArrayRef,
    row: usize,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if array.is_null(row) {
        return Ok(None);
    }
    let number = |number: u64| number.into_pyobject(py).map(Bound::into_any).map_err(PyErr::from);
    let signed = |number: i64| number.into_pyobject(py).map(Bound::into_any).map_err(PyErr::from);
    let made = match array.data_type() {
        DataType::UInt64 => number(array.as_primitive::<UInt64Type>().value(row))?,
        DataType::UInt32 => number(array.as_primitive::<UInt32Type>().value(row).into())?,
        DataType::Int64 => signed(array.as_primitive::<Int64Type>().value(row))?,
        DataType::Int32 => signed(array.as_primitive::<Int32Type>().value(row).into())?,
        DataType::Float64 => {
            let value = array.as_primitive::<Float64Type>().value(row);
            value.into_pyobject(py)?.into_any()
        }
        DataType::Utf8 => array.as_string::<i32>().value(row).into_pyobject(py)?.into_any(),
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            let key = dictionary.normalized_keys()[row];
            return value(py, dictionary.values(), key);
        }
        _ => return Ok(None),
    };
    Ok(Some(made))
}
