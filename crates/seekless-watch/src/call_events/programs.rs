//! What all programs share, and the program at a call's exit. They have one form: what is not
//! followed leaves at once, by the label `out`.

use super::fields::{Casts, Fields};
use super::layout::{self, IDS, KIND, call, kinds, later, rule, unreported, walk};
use super::{Scope, Tables};
use crate::bpf::Register::{R0, R1, R2, R3, R4, R6, R7, R8, R9, Stack};
use crate::bpf::Width::{Eight, Four};
use crate::bpf::{Assembler, Helper, Jump, Label, Map, Program, Register, Width};
use crate::bpf::{count, put};
pub(super) use crate::bpf::{lookup, read, read_into, update};
use crate::seccomp::When;

/// Places on the stack.
const AT_IDS: i16 = -8;
const AT_KEY: i16 = -12;
const AT_ANY: i16 = -32;
/// Below the records that are made on the stack: what is to be sent, and where the ring is.
const AT_SENT: i16 = layout::AT_RECORD - 8;

/// Writes the programs.
pub(super) struct Code<'a> {
    pub(super) tables: &'a Tables,
    /// The table that has the ring.
    pub(super) ring: &'a Map,
    pub(super) fields: &'a Fields,
    pub(super) scope: Scope,
    /// The conditions that rules name by their numbers, from 1.
    pub(super) conditions: &'a [When],
    /// How fields that every call needs are loaded directly. `None`: by a helper call each, which
    /// takes tens of times as long.
    pub(super) casts: Option<Casts>,
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

    /// The memory of this thread into register 0, which is 0 if there is no such memory; the
    /// thread's numbers to `AT_IDS`.
    pub(super) fn look_up_thread(&self, code: &mut Assembler) {
        code.call(Helper::CurrentIds);
        code.store(Eight, Stack, AT_IDS, R0);
        lookup(code, &self.tables.threads, AT_IDS);
    }

    /// The thread into register 0.
    pub(super) fn thread(&self, code: &mut Assembler) {
        code.call(Helper::CurrentTask);
        code.copy(R1, R0);
        self.cast(code, |casts| casts.task);
    }

    /// Gives the address in register 1 a type, so that its fields can be loaded directly, if that
    /// works; the result is in register 0.
    pub(super) fn cast(&self, code: &mut Assembler, to: impl Fn(&Casts) -> i32) {
        match &self.casts {
            Some(casts) => {
                code.set(R2, to(casts));
                code.call_function(casts.function);
            }
            None => code.copy(R0, R1),
        }
    }

    /// Loads a field of a struct of the kernel's that was cast, or reached from one that was;
    /// `place` is of the stack, for the slower way. The result may be a null pointer.
    pub(super) fn field(
        &self,
        code: &mut Assembler,
        (width, into): (Width, Register),
        base: Register,
        field: i32,
        place: i16,
    ) {
        match (self.casts.is_some(), i16::try_from(field)) {
            (true, Ok(field)) => code.load(width, into, base, field),
            (true, Err(_)) => {
                code.copy(into, base);
                code.add(into, field);
                code.load(width, into, into, 0);
            }
            (false, _) => {
                let bytes = match width {
                    Width::Two => 2,
                    Four => 4,
                    Eight => 8,
                };
                read(code, place, bytes, base, field);
                code.load(width, into, Stack, place);
            }
        }
    }

    /// This processor's scratch memory into register 8.
    pub(super) fn scratch(&self, code: &mut Assembler, out: Label) {
        code.store_number(Four, Stack, AT_KEY, 0);
        lookup(code, &self.tables.scratch, AT_KEY);
        code.jump_if(R0, Jump::Equal, 0, out);
        code.copy(R8, R0);
    }

    /// At the exit of each call of the machine.
    pub(super) fn at_exit(&self) -> Program {
        let body = |code: &mut Assembler, parts: &Parts| {
            let out = code.label();
            code.copy(R6, R1);
            self.look_up_thread(code);
            code.jump_if(R0, Jump::Equal, 0, out);
            code.copy(R7, R0);
            code.load(Eight, R9, R7, call::RULE);
            code.jump_if(R9, Jump::Equal, 0, out);
            code.load(Eight, R8, R6, 8);
            code.store(Eight, R7, call::RESULT, R8);
            code.call(Helper::Now);
            code.store(Eight, R7, call::LEFT, R0);
            for place in [call::WORDS, call::WORDS + 8] {
                read_word(code, place);
            }
            let reaps = code.label();
            code.jump_if(R9, Jump::AnyBit, rule::REAPS, reaps);
            self.report_opened(code, parts);
            self.end_call(code, parts);
            code.jump(out);
            code.place(reaps);
            code.set(R3, later::REAP);
            code.copy(R1, R6);
            self.go_on(code, parts);
            code.place(out);
            code.set(R0, 0);
            code.exit();
        };
        self.program(body, Files::ByDescriptor)
    }

    /// The rest of [`Code::at_exit`], after a file was reported.
    pub(super) fn later_at_exit(&self) -> Program {
        let body = |code: &mut Assembler, parts: &Parts| {
            let out = code.label();
            self.look_up_thread(code);
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

    /// Sends the call in register 7, of the rule in register 9, and notes that it is over.
    pub(super) fn end_call(&self, code: &mut Assembler, parts: &Parts) {
        self.report_end(code);
        code.copy(R2, R7);
        self.send_call(code, parts, R9);
        code.store_number(Eight, R7, call::RULE, 0);
    }

    /// Sends the record of a call at register 2, as much of it as its rule asks for.
    pub(super) fn send_call(&self, code: &mut Assembler, parts: &Parts, rule: Register) {
        let known = code.label();
        code.set(R3, call::WIDE_BYTES);
        code.jump_if(rule, Jump::AnyBit, rule::WIDE, known);
        code.set(R3, call::NARROW_BYTES);
        code.place(known);
        self.send(code, parts);
    }

    /// Goes on to report the file or directory that a call has opened or moved to. For a call that
    /// failed, and for others with a path, reports the path. Register 6 holds the context, 8 the
    /// result, 9 the rule.
    fn report_opened(&self, code: &mut Assembler, parts: &Parts) {
        let (moves, opens, text, done) = (code.label(), code.label(), code.label(), code.label());
        code.jump_if(R8, Jump::SignedBelow, 0, text);
        code.jump_if(R9, Jump::AnyBit, rule::MOVES, moves);
        code.jump_if(R9, Jump::AnyBit, rule::OPENS, opens);
        code.jump(text);
        code.place(opens);
        self.begin_unreported(code, done);
        code.copy(R4, R0);
        code.add(R4, layout::UNTOLD[0].into());
        code.load(Eight, R2, Stack, AT_ANY);
        code.copy(R1, R8);
        code.set(R3, 1);
        code.call_part(parts.file);
        code.store(Eight, R7, call::FILES[0], R0);
        code.jump_if(R0, Jump::Equal, 0, done);
        self.report_unreported(code, parts, done);
        code.place(moves);
        self.begin_unreported(code, done);
        code.copy(R8, R0);
        code.load(Eight, R1, Stack, AT_ANY);
        read(code, AT_ANY, 8, R1, self.fields.task_fs);
        code.load(Eight, R1, Stack, AT_ANY);
        code.add(R1, self.fields.fs_directory);
        let slot = layout::UNTOLD[0];
        code.store(Eight, R8, slot + unreported::PATH, R1);
        for place in [unreported::FILE, unreported::INODE, unreported::FRESH] {
            code.store_number(Eight, R8, slot + place, 0);
        }
        self.report_unreported(code, parts, done);
        code.place(text);
        self.report_text(code, parts, done);
        code.place(done);
    }

    /// The thread at `AT_ANY`, and the scratch memory into register 0, with no file unreported.
    fn begin_unreported(&self, code: &mut Assembler, done: Label) {
        self.thread(code);
        code.store(Eight, Stack, AT_ANY, R0);
        code.store_number(Four, Stack, AT_KEY, 0);
        lookup(code, &self.tables.scratch, AT_KEY);
        code.jump_if(R0, Jump::Equal, 0, done);
        begin_unreported(code, R0, later::EXIT);
    }

    fn report_unreported(&self, code: &mut Assembler, parts: &Parts, done: Label) {
        code.set(R3, later::TELL);
        code.copy(R1, R6);
        self.go_on(code, parts);
        code.jump(done);
    }

    fn report_text(&self, code: &mut Assembler, parts: &Parts, done: Label) {
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
    pub(super) fn report_end(&self, code: &mut Assembler) {
        let (wanted, have, done) = (code.label(), code.label(), code.label());
        code.jump_if(R9, Jump::AnyBit, rule::END, wanted);
        code.jump(done);
        code.place(wanted);
        code.load(Eight, R8, R7, call::FILES[1]);
        code.jump_if(R8, Jump::Unequal, 0, have);
        code.load(Eight, R8, R7, call::FILES[0]);
        code.jump_if(R8, Jump::Equal, 0, done);
        code.place(have);
        code.copy(R1, R8);
        self.cast(code, |casts| casts.file);
        code.copy(R8, R0);
        self.field(code, (Eight, R1), R8, self.fields.file_position, AT_ANY);
        code.store(Eight, R7, call::POSITION, R1);
        self.field(code, (Eight, R8), R8, self.fields.file_inode, AT_ANY);
        code.jump_if(R8, Jump::Equal, 0, done);
        self.field(code, (Eight, R1), R8, self.fields.inode_bytes, AT_ANY);
        code.store(Eight, R7, call::BYTES, R1);
        code.place(done);
    }

    /// Puts the record at register 2, of the length in register 3, into the ring, or counts it as
    /// lost.
    pub(super) fn send(&self, code: &mut Assembler, parts: &Parts) {
        let sent = code.label();
        self.put(code);
        code.jump_if(R0, Jump::Equal, 0, sent);
        code.call_part(parts.lost);
        code.place(sent);
    }

    /// As [`Code::send`]; register 0 is 0 if the record had room.
    pub(super) fn put(&self, code: &mut Assembler) {
        put(code, self.ring, AT_SENT);
    }

    fn count_lost(&self, code: &mut Assembler) {
        count(code, &self.tables.lost, AT_KEY);
        code.set(R0, 0);
        code.exit();
    }
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

/// No file is unreported yet in the scratch memory at this register; then to go on to this program.
pub(super) fn begin_unreported(code: &mut Assembler, scratch: Register, then: i32) {
    for slot in layout::UNTOLD {
        code.store_number(Eight, scratch, slot + unreported::PATH, 0);
    }
    code.store_number(Eight, scratch, layout::WALK + walk::PLACE, 0);
    code.store_number(Eight, scratch, layout::GO_ON, then);
}
