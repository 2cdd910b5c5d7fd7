//! The programs at a call's entry and exit. They share one form: what is not followed leaves at
//! once, by the label `out`.

use super::convention::HERE;
use super::fields::Fields;
use super::layout::{self, IDS, KIND, NUMBER, TIME, call, kinds, later, rule, untold};
use super::{Scope, Tables};
use crate::bpf::Register::{R0, R1, R2, R3, R4, R6, R7, R8, R9, Stack};
use crate::bpf::Width::{Eight, Four};
use crate::bpf::{Assembler, Helper, Jump, Label, Map, Program, Register};

/// The reader looks by itself; to wake it at each record costs more than the record.
const NO_WAKEUP: i32 = 1;

/// Places on the stack.
const AT_IDS: i16 = -8;
const AT_KEY: i16 = -12;
const AT_STATUS: i16 = -16;
const AT_CONVENTION: i16 = -20;
const AT_ANY: i16 = -32;
const AT_REGISTERS: i16 = -160;

/// Writes the programs.
pub(super) struct Code<'a> {
    pub(super) tables: &'a Tables,
    pub(super) ring: &'a Map,
    pub(super) fields: &'a Fields,
    pub(super) scope: Scope,
}

/// How a program finds the open files of its calls, if it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Files {
    None,
    ByDescriptor,
    ByAddress,
}

/// What programs call: each has its own copy.
pub(super) struct Parts {
    pub(super) lost: Label,
    pub(super) file: Label,
}

