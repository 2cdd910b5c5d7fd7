//! Requests of io_uring: reads, writes and syncs that a program hands over without a call for each.
//! One program notes a request when it is taken from the ring, with its offset and length; another
//! joins the result when it is completed, with the open file that it was about. They are reported
//! as calls with numbers that no call has.

use super::fields::RingFields;
use super::layout::{self, IDS, KIND, NUMBER, TIME, call, kinds, later, rule, unreported};
use super::programs::{Code, Files, Parts, begin_unreported, lookup, read, read_into};
use crate::bpf::Register::{R0, R1, R2, R3, R4, R6, R7, R8, R9, Stack};
use crate::bpf::Width::{Eight, Four};
use crate::bpf::{Assembler, Helper, Jump, Label, Program};

/// The number of a read from a ring, reported as `pread` is: arguments 2 and 3 are length and
/// offset, which is −1 for the position of the file.
pub const RING_READ: u32 = 2000;
/// The number of a write by a ring, reported as `pwrite` is.
pub const RING_WRITE: u32 = 2001;
/// The number of a sync by a ring, reported as `fsync` is.
pub const RING_SYNC: u32 = 2002;

/// The kernel's operations of these kinds: READV, READ_FIXED, READ, READV_FIXED, and so on.
const OPERATIONS: [(i32, u32); 9] = [
    (1, RING_READ),
    (4, RING_READ),
    (22, RING_READ),
    (60, RING_READ),
    (2, RING_WRITE),
    (5, RING_WRITE),
    (23, RING_WRITE),
    (61, RING_WRITE),
    (3, RING_SYNC),
];

/// Places on the stack, beside those of `leave_unless_followed` and `scratch`.
const AT_IDS: i16 = -8;
const AT_ANY: i16 = -32;
const AT_REQUEST: i16 = -40;

impl Code<'_> {
    /// When a request is taken from a ring.
    pub(super) fn at_ring_submit(&self, fields: &RingFields) -> Program {
        let body = |code: &mut Assembler, parts: &Parts| {
            let (out, known) = (code.label(), code.label());
            code.copy(R6, R1);
            self.leave_unless_followed(code, out);
            code.load(Eight, R9, R6, 0);
            code.store(Eight, Stack, AT_REQUEST, R9);
            code.store_number(Eight, Stack, AT_ANY, 0);
            read(code, AT_ANY, 1, R9, fields.operation);
            code.load(Eight, R1, Stack, AT_ANY);
            for (operation, number) in OPERATIONS {
                let next = code.label();
                code.jump_if(R1, Jump::Unequal, operation, next);
                code.set(R7, number as i32);
                code.jump(known);
                code.place(next);
            }
            code.jump(out);
            code.place(known);
            self.scratch(code, out);
            note_request(code, fields);
            code.map(R1, &self.tables.requests);
            code.copy(R2, Stack);
            code.add(R2, AT_REQUEST.into());
            code.copy(R3, R8);
            code.set(R4, 0);
            code.call(Helper::Update);
            code.jump_if(R0, Jump::Equal, 0, out);
            code.call_part(parts.lost);
            code.place(out);
            code.set(R0, 0);
            code.exit();
        };
        self.program(body, Files::None)
    }

    /// When a request is completed.
    pub(super) fn at_ring_complete(&self, fields: &RingFields) -> Program {
        let body = |code: &mut Assembler, parts: &Parts| {
            let (out, end) = (code.label(), code.label());
            code.copy(R6, R1);
            self.find_request(code, out);
            code.load(Eight, R3, R6, 16);
            code.store_number(Eight, Stack, AT_ANY, 0);
            read(code, AT_ANY, 4, R3, fields.result);
            code.load(Four, R1, Stack, AT_ANY);
            code.store(Eight, R7, call::RESULT, R1);
            code.call(Helper::Now);
            code.store(Eight, R7, call::LEFT, R0);
            code.load(Eight, R1, R6, 8);
            read(code, AT_ANY, 8, R1, fields.file);
            code.load(Eight, R9, Stack, AT_ANY); // 0 if it failed before its file was looked up
            self.scratch(code, end);
            begin_unreported(code, R8, later::RING);
            code.copy(R1, R9);
            code.set(R3, 0);
            code.copy(R4, R8);
            code.add(R4, layout::UNTOLD[0].into());
            code.call_part(parts.file);
            code.store(Eight, R7, call::FILES[0], R0);
            code.load(Eight, R1, R8, layout::UNTOLD[0] + unreported::PATH);
            code.jump_if(R1, Jump::Equal, 0, end);
            code.set(R3, later::TELL);
            code.copy(R1, R6);
            self.go_on(code, parts);
            code.jump(out);
            code.place(end);
            self.end_request(code, parts);
            code.place(out);
            code.set(R0, 0);
            code.exit();
        };
        self.program(body, Files::ByAddress)
    }

    /// The rest of [`Code::at_ring_complete`], after the file was reported.
    pub(super) fn later_at_ring_complete(&self) -> Program {
        let body = |code: &mut Assembler, parts: &Parts| {
            let out = code.label();
            code.copy(R6, R1);
            self.find_request(code, out);
            self.end_request(code, parts);
            code.place(out);
            code.set(R0, 0);
            code.exit();
        };
        self.program(body, Files::None)
    }

    /// The call in the making of the completed request into register 7.
    fn find_request(&self, code: &mut Assembler, out: Label) {
        code.load(Eight, R1, R6, 8);
        code.store(Eight, Stack, AT_REQUEST, R1);
        lookup(code, &self.tables.requests, AT_REQUEST);
        code.jump_if(R0, Jump::Equal, 0, out);
        code.copy(R7, R0);
    }

    fn end_request(&self, code: &mut Assembler, parts: &Parts) {
        code.load(Eight, R9, R7, call::RULE);
        self.report_end(code);
        code.copy(R2, R7);
        code.set(R3, call::WIDE_BYTES);
        self.send(code, parts);
        code.map(R1, &self.tables.requests);
        code.copy(R2, Stack);
        code.add(R2, AT_REQUEST.into());
        code.call(Helper::Delete);
    }
}

/// The request at register 9, of the number in register 7, as a call into the memory at register 8.
fn note_request(code: &mut Assembler, fields: &RingFields) {
    code.store_number(Four, R8, KIND, kinds::CALLED);
    code.store(Four, R8, NUMBER, R7);
    code.load(Eight, R1, Stack, AT_IDS);
    code.store(Eight, R8, IDS, R1);
    for place in (call::LEFT..call::WIDE_BYTES as i16).step_by(8) {
        code.store_number(Eight, R8, place, 0);
    }
    code.store_number(Eight, R8, call::TEXT, 0);
    code.store_number(Eight, R8, call::RULE, 0);
    let reads = code.label();
    code.jump_if(R7, Jump::Unequal, RING_WRITE as i32, reads);
    code.store_number(Eight, R8, call::RULE, rule::END);
    code.place(reads);
    read_into(code, R8, (call::ARGUMENTS + 2 * 8).into(), 4, R9, fields.length);
    read_into(code, R8, (call::ARGUMENTS + 3 * 8).into(), 8, R9, fields.offset);
    code.call(Helper::Now);
    code.store(Eight, R8, TIME, R0);
}
