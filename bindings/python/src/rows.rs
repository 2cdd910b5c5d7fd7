//! Rows of figures as a table: a column a field.

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use std::sync::Arc;

/// A value of a figure, whose column has one type.
pub(crate) trait Cell: Sized {
    fn column(values: Vec<Self>) -> ArrayRef;
}

macro_rules! cells {
    ($($cell:ty => $array:ty;)*) => {$(
        impl Cell for $cell {
            fn column(values: Vec<Self>) -> ArrayRef {
                Arc::new(<$array>::from(values))
            }
        }
    )*};
}

cells! {
    u64 => UInt64Array;
    u32 => UInt32Array;
    f64 => Float64Array;
    String => StringArray;
    Option<u64> => UInt64Array;
    Option<String> => StringArray;
}

/// A table from columns, which are as long as each other. All may hold nulls.
pub(crate) fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let columns = columns.into_iter().map(|(name, array)| (name, array, true));
    match RecordBatch::try_from_iter_with_nullable(columns) {
        Ok(batch) => batch,
        // Only columns of different lengths are refused.
        Err(_) => RecordBatch::new_empty(Arc::new(arrow_schema::Schema::empty())),
    }
}

/// The columns of rows: `columns!(rows: name, name, ...)`, each a field of a row that can be
/// cloned.
macro_rules! columns {
    ($rows:expr; $($field:ident),* $(,)?) => {
        vec![$((
            stringify!($field),
            $crate::rows::Cell::column($rows.iter().map(|row| row.$field.clone()).collect::<Vec<_>>()),
        )),*]
    };
}
pub(crate) use columns;
