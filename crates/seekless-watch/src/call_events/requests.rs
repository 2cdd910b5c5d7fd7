//! Requests of Linux's own asynchronous I/O: io_submit takes them from blocks in the program's
//! memory, and io_getevents returns their results there. Each block is reported as a call with a
//! number that no call has, when io_submit begins; results are reported when io_getevents ends.

use super::layout::{self, IDS, KIND, NUMBER, TIME, block, call, kinds, later, reaped, unreported};
use super::programs::{Code, Files, Parts, begin_unreported};
use crate::bpf::Register::{R0, R1, R2, R3, R4, R6, R7, R8, R9, Stack};
use crate::bpf::Width::{Eight, Four, Two};
use crate::bpf::{Assembler, Helper, Jump, Label, Program};

/// The number of a read by io_submit, reported as `pread` is: arguments 2 and 3 are length and
/// offset, argument 4 is the address of the request's block. The first word is 1 if the length
/// counts parts of memory.
pub const AIO_READ: u32 = 2003;
/// The number of a write by io_submit, reported as `pwrite` is.
pub const AIO_WRITE: u32 = 2004;
/// The number of a sync by io_submit, reported as `fsync` is.
pub const AIO_SYNC: u32 = 2005;

/// The kernel's opcodes, and whether they are for parts of memory: PREAD, PWRITE, FSYNC, FDSYNC,
/// PREADV, PWRITEV.
const OPCODES: [(i32, u32, i32); 6] = [
    (0, AIO_READ, 0),
    (1, AIO_WRITE, 0),
    (2, AIO_SYNC, 0),
    (3, AIO_SYNC, 0),
    (7, AIO_READ, 1),
    (8, AIO_WRITE, 1),
];

/// The verifier goes through each turn of a loop, so one run of the program makes few. It goes on
/// to itself up to 32 times; further blocks are counted as lost.
const BLOCKS_AT_ONCE: i32 = 16;
/// Records of results of one call; further results are counted as lost.
const RECORDS_MAX: i32 = 8;

/// Places on the stack, beside those of `look_up_thread` and `scratch`.
const AT_IDS: i16 = -8;
const AT_ANY: i16 = -32;
const AT_CONTEXT: i16 = -40;
const AT_TURNS: i16 = -48;

