//! The program at a call's entry: finds out whether the call is reported, and notes it in its
//! thread's memory until its exit.

use super::convention::HERE;
use super::layout::{self, IDS, KIND, NUMBER, TIME, call, kinds, later, rule, unreported};
use super::programs::{Code, Files, Parts, begin_unreported, lookup, update};
use crate::bpf::Register::{R0, R1, R2, R3, R4, R6, R7, R8, R9, Stack};
use crate::bpf::Width::{Eight, Four};
use crate::bpf::{Assembler, Helper, Jump, Label, Program, Register};
use crate::seccomp::When;

/// Places on the stack; the first two are those of `leave_unless_followed`.
const AT_IDS: i16 = -8;
const AT_KEY: i16 = -12;
const AT_STATUS: i16 = -16;
const AT_CONVENTION: i16 = -20;
const AT_ANY: i16 = -32;
const AT_REGISTERS: i16 = -160;

impl Code<'_> {
    /// At the entry of each call of the machine. Register 6 is the context, 7 the rule, 8 the
    /// thread's memory, 9 the thread.
    pub(super) fn at_entry(&self) -> Program {
        let body = |code: &mut Assembler, parts: &Parts| {
            let (out, tell) = (code.label(), code.label());
            code.copy(R6, R1);
            self.find_rule(code, out);
            self.find_thread(code, parts, out);
            self.note_arguments(code);
            self.leave_unless_it_matters(code, out);
            note(code);
            pick(code, rule::TEXT, |code| code.store(Eight, R8, call::TEXT, R1));
            for (at, place) in rule::WORDS.iter().zip([0, 8]) {
                pick(code, *at, |code| code.store(Eight, R8, call::WORDS + place, R1));
            }
            for ((at, place), slot) in
                rule::FILES.iter().zip(call::FILES).zip(layout::THREAD_UNTOLD)
            {
                code.store_number(Eight, R8, slot + unreported::PATH, 0);
                pick(code, *at, |code| {
                    code.copy(R2, R9);
                    code.set(R3, 0);
                    code.copy(R4, R8);
                    code.add(R4, slot.into());
                    code.call_part(parts.file);
                    code.store(Eight, R8, place, R0);
                });
            }
            for slot in layout::THREAD_UNTOLD {
                code.load(Eight, R1, R8, slot + unreported::PATH);
                code.jump_if(R1, Jump::Unequal, 0, tell);
            }
            let submits = code.label();
            code.jump_if(R7, Jump::AnyBit, rule::SUBMITS, submits);
            self.report_entry(code, parts);
            code.jump(out);
            code.place(submits);
            self.begin_submitted(code, parts, out);
            code.jump(out);
            code.place(tell);
            self.report_files_first(code, parts, out);
            code.place(out);
            code.set(R0, 0);
            code.exit();
        };
        self.program(body, Files::ByDescriptor)
    }

    /// Goes on to report the files that the thread's memory, at register 8, has as unreported.
    fn report_files_first(&self, code: &mut Assembler, parts: &Parts, out: Label) {
        code.copy(R9, R8);
        self.scratch(code, out);
        begin_unreported(code, R8, later::ENTRY);
        for (theirs, ours) in layout::THREAD_UNTOLD.into_iter().zip(layout::UNTOLD) {
            for place in [unreported::FILE, unreported::INODE, unreported::FRESH, unreported::PATH]
            {
                code.load(Eight, R1, R9, theirs + place);
                code.store(Eight, R8, ours + place, R1);
            }
        }
        code.set(R3, later::TELL);
        code.copy(R1, R6);
        self.go_on(code, parts);
    }

    /// The rest of [`Code::at_entry`], after files were reported.
    pub(super) fn later_at_entry(&self) -> Program {
        let body = |code: &mut Assembler, parts: &Parts| {
            let out = code.label();
            self.look_up_thread(code);
            code.jump_if(R0, Jump::Equal, 0, out);
            code.copy(R8, R0);
            code.load(Eight, R7, R8, call::RULE);
            self.thread(code);
            code.copy(R9, R0);
            self.report_entry(code, parts);
            code.place(out);
            code.set(R0, 0);
            code.exit();
        };
        self.program(body, Files::None)
    }

    /// The call's rule into register 7, the thread into register 9. Most calls of the machine have
    /// none, and leave `out`.
    fn find_rule(&self, code: &mut Assembler, out: Label) {
        code.load(Eight, R7, R6, 8);
        self.thread(code);
        code.copy(R9, R0);
        code.store_number(Four, Stack, AT_CONVENTION, 0);
        let (small, known) = (code.label(), code.label());
        code.jump_if(R7, Jump::Below, layout::NUMBERS as i32, small);
        match HERE.x32 {
            Some((first, last)) => {
                code.jump_if(R7, Jump::Below, first, out);
                code.jump_if(R7, Jump::Above, last, out);
                code.set(R7, layout::FIRST_X32 as i32);
                code.store_number(Four, Stack, AT_CONVENTION, 2);
                code.jump(known);
            }
            None => code.jump(out),
        }
        code.place(small);
        self.field(code, (Four, R1), R9, self.fields.task_status, AT_STATUS);
        code.and(R1, HERE.foreign_bit);
        code.jump_if(R1, Jump::Equal, 0, known);
        code.add(R7, layout::NUMBERS as i32);
        code.store_number(Four, Stack, AT_CONVENTION, 1);
        code.place(known);
        code.store(Four, Stack, AT_KEY, R7);
        lookup(code, &self.tables.rules, AT_KEY);
        code.jump_if(R0, Jump::Equal, 0, out);
        code.load(Eight, R7, R0, 0);
        code.jump_if(R7, Jump::Equal, 0, out);
    }

    /// The thread's memory into register 8, its numbers to `AT_IDS`. Leaves `out` if its process is
    /// not followed. The memory is made at the first call, and kept until the thread ends.
    fn find_thread(&self, code: &mut Assembler, parts: &Parts, out: Label) {
        let known = code.label();
        self.look_up_thread(code);
        code.copy(R8, R0);
        code.jump_if(R8, Jump::Unequal, 0, known);
        self.leave_unless_followed(code, out);
        self.scratch(code, out);
        code.store_number(Eight, R8, call::RULE, 0);
        update(code, &self.tables.threads, AT_IDS, R8);
        lookup(code, &self.tables.threads, AT_IDS);
        code.copy(R8, R0);
        code.jump_if(R8, Jump::Unequal, 0, known);
        code.call_part(parts.lost);
        code.jump(out);
        code.place(known);
    }

    /// Into the thread's memory at register 8.
    fn note_arguments(&self, code: &mut Assembler) {
        let (base, from) = self.registers(code);
        let (foreign, done) = (code.label(), code.label());
        code.load(Four, R1, Stack, AT_CONVENTION);
        code.jump_if(R1, Jump::Equal, 1, foreign);
        for (at, place) in HERE.native.into_iter().zip((0..).step_by(8)) {
            code.load(Eight, R1, base, from + at);
            code.store(Eight, R8, call::ARGUMENTS + place, R1);
        }
        code.jump(done);
        code.place(foreign);
        for (at, place) in HERE.foreign.into_iter().zip((0..).step_by(8)) {
            code.load(Four, R1, base, from + at);
            code.store(Eight, R8, call::ARGUMENTS + place, R1);
        }
        code.place(done);
    }

    /// Where the registers are with which the thread came into the kernel.
    fn registers(&self, code: &mut Assembler) -> (Register, i16) {
        if self.casts.is_some() {
            code.load(Eight, R1, R6, 0);
            self.cast(code, |casts| casts.registers);
            return (R0, 0);
        }
        code.load(Eight, R3, R6, 0);
        code.copy(R1, Stack);
        code.add(R1, AT_REGISTERS.into());
        code.set(R2, HERE.registers_bytes());
        code.call(Helper::ReadKernel);
        (Stack, AT_REGISTERS)
    }

    /// Leaves `out` if the arguments do not fulfil the rule's condition.
    fn leave_unless_it_matters(&self, code: &mut Assembler, out: Label) {
        let matters = code.label();
        code.copy(R2, R7);
        code.shift_right(R2, rule::CONDITION);
        code.jump_if(R2, Jump::Equal, 0, matters);
        for (condition, number) in self.conditions.iter().zip(1..) {
            let next = code.label();
            code.jump_if(R2, Jump::Unequal, number, next);
            test(code, *condition, out);
            code.jump(matters);
            code.place(next);
        }
        code.place(matters);
    }

    /// Sends the call at register 8, of the rule in register 7 and the thread in register 9, if it
    /// is reported at its entry.
    fn report_entry(&self, code: &mut Assembler, parts: &Parts) {
        let (only, end) = (code.label(), code.label());
        let send = |code: &mut Assembler| {
            code.store_number(Four, R8, KIND, kinds::ENTERED);
            code.copy(R2, R8);
            self.send_call(code, parts, R7);
        };
        code.jump_if(R7, Jump::AnyBit, rule::ENTRY_ONLY, only);
        code.copy(R1, R7);
        code.and(R1, rule::BOTH);
        code.jump_if(R1, Jump::Equal, 0, end);
        // A close is reported once if no other thread has this table of descriptors.
        self.field(code, (Eight, R1), R9, self.fields.task_files, AT_ANY);
        code.jump_if(R1, Jump::Equal, 0, end);
        self.field(code, (Four, R2), R1, self.fields.files_count, AT_ANY);
        code.jump_if(R2, Jump::Equal, 1, end);
        send(code);
        code.store_number(Four, R8, KIND, kinds::LEFT);
        code.jump(end);
        code.place(only);
        send(code);
        code.store_number(Eight, R8, call::RULE, 0);
        code.place(end);
    }
}

