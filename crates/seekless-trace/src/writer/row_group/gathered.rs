//! Rows turned into columns of plain numbers, in one pass over them.

use crate::{Access, FileId, Op};
use std::num::NonZeroU64;

/// The columns of some rows.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) run: Vec<u64>,
    pub(super) time_ns: Vec<u64>,
    pub(super) pid: Vec<u64>,
    pub(super) tid: Vec<u64>,
    pub(super) op: Vec<Op>,
    pub(super) file: Vec<FileId>,
    pub(super) offset: Vec<u64>,
    pub(super) bytes: Vec<u64>,
    pub(super) latency_ns: Optional,
    pub(super) error: Optional,
    pub(super) file_bytes: Optional,
    pub(super) device: Optional,
    pub(super) inode: Optional,
    /// Empty in a file without lifetimes.
    pub(super) ttl_ns: Optional,
}

/// The values of those rows that have one, and of each row whether it has.
#[derive(Default)]
pub(super) struct Optional {
    pub(super) values: Vec<u64>,
    pub(super) present: Vec<bool>,
}

impl Optional {
    fn clear(&mut self) {
        self.values.clear();
        self.present.clear();
    }

    fn push(&mut self, value: Option<u64>) {
        self.present.push(value.is_some());
        self.values.extend(value);
    }
}

impl Gathered {
    /// How many rows there are.
    pub(super) fn rows(&self) -> usize {
        self.op.len()
    }

    /// Appends rows. Negative numbers keep their bits.
    pub(super) fn add(&mut self, rows: &[Access], mut number: impl FnMut(FileId) -> FileId) {
        for row in rows {
            self.run.push(row.run.into());
            self.time_ns.push(row.time_ns);
            self.pid.push(row.pid.into());
            self.tid.push(row.tid.into());
            self.op.push(row.op);
            self.file.push(number(row.file));
            self.offset.push(row.offset as u64);
            self.bytes.push(row.bytes);
            self.latency_ns.push(row.latency_ns);
            self.error.push(row.error.map(|error| i64::from(error) as u64));
            self.file_bytes.push(row.file_bytes);
            self.device.push(row.device);
            self.inode.push(row.inode);
        }
    }

    /// Appends the lifetimes of rows.
    pub(super) fn add_lifetimes(&mut self, rows: &[Access]) {
        rows.iter().for_each(|row| self.ttl_ns.push(row.ttl_ns.map(NonZeroU64::get)));
    }

    /// Forgets the rows.
    pub(super) fn clear(&mut self) {
        for column in [
            &mut self.run,
            &mut self.time_ns,
            &mut self.pid,
            &mut self.tid,
            &mut self.offset,
            &mut self.bytes,
        ] {
            column.clear();
        }
        self.op.clear();
        self.file.clear();
        for column in [
            &mut self.latency_ns,
            &mut self.error,
            &mut self.file_bytes,
            &mut self.device,
            &mut self.inode,
            &mut self.ttl_ns,
        ] {
            column.clear();
        }
    }
}
