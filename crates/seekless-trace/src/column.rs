//! Turns a column of a trace file into the values of its rows. Another tool may have rewritten the
//! file with other integer widths. Values that fit are taken; a value that does not fit is an error
//! that names the column.

use crate::Op;
use crate::keys::Keys;
use crate::leaf::{Leaf, Values};
use crate::source::Source;
use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::file::metadata::ParquetMetaData;
use parquet::schema::types::ColumnDescriptor;
use std::any::Any;
use std::sync::Arc;

/// What a word of the column `op` means.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Word {
    Op(Op),
    /// No kind of access, which is wrong only if a row has it: the place among such words.
    Unknown(usize),
}

/// Why a column was not read.
#[derive(Debug)]
pub(crate) enum Wrong {
    /// It holds something else. The caller adds the names of file and column.
    Schema(String),
    /// It cannot be decoded.
    Damaged(String),
}

impl From<parquet::errors::ParquetError> for Wrong {
    fn from(error: parquet::errors::ParquetError) -> Self {
        Wrong::Damaged(error.to_string())
    }
}

/// A column, by how Parquet stores it.
#[derive(Debug)]
pub(crate) enum Stored {
    I32(Leaf<Int32Type>),
    U32(Leaf<Int32Type>),
    I64(Leaf<Int64Type>),
    U64(Leaf<Int64Type>),
    Real(Leaf<DoubleType>),
    /// Text by the keys of a dictionary, and what is wrong with its words that name nothing.
    Words(Keys<Word>, Vec<String>),
    Text(Leaf<ByteArrayType>),
    /// A type that no column of a trace has, by its name.
    Other(String),
}

impl Stored {
    /// The column of this number among the leaves of the schema, which is flat.
    pub(crate) fn new(source: &Arc<Source>, parquet: &Arc<ParquetMetaData>, column: usize) -> Self {
        let descriptor = parquet.file_metadata().schema_descr().column(column);
        let (source, parquet) = (source.clone(), parquet.clone());
        match (descriptor.physical_type(), is_signed(&descriptor)) {
            (Type::INT32, Some(true)) => Stored::I32(Leaf::new(source, parquet, column)),
            (Type::INT32, Some(false)) => Stored::U32(Leaf::new(source, parquet, column)),
            (Type::INT64, Some(true)) => Stored::I64(Leaf::new(source, parquet, column)),
            (Type::INT64, Some(false)) => Stored::U64(Leaf::new(source, parquet, column)),
            (Type::DOUBLE, _) => Stored::Real(Leaf::new(source, parquet, column)),
            (Type::BYTE_ARRAY, _) => match Keys::new(&source, &parquet, column) {
                Some(keys) => Stored::Words(keys, Vec::new()),
                None => Stored::Text(Leaf::new(source, parquet, column)),
            },
            (physical, _) => Stored::Other(match descriptor.logical_type_ref() {
                Some(logical) => format!("{physical} ({logical:?})"),
                None => physical.to_string(),
            }),
        }
    }

    /// The next `rows` values as integers. A row without a value has an arbitrary one.
    pub(crate) fn integers<T: Integer>(&mut self, rows: usize) -> Result<Values<T>, Wrong> {
        match self {
            Stored::I32(leaf) => fitted(leaf.next(rows)?),
            Stored::I64(leaf) => fitted(leaf.next(rows)?),
            Stored::U32(leaf) => fitted(unsigned(leaf.next(rows)?, i32::cast_unsigned)),
            Stored::U64(leaf) => fitted(unsigned(leaf.next(rows)?, i64::cast_unsigned)),
            Stored::Real(leaf) => whole(leaf.next(rows)?),
            Stored::Words(..) | Stored::Text(_) => {
                Err(Wrong::Schema(format!("holds text, expected {}", T::NAME)))
            }
            Stored::Other(found) => {
                Err(Wrong::Schema(format!("holds {found}, expected {}", T::NAME)))
            }
        }
    }

    /// The next `rows` values as kinds of accesses.
    pub(crate) fn ops(&mut self, rows: usize) -> Result<Values<Op>, Wrong> {
        match self {
            Stored::Words(keys, unknown) => ops_of_words(keys, unknown, rows),
            Stored::Text(leaf) => ops(&leaf.next(rows)?),
            Stored::Other(found) => Err(Wrong::Schema(format!("holds {found}, expected text"))),
            _ => Err(Wrong::Schema("holds numbers, expected text".to_owned())),
        }
    }
}

