//! The columns of a trace file in their order, with their Arrow types. Dictionary keys are signed,
//! because pandas refuses unsigned ones.

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use std::sync::{Arc, OnceLock};

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

/// The type of the `op` column.
pub(crate) fn op_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8))
}

/// The type of the `path` column.
pub(crate) fn path_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// The schema that the writer writes.
pub(crate) fn schema() -> SchemaRef {
    static SCHEMA: OnceLock<SchemaRef> = OnceLock::new();
    let make = || {
        Arc::new(Schema::new(vec![
            Field::new(RUN, DataType::UInt32, false),
            Field::new(TIME_NS, DataType::UInt64, false),
            Field::new(PID, DataType::UInt32, false),
            Field::new(TID, DataType::UInt32, false),
            Field::new(OP, op_type(), false),
            Field::new(FILE, DataType::UInt32, false),
            Field::new(PATH, path_type(), false),
            Field::new(OFFSET, DataType::Int64, false),
            Field::new(BYTES, DataType::UInt64, false),
            Field::new(LATENCY_NS, DataType::UInt64, true),
            Field::new(ERROR, DataType::Int32, true),
            Field::new(FILE_BYTES, DataType::UInt64, true),
            Field::new(DEVICE, DataType::UInt64, true),
            Field::new(INODE, DataType::UInt64, true),
        ]))
    };
    SCHEMA.get_or_init(make).clone()
}
