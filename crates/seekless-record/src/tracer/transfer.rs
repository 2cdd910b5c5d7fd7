//! Calls that move bytes: finds the offset of each, and updates the position.

use super::Tracer;
use super::rows::{Outcome, signed};
use crate::call::{Call, Offset};
use crate::descriptions::{DescriptionId, Moment};
use crate::thread::Pending;
use seekless_trace::{Access, Op};

/// pwritev2's argument with flags, and the flag that makes a write append.
const WRITE_FLAGS: usize = 5;
const RWF_APPEND: u64 = libc::RWF_APPEND as u64;

impl Tracer {
    pub(super) fn transferred(
        &mut self,
        tid: i32,
        pending: &Pending,
        at: Moment,
        outcome: Outcome,
    ) {
        let (from, into) = match pending.call {
            Call::Read(offset) => (explicit(&pending.arguments, offset), None),
            Call::Write(offset) => (None, explicit(&pending.arguments, offset)),
            Call::SendFile => (self.pointed(tid, pending, 2, outcome), None),
            _ => (self.pointed(tid, pending, 1, outcome), self.pointed(tid, pending, 3, outcome)),
        };
        if let Some(id) = pending.from {
            self.read(id, from, at, outcome);
        }
        if let Some(id) = pending.into {
            self.wrote(tid, id, into, pending, at, outcome);
        }
    }

    pub(super) fn read(
        &mut self,
        id: DescriptionId,
        explicit: Option<u64>,
        at: Moment,
        outcome: Outcome,
    ) {
        let bytes = outcome.unwrap_or(0);
        let description = self.descriptions.get(id);
        let file = description.file;
        let offset = if description.stream { 0 } else { explicit.unwrap_or(description.position) };
        if explicit.is_none() && !description.stream {
            description.position = offset.saturating_add(bytes);
        }
        let completes = outcome.is_ok() && description.reads(offset, bytes);
        description.used |= bytes > 0;
        let access =
            Access { offset: signed(offset), bytes, ..self.call_row(Op::Read, file, at, outcome) };
        let access = self.with_key(access, id);
        self.emit(access);
        if completes {
            self.emit_load(id);
        }
    }

    fn wrote(
        &mut self,
        tid: i32,
        id: DescriptionId,
        explicit: Option<u64>,
        pending: &Pending,
        at: Moment,
        outcome: Outcome,
    ) {
        let bytes = outcome.unwrap_or(0);
        let description = self.descriptions.get(id);
        description.written |= bytes > 0;
        description.used |= bytes > 0;
        self.writes += 1;
        let flagged = matches!(
            pending.call,
            Call::Write(Offset::ArgumentOrPosition | Offset::HalvesOrPosition(_))
        ) && pending.arguments[WRITE_FLAGS] & RWF_APPEND != 0;
        let mut offset = explicit.unwrap_or(description.position);
        if description.stream {
            offset = 0;
        } else if bytes > 0 && (description.append || flagged) {
            offset = self
                .end_of_append(tid, pending, explicit.is_some())
                .map_or(offset, |end| if self.foresees { end } else { end.saturating_sub(bytes) });
        }
        let description = self.descriptions.get(id);
        if explicit.is_none() && !description.stream {
            description.position = offset.saturating_add(bytes);
        }
        let file = description.file;
        let access =
            Access { offset: signed(offset), bytes, ..self.call_row(Op::Write, file, at, outcome) };
        let access = self.with_key(access, id);
        self.emit(access);
    }

    /// The offset at which the call started. It is at the address in argument `at`, and the call
    /// has moved it on since.
    fn pointed(&self, tid: i32, pending: &Pending, at: usize, outcome: Outcome) -> Option<u64> {
        let moved = if pending.arguments[at] == 0 { None } else { self.ask_word(tid, pending, at) };
        Some(moved?.wrapping_sub(outcome.unwrap_or(0)))
    }

    /// Where an append ended: the position, or the file's end if the call does not use the
    /// position. If the call has yet to happen, where it will begin.
    fn end_of_append(&self, tid: i32, pending: &Pending, positioned: bool) -> Option<u64> {
        let fd = pending.descriptor(if matches!(pending.call, Call::CopyRange | Call::Splice) {
            2
        } else {
            0
        });
        self.ask_end(tid, fd, positioned || self.foresees)
    }
}

/// The offset in the call's arguments; `None` if the call uses the position.
pub(super) fn explicit(arguments: &[u64; 6], offset: Offset) -> Option<u64> {
    let whole = arguments[3];
    let halves = |at: usize| arguments[at] & u64::from(u32::MAX) | arguments[at + 1] << 32;
    let unless_position = |named: u64| Some(named).filter(|named| *named != u64::MAX);
    match offset {
        Offset::Position => None,
        Offset::Argument => Some(whole),
        Offset::ArgumentOrPosition => unless_position(whole),
        Offset::Halves(at) => Some(halves(at)),
        Offset::HalvesOrPosition(at) => unless_position(halves(at)),
    }
}