/// Whether a column holds signed integers; `None` if it holds no plain numbers.
fn is_signed(column: &ColumnDescriptor) -> Option<bool> {
    match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Integer(kind)), _) => Some(kind.is_signed),
        (Some(_), _) => None,
        (None, kind) => match kind {
            ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64 => Some(false),
            ConvertedType::NONE
            | ConvertedType::INT_8
            | ConvertedType::INT_16
            | ConvertedType::INT_32
            | ConvertedType::INT_64 => Some(true),
            _ => None,
        },
    }
}

/// The type of a field of a row.
pub(crate) trait Integer: TryFrom<i128> + Copy + Default + 'static {
    /// What a user calls it.
    const NAME: &str;
}

impl Integer for u32 {
    const NAME: &str = "unsigned numbers of 32 bits";
}

impl Integer for u64 {
    const NAME: &str = "unsigned numbers of 64 bits";
}

impl Integer for i32 {
    const NAME: &str = "numbers of 32 bits";
}

impl Integer for i64 {
    const NAME: &str = "numbers of 64 bits";
}

/// The same bits as unsigned numbers, in the same memory.
fn unsigned<S, U>(found: Values<S>, convert: impl Fn(S) -> U) -> Values<U> {
    let values = found.values.into_iter().map(convert).collect();
    Values { values, known: found.known }
}

/// The values as another type; the same memory if it is the same type.
fn fitted<S: Integer + Into<i128>, T: Integer>(mut found: Values<S>) -> Result<Values<T>, Wrong> {
    let any: &mut dyn Any = &mut found.values;
    if let Some(same) = any.downcast_mut::<Vec<T>>() {
        return Ok(Values { values: std::mem::take(same), known: found.known });
    }
    let convert = |value: S| {
        let wide: i128 = value.into();
        T::try_from(wide).map_err(|_| does_not_fit::<T>(wide))
    };
    let values: Result<_, _> = found.values.into_iter().map(convert).collect();
    Ok(Values { values: values?, known: found.known })
}

/// pandas keeps a column of integers with nulls as floats, which are exact up to 2^53.
fn whole<T: Integer>(found: Values<f64>) -> Result<Values<T>, Wrong> {
    const EXACT_MAX: f64 = (1_u64 << 53) as f64;
    let convert = |value: f64| {
        let is_whole = value.fract() == 0.0 && value.abs() <= EXACT_MAX;
        let fits = T::try_from(value as i128).ok().filter(|_| is_whole);
        fits.ok_or_else(|| does_not_fit::<T>(value))
    };
    let values: Result<_, _> = found.values.into_iter().map(convert).collect();
    Ok(Values { values: values?, known: found.known })
}

fn does_not_fit<T: Integer>(value: impl std::fmt::Display) -> Wrong {
    Wrong::Schema(format!("holds {value}, which does not fit {}", T::NAME))
}

fn ops_of_words(
    keys: &mut Keys<Word>,
    unknown: &mut Vec<String>,
    rows: usize,
) -> Result<Values<Op>, Wrong> {
    let words = keys.next(rows, |word| match parsed(word) {
        Ok(op) => Word::Op(op),
        Err(wrong) => {
            unknown.push(wrong);
            Word::Unknown(unknown.len() - 1)
        }
    })?;
    let op = |word| match word {
        Word::Op(op) => Ok(op),
        Word::Unknown(place) => Err(Wrong::Schema(unknown[place].clone())),
    };
    let values: Result<_, _> = words.into_iter().map(op).collect();
    Ok(Values { values: values?, known: None })
}

/// The kinds of accesses that these words name.
fn ops(words: &Values<ByteArray>) -> Result<Values<Op>, Wrong> {
    let is_known = |row: usize| words.known.as_ref().is_none_or(|known| known[row]);
    let op = |(row, word): (usize, &ByteArray)| match is_known(row) {
        true => parsed(word.data()).map_err(Wrong::Schema),
        false => Ok(Op::ALL[0]),
    };
    let ops: Result<_, _> = words.values.iter().enumerate().map(op).collect();
    Ok(Values { values: ops?, known: words.known.clone() })
}

/// The kind of access that a word names; else what is wrong with it.
fn parsed(word: &[u8]) -> Result<Op, String> {
    let text = str::from_utf8(word).map_err(|_| "holds bytes that are not text".to_owned())?;
    text.parse().map_err(|error| format!("holds `{text}`, {error}"))
}
