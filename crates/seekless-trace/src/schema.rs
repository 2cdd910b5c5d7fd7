//! The columns of a trace file in their order, with their types.

use parquet::errors::Result;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnDescPtr, TypePtr};
use std::sync::Arc;

pub(crate) const RUN: &str = "run";
pub(crate) const TIME_NS: &str = "time_ns";
pub(crate) const PID: &str = "pid";
pub(crate) const TID: &str = "tid";
pub(crate) const OP: &str = "op";
pub(crate) const FILE: &str = "file";
pub(crate) const PATH: &str = "path";
pub(crate) const OFFSET: &str = "offset";
pub(crate) const BYTES: &str = "bytes";
pub(crate) const LATENCY_NS: &str = "latency_ns";
pub(crate) const ERROR: &str = "error";
pub(crate) const FILE_BYTES: &str = "file_bytes";
pub(crate) const DEVICE: &str = "device";
pub(crate) const INODE: &str = "inode";
pub(crate) const TTL_NS: &str = "ttl_ns";

const COLUMNS: &str = "message arrow_schema {
    REQUIRED INT32 run (INTEGER(32, false));
    REQUIRED INT64 time_ns (INTEGER(64, false));
    REQUIRED INT32 pid (INTEGER(32, false));
    REQUIRED INT32 tid (INTEGER(32, false));
    REQUIRED BYTE_ARRAY op (STRING);
    REQUIRED INT32 file (INTEGER(32, false));
    REQUIRED BYTE_ARRAY path (STRING);
    REQUIRED INT64 offset;
    REQUIRED INT64 bytes (INTEGER(64, false));
    OPTIONAL INT64 latency_ns (INTEGER(64, false));
    OPTIONAL INT32 error;
    OPTIONAL INT64 file_bytes (INTEGER(64, false));
    OPTIONAL INT64 device (INTEGER(64, false));
    OPTIONAL INT64 inode (INTEGER(64, false));
";
const TTL: &str = "    OPTIONAL INT64 ttl_ns (INTEGER(64, false));\n";

/// The schema that the writer writes, with the lifetimes of objects or without.
pub(crate) fn schema(lifetimes: bool) -> Result<TypePtr> {
    let more = if lifetimes { TTL } else { "" };
    Ok(Arc::new(parse_message_type(&format!("{COLUMNS}{more}}}"))?))
}

/// Whether a file with these columns has the lifetimes of objects.
pub(crate) fn has_lifetimes(columns: &[ColumnDescPtr]) -> bool {
    columns.last().is_some_and(|last| last.name() == TTL_NS)
}

/// The key of the same schema for readers that know Arrow, such as pandas and DuckDB.
pub(crate) const ARROW_KEY: &str = "ARROW:schema";
/// What it says: the columns above, with `op` and `path` as dictionaries, in Arrow's encoding and
/// base64. Dictionary keys are signed, because pandas refuses unsigned ones. A test of the Python
/// package reads it with pyarrow.
pub(crate) const ARROW_SCHEMA: &str = include_str!("schema.arrow");
