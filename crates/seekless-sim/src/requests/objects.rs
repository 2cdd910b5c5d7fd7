//! Rows to objects: each read, write, fault or load is one request, known by file and offset, whatever its size.

use super::joined::{Called, Clock, Files, REQUESTS_MAX};
use super::reading::{Lines, Reading};
use super::writes::Writes;
use super::{Requests, Unit};
use crate::{Error, ErrorKind, Result};
use seekless_policy::eviction::Id;
use seekless_trace::{Batch, Columns, FileId, Op, Trace, open_any};
use std::collections::HashMap;
use std::path::PathBuf;

const NONE: Id = Id::MAX;

pub(super) fn read(
    traces: &[PathBuf],
    reading: &Reading,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Requests> {
    let mut objects = Objects { raw: reading.lines == Lines::Raw, ..Objects::default() };
    let mut files = Files::default();
    for path in traces {
        let trace = open_any(path)?;
        let joined = if traces.len() > 1 { Some(files.join(trace.file_names()?)?) } else { None };
        objects.clock.next_trace();
        objects.append(&trace, joined.as_deref(), progress)?;
    }
    let mut requests = Requests::new(Unit::Object, objects.ids, objects.weights);
    (requests.writes, requests.unmapped) = (objects.writes, objects.unmapped);
    requests.times = if reading.times { objects.times } else { Vec::new() };
    Ok(requests)
}

#[derive(Default)]
struct Objects {
    raw: bool,
    ids: Vec<Id>,
    writes: Writes,
    times: Vec<u64>,
    clock: Clock,
    unmapped: u64,
    /// The largest size that each object was seen with.
    weights: Vec<u64>,
    /// The object at offset 0 of each file: all there are in a trace of ids.
    starts: Vec<Id>,
    others: HashMap<(FileId, i64), Id>,
}

impl Objects {
    fn append(
        &mut self,
        trace: &Trace,
        joined: Option<&[FileId]>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<()> {
        let called = Called::scan(trace)?;
        let columns = Columns::RUN | Columns::TIME_NS | Columns::OP | Columns::FILE | Columns::OFFSET;
        let mut rows = 0;
        for batch in trace.scan(columns | Columns::BYTES | Columns::ERROR)? {
            let batch = batch?;
            for row in (0..batch.rows()).filter(|&row| called.is_request(&batch, row)) {
                let file = batch.file()[row];
                self.push(&batch, row, joined.map_or(file, |joined| joined[file as usize]))?;
            }
            rows += batch.rows() as u64;
            progress(rows, trace.rows());
        }
        Ok(())
    }

    fn push(&mut self, batch: &Batch, row: usize, file: FileId) -> Result<()> {
        let (op, bytes) = (batch.op()[row], batch.bytes()[row]);
        let mut offset = batch.offset()[row];
        if offset < 0 {
            self.unmapped += 1;
            offset = 0;
        }
        if (batch.offset()[row] < 0 && !self.raw) || (bytes == 0 && op != Op::Load) {
            return Ok(());
        }
        if self.ids.len() as u64 >= REQUESTS_MAX {
            return Err(Error::new(ErrorKind::Limit, "the trace has more than 2^32 requests; cut it"));
        }
        let id = self.number(file, offset);
        let weight = &mut self.weights[id as usize];
        *weight = bytes.max(*weight);
        if op == Op::Write {
            self.writes.set(self.ids.len());
        }
        self.ids.push(id);
        self.times.push(self.clock.at(batch.run()[row], batch.time_ns()[row]));
        Ok(())
    }

    fn number(&mut self, file: FileId, offset: i64) -> Id {
        if file as usize >= self.starts.len() {
            self.starts.resize(file as usize + 1, NONE);
        }
        let slot = match offset {
            0 => &mut self.starts[file as usize],
            _ => self.others.entry((file, offset)).or_insert(NONE),
        };
        if *slot == NONE {
            *slot = self.weights.len() as Id;
            self.weights.push(0);
        }
        *slot
    }
}
