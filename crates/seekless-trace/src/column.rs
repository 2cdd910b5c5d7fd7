//! Turns a decoded column into plain values. Another tool may have rewritten the file with other
//! integer widths. Values that fit are taken; a value that does not fit is an error that names the
//! column.

use crate::Op;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, DictionaryArray, PrimitiveArray};
use arrow_buffer::ScalarBuffer;
use arrow_schema::DataType;
use std::any::Any;

/// An error in a column. The caller adds the names of file and column.
pub(crate) type Wrong = String;

/// The values of an integer column as `T`. A null has an arbitrary value.
pub(crate) fn integers<T: ArrowPrimitiveType>(
    array: &ArrayRef,
) -> Result<ScalarBuffer<T::Native>, Wrong>
where
    T::Native: TryFrom<i128>,
{
    if let Some(same) = array.as_any().downcast_ref::<PrimitiveArray<T>>() {
        return Ok(same.values().clone());
    }
    match array.data_type() {
        DataType::Int8 => converted::<Int8Type, T>(array),
        DataType::Int16 => converted::<Int16Type, T>(array),
        DataType::Int32 => converted::<Int32Type, T>(array),
        DataType::Int64 => converted::<Int64Type, T>(array),
        DataType::UInt8 => converted::<UInt8Type, T>(array),
        DataType::UInt16 => converted::<UInt16Type, T>(array),
        DataType::UInt32 => converted::<UInt32Type, T>(array),
        DataType::UInt64 => converted::<UInt64Type, T>(array),
        DataType::Float64 => converted_floats::<T>(array),
        other => Err(format!("holds {other}, expected {}", T::DATA_TYPE)),
    }
}

/// pandas keeps a column of integers with nulls as floats, which are exact up to 2^53.
fn converted_floats<T: ArrowPrimitiveType>(
    array: &ArrayRef,
) -> Result<ScalarBuffer<T::Native>, Wrong>
where
    T::Native: TryFrom<i128>,
{
    const EXACT_MAX: f64 = (1_u64 << 53) as f64;
    let array = array.as_primitive::<Float64Type>();
    let convert = |(row, value): (usize, &f64)| {
        let whole = value.fract() == 0.0 && value.abs() <= EXACT_MAX;
        match T::Native::try_from(*value as i128) {
            Ok(value) if whole => Ok(value),
            _ if array.is_null(row) => Ok(T::default_value()),
            _ => Err(format!("holds {value}, which does not fit {}", T::DATA_TYPE)),
        }
    };
    let values: Result<Vec<_>, Wrong> = array.values().iter().enumerate().map(convert).collect();
    Ok(values?.into())
}

fn converted<S: ArrowPrimitiveType, T: ArrowPrimitiveType>(
    array: &ArrayRef,
) -> Result<ScalarBuffer<T::Native>, Wrong>
where
    S::Native: Into<i128>,
    T::Native: TryFrom<i128>,
{
    let array = array.as_primitive::<S>();
    let convert = |(row, value): (usize, &S::Native)| {
        let wide: i128 = (*value).into();
        match T::Native::try_from(wide) {
            Ok(value) => Ok(value),
            Err(_) if array.is_null(row) => Ok(T::default_value()),
            Err(_) => Err(format!("holds {wide}, which does not fit {}", T::DATA_TYPE)),
        }
    };
    let values: Result<Vec<_>, Wrong> = array.values().iter().enumerate().map(convert).collect();
    Ok(values?.into())
}

/// The `op` column, which the reader decodes as a dictionary.
pub(crate) fn ops(array: &ArrayRef) -> Result<Vec<Op>, Wrong> {
    let array = dictionary::<Int8Type>(array)?;
    let words = array.values().as_string_opt::<i32>().ok_or("its dictionary is not text")?;
    let ops: Vec<Result<Op, Wrong>> = (0..words.len())
        .map(|at| {
            words.value(at).parse().map_err(|error| format!("holds `{}`, {error}", words.value(at)))
        })
        .collect();
    let op = |&key: &i8| match usize::try_from(key).ok().and_then(|key| ops.get(key)) {
        Some(op) => op.clone(),
        None => Err("holds a key outside of its dictionary".to_owned()),
    };
    // A dictionary may hold words that no row uses; only a word in use can be wrong.
    array.keys().values().iter().map(op).collect()
}

/// A column that the reader was asked to decode as a dictionary with keys of type `K`.
pub(crate) fn dictionary<K: arrow_array::types::ArrowDictionaryKeyType>(
    array: &ArrayRef,
) -> Result<&DictionaryArray<K>, Wrong> {
    let any: &dyn Any = array.as_any();
    any.downcast_ref().ok_or_else(|| format!("holds {}, expected text", array.data_type()))
}
