//! The programs that follow the life of processes: birth, exec and end.

use super::Scope;
use super::layout::{self, AT_RECORD, IDS, KIND, NUMBER, TIME, kinds, shared};
use super::programs::{Code, Files, Parts, read};
use crate::bpf::Register::{R0, R1, R2, R3, R4, R6, R7, R8, R9, Stack};
use crate::bpf::Width::{Eight, Four};
use crate::bpf::{Assembler, Helper, Jump, Program};

/// Places on the stack; the first two are those of `leave_unless_followed`.
const AT_IDS: i16 = -8;
const AT_KEY: i16 = -12;
const AT_ONE: i16 = -24;
const AT_OTHER: i16 = -32;

impl Code<'_> {
    /// Before a new thread runs for the first time.
    pub(super) fn at_fork(&self) -> Program {
        let body = |code: &mut Assembler, parts: &Parts| {
            let out = code.label();
            code.copy(R6, R1);
            self.leave_unless_followed(code, out);
            code.load(Eight, R7, R6, 0);
            code.load(Eight, R8, R6, 8);
            self.begin_record(code, kinds::BORN);
            self.note_shared(code);
            code.store(Four, Stack, AT_RECORD + NUMBER, R9);
            read(code, AT_RECORD + layout::CHILD, 4, R8, self.fields.task_pid);
            read(code, AT_RECORD + layout::CHILD + 4, 4, R8, self.fields.task_process);
            let same = code.label();
            code.load(Four, R1, Stack, AT_RECORD + layout::CHILD + 4);
            code.load(Eight, R2, Stack, AT_IDS);
            code.shift_right(R2, 32);
            code.jump_if_register(R1, Jump::Equal, R2, same);
            if self.scope == Scope::Followed {
                self.follow_child(code, parts);
            }
            code.place(same);
            self.send_record(code, parts, layout::BORN_BYTES);
            code.place(out);
            code.set(R0, 0);
            code.exit();
        };
        self.program(body, Files::None)
    }

    fn follow_child(&self, code: &mut Assembler, parts: &Parts) {
        let followed = code.label();
        code.store_number(Eight, Stack, AT_ONE, 1);
        code.map(R1, &self.tables.processes);
        code.copy(R2, Stack);
        code.add(R2, (AT_RECORD + layout::CHILD + 4).into());
        code.copy(R3, Stack);
        code.add(R3, AT_ONE.into());
        code.set(R4, 0);
        code.call(Helper::Update);
        code.jump_if(R0, Jump::Equal, 0, followed);
        code.call_part(parts.lost);
        code.place(followed);
    }

    /// Into register 9, what the threads at registers 7 and 8 have in common.
    fn note_shared(&self, code: &mut Assembler) {
        let fields = self.fields;
        code.set(R9, 0);
        for (field, bit) in [
            (fields.task_files, shared::FILES),
            (fields.task_fs, shared::DIRECTORY),
            (fields.task_mm, shared::MEMORY),
        ] {
            let differ = code.label();
            read(code, AT_ONE, 8, R7, field);
            read(code, AT_OTHER, 8, R8, field);
            code.load(Eight, R1, Stack, AT_ONE);
            code.load(Eight, R2, Stack, AT_OTHER);
            code.jump_if_register(R1, Jump::Unequal, R2, differ);
            code.add(R9, bit);
            code.place(differ);
        }
    }

    /// After a program was executed, and its close-on-exec descriptors closed.
    pub(super) fn at_exec(&self) -> Program {
        let body = |code: &mut Assembler, parts: &Parts| {
            let fields = self.fields;
            let out = code.label();
            code.copy(R6, R1);
            self.leave_unless_followed(code, out);
            self.begin_record(code, kinds::EXECUTED);
            code.load(Eight, R1, R6, 8); // the number that the thread had before
            code.store(Four, Stack, AT_RECORD + NUMBER, R1);
            code.load(Eight, R7, R6, 0);
            read(code, AT_ONE, 8, R7, fields.task_files);
            code.load(Eight, R7, Stack, AT_ONE);
            read(code, AT_ONE, 8, R7, fields.files_table);
            code.load(Eight, R7, Stack, AT_ONE);
            code.store_number(Eight, Stack, AT_RECORD + layout::MOST, 0);
            read(code, AT_RECORD + layout::MOST, 4, R7, fields.table_most);
            read(code, AT_ONE, 8, R7, fields.table_open);
            code.load(Eight, R7, Stack, AT_ONE);
            read(code, AT_RECORD + layout::OPEN, layout::OPEN_BYTES, R7, 0);
            self.send_record(code, parts, layout::EXECUTED_BYTES);
            self.forget_former(code);
            code.place(out);
            code.set(R0, 0);
            code.exit();
        };
        self.program(body, Files::None)
    }

    /// A thread that executes a program gets the number of its process.
    fn forget_former(&self, code: &mut Assembler) {
        code.load(Eight, R1, R6, 8);
        code.low_half(R1);
        code.load(Eight, R2, Stack, AT_IDS);
        code.shift_right(R2, 32);
        code.shift_left(R2, 32);
        code.add_register(R1, R2);
        code.store(Eight, Stack, AT_ONE, R1);
        self.forget_thread(code, AT_ONE);
    }

    /// Of the numbers at this place of the stack.
    fn forget_thread(&self, code: &mut Assembler, ids: i16) {
        code.map(R1, &self.tables.threads);
        code.copy(R2, Stack);
        code.add(R2, ids.into());
        code.call(Helper::Delete);
    }

    /// At the end of a thread.
    pub(super) fn at_end(&self) -> Program {
        let body = |code: &mut Assembler, parts: &Parts| {
            let (fields, out) = (self.fields, code.label());
            code.copy(R6, R1);
            self.leave_unless_followed(code, out);
            self.begin_record(code, kinds::ENDED);
            self.send_record(code, parts, layout::ENDED_BYTES);
            self.forget_thread(code, AT_IDS);
            code.load(Eight, R7, R6, 0);
            read(code, AT_ONE, 8, R7, fields.task_signal);
            code.load(Eight, R7, Stack, AT_ONE);
            code.store_number(Eight, Stack, AT_ONE, 1);
            read(code, AT_ONE, 4, R7, fields.signal_live);
            code.load(Four, R1, Stack, AT_ONE);
            code.jump_if(R1, Jump::Unequal, 0, out);
            code.map(R1, &self.tables.processes);
            code.copy(R2, Stack);
            code.add(R2, AT_KEY.into());
            code.call(Helper::Delete);
            code.place(out);
            code.set(R0, 0);
            code.exit();
        };
        self.program(body, Files::None)
    }

    fn begin_record(&self, code: &mut Assembler, kind: i32) {
        code.store_number(Eight, Stack, AT_RECORD + KIND, kind);
        code.load(Eight, R1, Stack, AT_IDS);
        code.store(Eight, Stack, AT_RECORD + IDS, R1);
        code.call(Helper::Now);
        code.store(Eight, Stack, AT_RECORD + TIME, R0);
    }

    fn send_record(&self, code: &mut Assembler, parts: &Parts, bytes: i32) {
        code.copy(R2, Stack);
        code.add(R2, AT_RECORD.into());
        code.set(R3, bytes);
        self.send(code, parts);
    }
}