impl Code<'_> {
    /// Goes on to report the blocks of the call that is in the thread's memory.
    pub(super) fn begin_submitted(&self, code: &mut Assembler, parts: &Parts, out: Label) {
        self.scratch(code, out);
        code.store_number(Eight, R8, layout::BLOCKS_DONE, 0);
        code.set(R3, later::SUBMIT);
        code.copy(R1, R6);
        self.go_on(code, parts);
    }

    /// Tells blocks of io_submit, each after its file. Register 6 is the number of the block, 7 the
    /// thread's memory, 8 the scratch memory, 9 the address of the block.
    pub(super) fn report_submitted(&self) -> Program {
        let body = |code: &mut Assembler, parts: &Parts| {
            let (out, next, again) = (code.label(), code.label(), code.label());
            let (skip, tell) = (code.label(), code.label());
            code.store(Eight, Stack, AT_CONTEXT, R1);
            code.store_number(Eight, Stack, AT_TURNS, 0);
            self.look_up_thread(code);
            code.jump_if(R0, Jump::Equal, 0, out);
            code.copy(R7, R0);
            self.scratch(code, out);
            code.place(next);
            code.load(Eight, R1, Stack, AT_TURNS);
            code.jump_if(R1, Jump::AtLeast, BLOCKS_AT_ONCE, again);
            code.add(R1, 1);
            code.store(Eight, Stack, AT_TURNS, R1);
            code.load(Eight, R6, R8, layout::BLOCKS_DONE);
            code.load(Eight, R1, R7, call::ARGUMENTS + 8);
            code.jump_if_register(R6, Jump::AtLeast, R1, out);
            self.read_block(code, skip);
            self.find_file_of_block(code, parts);
            code.load(Eight, R1, R8, layout::UNTOLD[0] + unreported::PATH);
            code.jump_if(R1, Jump::Unequal, 0, tell);
            self.send_block(code, parts, skip);
            code.place(skip);
            code.load(Eight, R6, R8, layout::BLOCKS_DONE);
            code.add(R6, 1);
            code.store(Eight, R8, layout::BLOCKS_DONE, R6);
            code.jump(next);
            code.place(again);
            code.set(R3, later::SUBMIT);
            code.load(Eight, R1, Stack, AT_CONTEXT);
            self.go_on(code, parts);
            code.jump(out);
            code.place(tell);
            code.set(R3, later::TELL);
            code.load(Eight, R1, Stack, AT_CONTEXT);
            self.go_on(code, parts);
            code.place(out);
            code.set(R0, 0);
            code.exit();
        };
        self.program(body, Files::ByDescriptor)
    }

    /// Reads the block of the number in register 6 into the scratch memory.
    fn read_block(&self, code: &mut Assembler, skip: Label) {
        code.load(Eight, R3, R7, call::ARGUMENTS + 2 * 8);
        code.shift_left(R6, 3);
        code.add_register(R3, R6);
        code.copy(R1, R8);
        code.add(R1, layout::BLOCK_ADDRESS.into());
        code.set(R2, 8);
        code.call(Helper::ReadUser);
        code.jump_if(R0, Jump::Unequal, 0, skip);
        code.load(Eight, R3, R8, layout::BLOCK_ADDRESS);
        code.copy(R1, R8);
        code.add(R1, layout::BLOCK.into());
        code.set(R2, block::BYTES);
        code.call(Helper::ReadUser);
        code.jump_if(R0, Jump::Unequal, 0, skip);
    }

    /// The open file of the block into register 9.
    fn find_file_of_block(&self, code: &mut Assembler, parts: &Parts) {
        begin_unreported(code, R8, later::SUBMIT);
        self.thread(code);
        code.copy(R2, R0);
        code.load(Four, R1, R8, layout::BLOCK + block::DESCRIPTOR);
        code.set(R3, 0);
        code.copy(R4, R8);
        code.add(R4, layout::UNTOLD[0].into());
        code.call_part(parts.file);
        code.copy(R9, R0);
    }

    /// Sends the block as a call, in the place of a call in the scratch memory.
    fn send_block(&self, code: &mut Assembler, parts: &Parts, skip: Label) {
        let known = code.label();
        code.load(Two, R1, R8, layout::BLOCK + block::OPCODE);
        for (opcode, number, is_vector) in OPCODES {
            let next = code.label();
            code.jump_if(R1, Jump::Unequal, opcode, next);
            code.store_number(Four, R8, NUMBER, number as i32);
            code.store_number(Eight, R8, call::WORDS, is_vector);
            code.jump(known);
            code.place(next);
        }
        code.jump(skip);
        code.place(known);
        code.store_number(Four, R8, KIND, kinds::CALLED);
        for place in [IDS, TIME] {
            code.load(Eight, R1, R7, place);
            code.store(Eight, R8, place, R1);
        }
        for place in [call::LEFT, call::RESULT, call::CONVENTION, call::FILES[1]] {
            code.store_number(Eight, R8, place, 0);
        }
        for place in [call::WORDS + 8, call::POSITION, call::BYTES, call::ARGUMENTS + 5 * 8] {
            code.store_number(Eight, R8, place, 0);
        }
        code.store(Eight, R8, call::FILES[0], R9);
        code.load(Four, R1, R8, layout::BLOCK + block::DESCRIPTOR);
        code.store(Eight, R8, call::ARGUMENTS, R1);
        for (field, place) in [
            (layout::BLOCK + block::ADDRESS, 8),
            (layout::BLOCK + block::LENGTH, 16),
            (layout::BLOCK + block::OFFSET, 24),
            (layout::BLOCK_ADDRESS, 32),
        ] {
            code.load(Eight, R1, R8, field);
            code.store(Eight, R8, call::ARGUMENTS + place, R1);
        }
        code.copy(R2, R8);
        code.set(R3, call::WIDE_BYTES);
        self.send(code, parts);
    }

    /// Tells the results that io_getevents has returned, and then the call. Register 6 counts
    /// records, 7 is the thread's memory, 8 the scratch memory, 9 the number of results left.
    pub(super) fn report_reaped(&self) -> Program {
        let body = |code: &mut Assembler, parts: &Parts| {
            let (out, next, end) = (code.label(), code.label(), code.label());
            let few = code.label();
            self.look_up_thread(code);
            code.jump_if(R0, Jump::Equal, 0, out);
            code.copy(R7, R0);
            self.scratch(code, out);
            code.load(Eight, R9, R7, call::RESULT);
            code.set(R6, 0);
            code.place(next);
            code.jump_if(R9, Jump::SignedAtMost, 0, end);
            code.jump_if(R6, Jump::AtLeast, RECORDS_MAX, end);
            code.copy(R2, R9);
            code.jump_if(R2, Jump::Below, reaped::AT_ONCE, few);
            code.set(R2, reaped::AT_ONCE);
            code.place(few);
            code.shift_left(R2, 5);
            code.store(Eight, Stack, AT_ANY, R2);
            code.copy(R3, R6);
            code.shift_left(R3, 12);
            code.load(Eight, R1, R7, call::ARGUMENTS + 3 * 8);
            code.add_register(R3, R1);
            code.copy(R1, R8);
            code.add(R1, layout::TEXT_AT + reaped::HEADER_BYTES);
            code.call(Helper::ReadUser);
            code.jump_if(R0, Jump::Unequal, 0, end);
            code.copy(R2, R8);
            code.add(R2, layout::TEXT_AT);
            code.store_number(Eight, R2, KIND, kinds::REAPED);
            code.load(Eight, R1, Stack, AT_IDS);
            code.store(Eight, R2, IDS, R1);
            code.load(Eight, R1, R7, call::LEFT);
            code.store(Eight, R2, TIME, R1);
            code.load(Eight, R3, Stack, AT_ANY);
            code.add(R3, reaped::HEADER_BYTES);
            self.send(code, parts);
            code.add(R6, 1);
            code.add(R9, -reaped::AT_ONCE);
            code.jump(next);
            code.place(end);
            code.load(Eight, R9, R7, call::RULE);
            self.end_call(code, parts);
            code.place(out);
            code.set(R0, 0);
            code.exit();
        };
        self.program(body, Files::None)
    }
}