/// What is known of every call, into the thread's memory at register 8: it is in the call of the
/// rule in register 7 from now on.
fn note(code: &mut Assembler) {
    code.store_number(Four, R8, KIND, kinds::CALLED);
    code.load(Eight, R1, R6, 8);
    code.store(Four, R8, NUMBER, R1);
    code.load(Eight, R1, Stack, AT_IDS);
    code.store(Eight, R8, IDS, R1);
    code.load(Four, R1, Stack, AT_CONVENTION);
    code.store(Eight, R8, call::CONVENTION, R1);
    for place in [call::LEFT, call::RESULT, call::WORDS, call::WORDS + 8, call::TEXT] {
        code.store_number(Eight, R8, place, 0);
    }
    for place in [call::FILES[0], call::FILES[1], call::POSITION, call::BYTES] {
        code.store_number(Eight, R8, place, 0);
    }
    code.store(Eight, R8, call::RULE, R7);
    code.call(Helper::Now);
    code.store(Eight, R8, TIME, R0);
}

/// Leaves `out` if the call at register 8 does not fulfil the condition, as [`When::holds`] says.
fn test(code: &mut Assembler, condition: When, out: Label) {
    let place = |argument: u32| call::ARGUMENTS + 8 * argument as i16;
    let holds = code.label();
    match condition {
        When::Always => {}
        When::ArgumentIn(argument, values) => {
            code.load(Four, R1, R8, place(argument));
            for value in values {
                code.jump_if(R1, Jump::Equal, *value as i32, holds);
            }
            code.jump(out);
        }
        When::ArgumentWithout(argument, bits) => {
            code.load(Four, R1, R8, place(argument));
            code.jump_if(R1, Jump::AnyBit, bits as i32, out);
        }
        When::ArgumentWith(argument, bits) => {
            code.load(Four, R1, R8, place(argument));
            code.jump_if(R1, Jump::AnyBit, bits as i32, holds);
            code.jump(out);
        }
        When::UnlessWithZero(argument, value, zero) => {
            code.load(Four, R1, R8, place(argument));
            code.jump_if(R1, Jump::Unequal, value as i32, holds);
            code.load(Eight, R1, R8, place(zero));
            code.jump_if(R1, Jump::Equal, 0, out);
        }
    }
    code.place(holds);
}

/// Runs `then` with an argument of the call in register 1, if the rule in register 7 names one at
/// these bits.
fn pick(code: &mut Assembler, at: i32, then: impl FnOnce(&mut Assembler)) {
    let none = code.label();
    code.copy(R1, R7);
    code.shift_right(R1, at);
    code.and(R1, 7);
    code.jump_if(R1, Jump::Equal, 0, none);
    code.shift_left(R1, 3);
    code.copy(R2, R8);
    code.add_register(R2, R1);
    code.load(Eight, R1, R2, call::ARGUMENTS - 8); // arguments are counted from 1 here
    then(code);
    code.place(none);
}
