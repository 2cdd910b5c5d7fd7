//! The spool's columns. They are a trace's, with `op` as a number and `path` only where it is new,
//! and `metadata` for changes.

use crate::error::Result;
use crate::metadata::{KEY_VERSION, VERSION};
use crate::{Access, FileId, Metadata, Op, arrays, escape_path, schema};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt8Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, UInt8Array, UInt32Array};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// The key of the schema's metadata that holds the trace's metadata at the start.
pub(super) const KEY_METADATA: &str = "seekless.metadata";
/// The key that holds the path of the trace that is to be written.
pub(super) const KEY_TRACE: &str = "seekless.trace";
/// The key that says that every message has a seal.
pub(super) const KEY_SEALED: &str = "seekless.sealed";

/// Some rows, and the names of the files that occur in them for the first time.
#[derive(Debug, Default)]
pub(super) struct SpoolBatch {
    pub(super) new_names: Vec<String>,
    pub(super) rows: Vec<Access>,
    pub(super) metadata: Option<Metadata>,
}

pub(super) fn schema() -> SchemaRef {
    static SCHEMA: OnceLock<SchemaRef> = OnceLock::new();
    let make = || {
        let field = |field: &Arc<Field>| match field.name().as_str() {
            schema::OP => Field::new(schema::OP, DataType::UInt8, false),
            schema::PATH => Field::new(schema::PATH, DataType::Utf8, true),
            _ => field.as_ref().clone(),
        };
        let mut fields: Vec<Field> = schema::schema().fields().iter().map(field).collect();
        fields.push(Field::new("metadata", DataType::Utf8, true));
        Arc::new(Schema::new(fields))
    };
    SCHEMA.get_or_init(make).clone()
}

/// `trace` is the trace that the recording is to write.
pub(super) fn schema_with(metadata: &Metadata, trace: Option<&Path>) -> Schema {
    let mut pairs = HashMap::from([
        (KEY_VERSION.to_owned(), VERSION.to_owned()),
        (KEY_METADATA.to_owned(), to_json(metadata)),
        (KEY_SEALED.to_owned(), "crc32".to_owned()),
    ]);
    let name = |trace: &Path| escape_path(trace.as_os_str().as_bytes());
    pairs.extend(trace.map(|trace| (KEY_TRACE.to_owned(), name(trace))));
    schema().as_ref().clone().with_metadata(pairs)
}

fn to_json(metadata: &Metadata) -> String {
    serde_json::to_string(metadata).unwrap_or_default() // text and numbers always serialise
}

/// The rows, whose files have the numbers `files`. `names` has the names of new files, each with
/// the place of its row.
pub(super) fn encode(
    rows: &[Access],
    files: &[FileId],
    names: &[(usize, String)],
) -> Result<RecordBatch, ArrowError> {
    let files = Arc::new(UInt32Array::from(files.to_vec()));
    columns(rows, files, paths(rows.len(), names)?, None)
}

/// A column of text with these values and gaps between them.
fn paths(rows: usize, names: &[(usize, String)]) -> Result<ArrayRef, ArrowError> {
    if names.is_empty() {
        return Ok(Arc::new(StringArray::new_null(rows)));
    }
    let mut present = BooleanBufferBuilder::new(rows);
    present.append_n(rows, false);
    let (mut text, mut ends) = (Vec::new(), Vec::with_capacity(rows + 1));
    for (at, name) in names {
        ends.resize(at + 1, text.len() as i32); // a batch's names take far less than 2 GB
        text.extend_from_slice(name.as_bytes());
        present.set_bit(*at, true);
    }
    ends.resize(rows + 1, text.len() as i32);
    let present = NullBuffer::new(present.finish());
    let ends = OffsetBuffer::new(ends.into());
    Ok(Arc::new(StringArray::try_new(ends, text.into(), Some(present))?))
}

pub(super) fn encode_metadata(metadata: &Metadata) -> Result<RecordBatch, ArrowError> {
    let row = Access::new(Op::Open, 0);
    let files = Arc::new(UInt32Array::from(vec![row.file]));
    columns(&[row], files, Arc::new(StringArray::new_null(1)), Some(to_json(metadata)))
}

fn columns(
    rows: &[Access],
    files: ArrayRef,
    paths: ArrayRef,
    metadata: Option<String>,
) -> Result<RecordBatch, ArrowError> {
    let metadata = match metadata {
        Some(metadata) => StringArray::from_iter(std::iter::repeat_n(Some(metadata), rows.len())),
        None => StringArray::new_null(rows.len()),
    };
    let op = Arc::new(UInt8Array::from_iter_values(rows.iter().map(|row| row.op as u8)));
    let mut columns = arrays::columns(rows, op, files, paths);
    columns.push(Arc::new(metadata));
    RecordBatch::try_new(schema(), columns)
}

/// Decodes a batch of a stream in which `files` files have occurred so far. The error says what is
/// wrong.
pub(super) fn decode(batch: &RecordBatch, files: u32) -> Result<SpoolBatch, String> {
    let mut out = SpoolBatch::default();
    let metadata = batch.column(14).as_string::<i32>();
    let paths = batch.column(6).as_string::<i32>();
    for at in 0..batch.num_rows() {
        if metadata.is_valid(at) {
            let parsed = serde_json::from_str(metadata.value(at));
            out.metadata =
                Some(parsed.map_err(|error| format!("its metadata is damaged: {error}"))?);
            continue;
        }
        let row = row(batch, at)?;
        let known = files + out.new_names.len() as u32;
        if paths.is_valid(at) && row.file == known {
            out.new_names.push(paths.value(at).to_owned());
        } else if row.file >= known || paths.is_valid(at) {
            return Err(format!("file number {} comes before its name", row.file));
        }
        out.rows.push(row);
    }
    Ok(out)
}

fn row(batch: &RecordBatch, at: usize) -> Result<Access, String> {
    let u32s = |column: usize| batch.column(column).as_primitive::<UInt32Type>().value(at);
    let u64s = |column: usize| batch.column(column).as_primitive::<UInt64Type>().value(at);
    let known = |column: usize| batch.column(column).is_valid(at);
    let optional = |column: usize| known(column).then(|| u64s(column));
    let op = batch.column(4).as_primitive::<UInt8Type>().value(at);
    Ok(Access {
        run: u32s(0),
        time_ns: u64s(1),
        pid: u32s(2),
        tid: u32s(3),
        op: Op::ALL
            .get(usize::from(op))
            .copied()
            .ok_or_else(|| format!("{op} is not a kind of access"))?,
        file: u32s(5),
        offset: batch.column(7).as_primitive::<Int64Type>().value(at),
        bytes: u64s(8),
        latency_ns: optional(9),
        error: known(10).then(|| batch.column(10).as_primitive::<Int32Type>().value(at)),
        file_bytes: optional(11),
        device: optional(12),
        inode: optional(13),
    })
}