impl Code<'_> {
    /// A program, with the parts that it may call behind it.
    pub(super) fn program(
        &self,
        body: impl FnOnce(&mut Assembler, &Parts),
        files: Files,
    ) -> Program {
        let mut code = Assembler::default();
        let parts = Parts { lost: code.label(), file: code.label() };
        body(&mut code, &parts);
        code.place(parts.lost);
        self.count_lost(&mut code);
        if files != Files::None {
            code.place(parts.file);
            self.find_file(&mut code, files);
        }
        code.finish()
    }

    /// At the entry of each call of the machine.
    pub(super) fn at_entry(&self) -> Program {
        let body = |code: &mut Assembler, parts: &Parts| {
            let out = code.label();
            code.copy(R6, R1);
            self.leave_unless_followed(code, out);
            self.find_rule(code, out);
            self.scratch(code, out);
            self.note(code);
            self.note_arguments(code);
            pick(code, rule::TEXT, |code| code.store(Eight, R8, call::TEXT, R1));
            for (at, place) in rule::WORDS.iter().zip([0, 8]) {
                pick(code, *at, |code| code.store(Eight, R8, call::WORDS + place, R1));
            }
            for ((at, place), slot) in rule::FILES.iter().zip([0, 8]).zip(layout::UNTOLD) {
                code.store_number(Eight, R8, slot + untold::PATH, 0);
                pick(code, *at, |code| {
                    code.copy(R2, R9);
                    code.set(R3, 0);
                    code.copy(R4, R8);
                    code.add(R4, slot.into());
                    code.call_part(parts.file);
                    code.store(Eight, R8, call::FILES + place, R0);
                });
            }
            let tell = code.label();
            for slot in layout::UNTOLD {
                code.load(Eight, R1, R8, slot + untold::PATH);
                code.jump_if(R1, Jump::Unequal, 0, tell);
            }
            self.send_or_keep(code, parts);
            code.jump(out);
            code.place(tell);
            code.store_number(Eight, R8, layout::GO_ON, later::ENTRY);
            code.set(R3, later::TELL);
            code.copy(R1, R6);
            self.go_on(code, parts);
            code.place(out);
            code.set(R0, 0);
            code.exit();
        };
        self.program(body, Files::ByDescriptor)
    }

    /// The rest of [`Code::at_entry`], after files were told.
    pub(super) fn later_at_entry(&self) -> Program {
        let body = |code: &mut Assembler, parts: &Parts| {
            let out = code.label();
            code.call(Helper::CurrentIds);
            code.store(Eight, Stack, AT_IDS, R0);
            self.scratch(code, out);
            code.load(Eight, R7, R8, call::RULE);
            self.send_or_keep(code, parts);
            code.place(out);
            code.set(R0, 0);
            code.exit();
        };
        self.program(body, Files::None)
    }

    /// Leaves `out` if this process is not followed. The thread's numbers are at `AT_IDS` then.
    pub(super) fn leave_unless_followed(&self, code: &mut Assembler, out: Label) {
        code.call(Helper::CurrentIds);
        code.store(Eight, Stack, AT_IDS, R0);
        code.shift_right(R0, 32);
        code.store(Four, Stack, AT_KEY, R0);
        lookup(code, &self.tables.processes, AT_KEY);
        let when = match self.scope {
            Scope::Followed => Jump::Equal,
            Scope::Machine => Jump::Unequal,
        };
        code.jump_if(R0, when, 0, out);
    }

    /// The call's rule into register 7, the thread into register 9.
    fn find_rule(&self, code: &mut Assembler, out: Label) {
        code.load(Eight, R7, R6, 8);
        code.call(Helper::CurrentTask);
        code.copy(R9, R0);
        code.store_number(Four, Stack, AT_STATUS, 0);
        read(code, AT_STATUS, 4, R9, self.fields.task_status);
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
        code.load(Four, R1, Stack, AT_STATUS);
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

    /// This processor's scratch memory into register 8.
    pub(super) fn scratch(&self, code: &mut Assembler, out: Label) {
        code.store_number(Four, Stack, AT_KEY, 0);
        lookup(code, &self.tables.scratch, AT_KEY);
        code.jump_if(R0, Jump::Equal, 0, out);
        code.copy(R8, R0);
    }

    /// What is known of every call.
    fn note(&self, code: &mut Assembler) {
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
        for place in [call::FILES, call::FILES + 8, call::POSITION, call::BYTES] {
            code.store_number(Eight, R8, place, 0);
        }
        code.store(Eight, R8, call::RULE, R7);
        code.call(Helper::Now);
        code.store(Eight, R8, TIME, R0);
    }

    fn note_arguments(&self, code: &mut Assembler) {
        code.load(Eight, R3, R6, 0);
        code.copy(R1, Stack);
        code.add(R1, AT_REGISTERS.into());
        code.set(R2, HERE.registers_bytes());
        code.call(Helper::ReadKernel);
        let (foreign, done) = (code.label(), code.label());
        code.load(Four, R1, Stack, AT_CONVENTION);
        code.jump_if(R1, Jump::Equal, 1, foreign);
        for (at, place) in HERE.native.into_iter().zip((0..).step_by(8)) {
            code.load(Eight, R1, Stack, AT_REGISTERS + at);
            code.store(Eight, R8, call::ARGUMENTS + place, R1);
        }
        code.jump(done);
        code.place(foreign);
        for (at, place) in HERE.foreign.into_iter().zip((0..).step_by(8)) {
            code.load(Four, R1, Stack, AT_REGISTERS + at);
            code.store(Eight, R8, call::ARGUMENTS + place, R1);
        }
        code.place(done);
    }

    /// Sends the call, keeps it until its exit, or both.
    fn send_or_keep(&self, code: &mut Assembler, parts: &Parts) {
        let (keep, end) = (code.label(), code.label());
        code.copy(R1, R7);
        code.and(R1, rule::BOTH | rule::ENTRY_ONLY);
        code.jump_if(R1, Jump::Equal, 0, keep);
        code.store_number(Four, R8, KIND, kinds::ENTERED);
        code.copy(R2, R8);
        code.set(R3, call::RECORD_BYTES);
        self.send(code, parts);
        code.copy(R1, R7);
        code.and(R1, rule::ENTRY_ONLY);
        code.jump_if(R1, Jump::Unequal, 0, end);
        code.store_number(Four, R8, KIND, kinds::LEFT);
        code.place(keep);
        code.map(R1, &self.tables.running);
        code.copy(R2, Stack);
        code.add(R2, AT_IDS.into());
        code.copy(R3, R8);
        code.set(R4, 0);
        code.call(Helper::Update);
        code.jump_if(R0, Jump::Equal, 0, end);
        code.call_part(parts.lost);
        code.place(end);
    }

    /// At the exit of each call of the machine.
    pub(super) fn at_exit(&self) -> Program {
        let body = |code: &mut Assembler, parts: &Parts| {
            let out = code.label();
            code.copy(R6, R1);
            code.call(Helper::CurrentIds);
            code.store(Eight, Stack, AT_IDS, R0);
            lookup(code, &self.tables.running, AT_IDS);
            code.jump_if(R0, Jump::Equal, 0, out);
            code.copy(R7, R0);
            code.load(Eight, R8, R6, 8);
            code.store(Eight, R7, call::RESULT, R8);
            code.call(Helper::Now);
            code.store(Eight, R7, call::LEFT, R0);
            code.load(Eight, R9, R7, call::RULE);
            for place in [call::WORDS, call::WORDS + 8] {
                read_word(code, place);
            }
            self.tell_opened(code, parts);
            self.end_call(code, parts);
            code.place(out);
            code.set(R0, 0);
            code.exit();
        };
        self.program(body, Files::ByDescriptor)
    }

    /// The rest of [`Code::at_exit`], after a file was told.
    pub(super) fn later_at_exit(&self) -> Program {
        let body = |code: &mut Assembler, parts: &Parts| {
            let out = code.label();
            code.call(Helper::CurrentIds);
            code.store(Eight, Stack, AT_IDS, R0);
            lookup(code, &self.tables.running, AT_IDS);
            code.jump_if(R0, Jump::Equal, 0, out);
            code.copy(R7, R0);
            code.load(Eight, R9, R7, call::RULE);
            self.end_call(code, parts);
            code.place(out);
            code.set(R0, 0);
            code.exit();
        };
        self.program(body, Files::None)
    }

    /// Sends the call in register 7, of the rule in register 9, and forgets it.
    fn end_call(&self, code: &mut Assembler, parts: &Parts) {
        self.tell_end(code);
        code.copy(R2, R7);
        code.set(R3, call::RECORD_BYTES);
        self.send(code, parts);
        code.map(R1, &self.tables.running);
        code.copy(R2, Stack);
        code.add(R2, AT_IDS.into());
        code.call(Helper::Delete);
    }

    /// Goes on to tell the file or directory that a call has opened or moved to. Of one that
    /// failed, and of others that have one, tells the path. Register 6 holds the context, 8 the
    /// result, 9 the rule.
    fn tell_opened(&self, code: &mut Assembler, parts: &Parts) {
        let (moves, opens, text, done) = (code.label(), code.label(), code.label(), code.label());
        code.jump_if(R8, Jump::SignedBelow, 0, text);
        code.jump_if(R9, Jump::AnyBit, rule::MOVES, moves);
        code.jump_if(R9, Jump::AnyBit, rule::OPENS, opens);
        code.jump(text);
        code.place(opens);
        self.begin_untold(code, done);
        code.copy(R4, R0);
        code.add(R4, layout::UNTOLD[0].into());
        code.load(Eight, R2, Stack, AT_ANY);
        code.copy(R1, R8);
        code.set(R3, 1);
        code.call_part(parts.file);
        code.store(Eight, R7, call::FILES, R0);
        code.jump_if(R0, Jump::Equal, 0, done);
        self.tell_untold(code, parts, done);
        code.place(moves);
        self.begin_untold(code, done);
        code.copy(R8, R0);
        code.load(Eight, R1, Stack, AT_ANY);
        read(code, AT_ANY, 8, R1, self.fields.task_fs);
        code.load(Eight, R1, Stack, AT_ANY);
        code.add(R1, self.fields.fs_directory);
        let slot = layout::UNTOLD[0];
        code.store(Eight, R8, slot + untold::PATH, R1);
        for place in [untold::FILE, untold::INODE, untold::FRESH] {
            code.store_number(Eight, R8, slot + place, 0);
        }
        self.tell_untold(code, parts, done);
        code.place(text);
        self.tell_text(code, parts, done);
        code.place(done);
    }

    /// The thread at `AT_ANY`, and the scratch memory into register 0, with no file untold.
    fn begin_untold(&self, code: &mut Assembler, done: Label) {
        code.call(Helper::CurrentTask);
        code.store(Eight, Stack, AT_ANY, R0);
        code.store_number(Four, Stack, AT_KEY, 0);
        lookup(code, &self.tables.scratch, AT_KEY);
        code.jump_if(R0, Jump::Equal, 0, done);
        for slot in layout::UNTOLD {
            code.store_number(Eight, R0, slot + untold::PATH, 0);
        }
        code.store_number(Eight, R0, layout::GO_ON, later::EXIT);
    }

    fn tell_untold(&self, code: &mut Assembler, parts: &Parts, done: Label) {
        code.set(R3, later::TELL);
        code.copy(R1, R6);
        self.go_on(code, parts);
        code.jump(done);
    }

    fn tell_text(&self, code: &mut Assembler, parts: &Parts, done: Label) {
        code.load(Eight, R1, R7, call::TEXT);
        code.jump_if(R1, Jump::Equal, 0, done);
        code.store_number(Four, Stack, AT_KEY, 0);
        lookup(code, &self.tables.scratch, AT_KEY);
        code.jump_if(R0, Jump::Equal, 0, done);
        code.copy(R6, R0);
        code.copy(R1, R6);
        code.add(R1, layout::TEXT_AT + layout::TEXT_HEADER_BYTES);
        code.set(R2, layout::TEXT_BYTES);
        code.load(Eight, R3, R7, call::TEXT);
        code.call(Helper::ReadUserText);
        code.jump_if(R0, Jump::SignedAtMost, 0, done);
        code.jump_if(R0, Jump::Above, layout::TEXT_BYTES, done);
        code.copy(R3, R0);
        code.add(R3, layout::TEXT_HEADER_BYTES);
        code.copy(R2, R6);
        code.add(R2, layout::TEXT_AT);
        code.store_number(Eight, R2, KIND, kinds::TEXT);
        code.load(Eight, R1, Stack, AT_IDS);
        code.store(Eight, R2, IDS, R1);
        self.send(code, parts);
    }

    /// Position and size of the last file, if the rule wants them.
    pub(super) fn tell_end(&self, code: &mut Assembler) {
        let (wanted, have, done) = (code.label(), code.label(), code.label());
        code.jump_if(R9, Jump::AnyBit, rule::END, wanted);
        code.jump(done);
        code.place(wanted);
        code.load(Eight, R8, R7, call::FILES + 8);
        code.jump_if(R8, Jump::Unequal, 0, have);
        code.load(Eight, R8, R7, call::FILES);
        code.jump_if(R8, Jump::Equal, 0, done);
        code.place(have);
        read_into(code, R7, call::POSITION.into(), 8, R8, self.fields.file_position);
        read(code, AT_ANY, 8, R8, self.fields.file_inode);
        code.load(Eight, R8, Stack, AT_ANY);
        read_into(code, R7, call::BYTES.into(), 8, R8, self.fields.inode_bytes);
        code.place(done);
    }

    /// Puts the record at register 2, of the length in register 3, into the ring.
    pub(super) fn send(&self, code: &mut Assembler, parts: &Parts) {
        let sent = code.label();
        code.map(R1, self.ring);
        code.set(R4, NO_WAKEUP);
        code.call(Helper::Output);
        code.jump_if(R0, Jump::Equal, 0, sent);
        code.call_part(parts.lost);
        code.place(sent);
    }

    fn count_lost(&self, code: &mut Assembler) {
        let end = code.label();
        code.store_number(Four, Stack, AT_KEY, 0);
        lookup(code, &self.tables.lost, AT_KEY);
        code.jump_if(R0, Jump::Equal, 0, end);
        code.set(R1, 1);
        code.add_atomic(R0, R1);
        code.place(end);
        code.set(R0, 0);
        code.exit();
    }
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

/// Replaces an address in the call at register 7 by what the program has there.
fn read_word(code: &mut Assembler, place: i16) {
    let none = code.label();
    code.load(Eight, R3, R7, place);
    code.jump_if(R3, Jump::Equal, 0, none);
    code.copy(R1, R7);
    code.add(R1, place.into());
    code.set(R2, 8);
    code.call(Helper::ReadUser);
    code.place(none);
}

/// Finds the value of the key at this place of the stack.
pub(super) fn lookup(code: &mut Assembler, map: &Map, key: i16) {
    code.map(R1, map);
    code.copy(R2, Stack);
    code.add(R2, key.into());
    code.call(Helper::Lookup);
}

/// Reads a field of a struct of the kernel's onto the stack; zeroes, if it cannot be read.
pub(super) fn read(code: &mut Assembler, place: i16, bytes: i32, base: Register, field: i32) {
    read_into(code, Stack, place.into(), bytes, base, field);
}

/// As [`read`], to a place behind the address in `into`.
pub(super) fn read_into(
    code: &mut Assembler,
    into: Register,
    place: i32,
    bytes: i32,
    base: Register,
    field: i32,
) {
    code.copy(R3, base);
    code.add(R3, field);
    code.copy(R1, into);
    code.add(R1, place);
    code.set(R2, bytes);
    code.call(Helper::ReadKernel);
}
