//! The part of the programs that finds the open file behind a descriptor, and the program that
//! reports its name and what else is known of it.

use super::layout::{self, IDS, KIND, NUMBER, TIME, file, kinds, later, unreported, walk};
use super::programs::{Code, Files, Parts, lookup, read};
use crate::bpf::Register::{R0, R1, R2, R3, R4, R6, R7, R8, R9, Stack};
use crate::bpf::Width::{Eight, Four};
use crate::bpf::{Assembler, Helper, Jump, Label, Program, Width};

/// Deeper names are cut off at their beginning.
const PARTS_MAX: i32 = 48;
/// The verifier goes through each turn of a loop, so one run of the program makes few.
const PARTS_AT_ONCE: i32 = 6;

/// Places on the stack.
const AT_FILE: i16 = -8;
const AT_INODE: i16 = -16;
const AT_VIEW: i16 = -24;
const AT_NEXT: i16 = -32;
const AT_NAME: i16 = -40;
const AT_FRESH: i16 = -48;
const AT_PATH: i16 = -56;
const AT_KEY: i16 = -60;
const AT_CONTEXT: i16 = -72;
const AT_SCRATCH: i16 = -80;

impl Code<'_> {
    /// The part with the arguments: descriptor and thread, or the address of the open file; whether
    /// the file has just been opened, and where to note it if it is to be reported. Its result is
    /// the address of the open file, or 0.
    pub(super) fn find_file(&self, code: &mut Assembler, files: Files) {
        let (none, tell, done) = (code.label(), code.label(), code.label());
        let fields = self.fields;
        code.store(Eight, Stack, AT_FRESH, R3);
        code.copy(R8, R4);
        match files {
            Files::ByAddress => {
                code.copy(R9, R1);
                code.jump_if(R9, Jump::Equal, 0, none);
            }
            _ => self.look_up(code, none),
        }
        code.store(Eight, Stack, AT_FILE, R9);
        code.copy(R1, R9);
        self.cast(code, |casts| casts.file);
        self.field(code, (Eight, R1), R0, fields.file_inode, AT_INODE);
        code.store(Eight, Stack, AT_INODE, R1);
        code.load(Eight, R1, Stack, AT_FRESH);
        code.jump_if(R1, Jump::Unequal, 0, tell);
        lookup(code, &self.tables.reported, AT_FILE);
        code.jump_if(R0, Jump::Equal, 0, tell);
        code.load(Eight, R1, R0, 0);
        code.load(Eight, R2, Stack, AT_INODE);
        code.jump_if_register(R1, Jump::Equal, R2, done);
        code.place(tell);
        code.store(Eight, R8, unreported::FILE, R9);
        for (at, place) in [(AT_INODE, unreported::INODE), (AT_FRESH, unreported::FRESH)] {
            code.load(Eight, R1, Stack, at);
            code.store(Eight, R8, place, R1);
        }
        code.copy(R1, R9);
        code.add(R1, fields.file_path);
        code.store(Eight, R8, unreported::PATH, R1);
        code.place(done);
        code.copy(R0, R9);
        code.exit();
        code.place(none);
        code.set(R0, 0);
        code.exit();
    }

    /// The file of the descriptor in register 1, of the thread in register 2, into register 9.
    fn look_up(&self, code: &mut Assembler, none: Label) {
        let fields = self.fields;
        code.copy(R6, R1);
        code.low_half(R6);
        code.copy(R7, R2);
        for field in [fields.task_files, fields.files_table] {
            self.field(code, (Eight, R7), R7, field, AT_FILE);
            code.jump_if(R7, Jump::Equal, 0, none);
        }
        self.field(code, (Four, R1), R7, fields.table_most, AT_FILE);
        code.jump_if_register(R6, Jump::AtLeast, R1, none);
        code.shift_left(R6, 3);
        self.field(code, (Eight, R7), R7, fields.table_most + 8, AT_FILE);
        code.add_register(R7, R6);
        code.copy(R1, R7);
        self.cast(code, |casts| casts.word);
        self.field(code, (Eight, R9), R0, 0, AT_FILE);
        code.jump_if(R9, Jump::Equal, 0, none);
    }

    /// Reports one of the files that are noted as unreported, and goes on to itself; once there is
    /// no more, to the program that is noted. So the walk up a name is in one program only. It also
    /// goes on to itself after a few parts of a name.
    pub(super) fn report_files(&self) -> Program {
        let body = |code: &mut Assembler, parts: &Parts| {
            let (out, tell, go_on) = (code.label(), code.label(), code.label());
            let resume = code.label();
            code.store(Eight, Stack, AT_CONTEXT, R1);
            code.store_number(Four, Stack, AT_KEY, 0);
            lookup(code, &self.tables.scratch, AT_KEY);
            code.jump_if(R0, Jump::Equal, 0, out);
            code.copy(R7, R0);
            code.store(Eight, Stack, AT_SCRATCH, R0);
            lookup(code, &self.tables.reported_scratch, AT_KEY);
            code.jump_if(R0, Jump::Equal, 0, out);
            code.copy(R8, R0);
            code.load(Eight, R6, R7, layout::WALK + walk::PLACE);
            code.jump_if(R6, Jump::Unequal, 0, resume);
            for slot in layout::UNTOLD {
                let next = code.label();
                code.load(Eight, R1, R7, slot + unreported::PATH);
                code.jump_if(R1, Jump::Equal, 0, next);
                code.store(Eight, Stack, AT_PATH, R1);
                code.store_number(Eight, R7, slot + unreported::PATH, 0);
                let places = [unreported::FILE, unreported::INODE, unreported::FRESH];
                for (at, place) in [AT_FILE, AT_INODE, AT_FRESH].into_iter().zip(places) {
                    code.load(Eight, R1, R7, slot + place);
                    code.store(Eight, Stack, at, R1);
                }
                code.jump(tell);
                code.place(next);
            }
            code.load(Four, R3, R7, layout::GO_ON);
            code.jump(go_on);
            code.place(tell);
            self.report_numbers(code);
            let pause = code.label();
            self.walk(code, resume, pause);
            self.send_file(code, parts);
            code.place(pause);
            code.set(R3, later::TELL);
            code.place(go_on);
            code.load(Eight, R1, Stack, AT_CONTEXT);
            self.go_on(code, parts);
            code.place(out);
            code.set(R0, 0);
            code.exit();
        };
        self.program(body, Files::None)
    }

    /// Goes on to the program of the number in register 3, with the context in register 1. Comes
    /// back only if there is no such program.
    pub(super) fn go_on(&self, code: &mut Assembler, parts: &Parts) {
        code.map(R2, &self.tables.later);
        code.call(Helper::TailCall);
        code.call_part(parts.lost);
    }

    /// Sends the record of a file, and notes that it was reported.
    fn send_file(&self, code: &mut Assembler, parts: &Parts) {
        let (whole, unsent, done) = (code.label(), code.label(), code.label());
        code.load(Eight, R9, R8, file::NAME_BYTES);
        code.jump_if(R9, Jump::Below, file::NAME_BYTES_MAX, whole);
        code.set(R9, file::NAME_BYTES_MAX);
        code.place(whole);
        code.copy(R2, R8);
        code.copy(R3, R9);
        code.add(R3, file::NAME.into());
        self.put(code);
        code.jump_if(R0, Jump::Unequal, 0, unsent);
        code.load(Eight, R1, Stack, AT_FILE);
        code.jump_if(R1, Jump::Equal, 0, done); // the directory of a thread
        code.map(R1, &self.tables.reported);
        code.copy(R2, Stack);
        code.add(R2, AT_FILE.into());
        code.copy(R3, Stack);
        code.add(R3, AT_INODE.into());
        code.set(R4, 0);
        code.call(Helper::Update);
        code.jump(done);
        code.place(unsent);
        code.call_part(parts.lost);
        code.place(done);
    }

    fn report_numbers(&self, code: &mut Assembler) {
        let fields = self.fields;
        code.store_number(Four, R8, KIND, kinds::FILE);
        code.load(Eight, R1, Stack, AT_FRESH);
        code.store(Four, R8, NUMBER, R1);
        code.call(Helper::CurrentIds);
        code.store(Eight, R8, IDS, R0);
        code.call(Helper::Now);
        code.store(Eight, R8, TIME, R0);
        code.load(Eight, R1, Stack, AT_FILE);
        code.store(Eight, R8, file::KEY, R1);
        self.cast(code, |casts| casts.file);
        code.copy(R7, R0);
        let note = |code: &mut Assembler, width, field, place| {
            self.field(code, (width, R1), R7, field, AT_NEXT);
            code.store(if let Width::Two = width { Four } else { width }, R8, place, R1);
        };
        note(code, Eight, fields.file_position, file::POSITION);
        note(code, Four, fields.file_flags, file::FLAGS);
        code.load(Eight, R1, Stack, AT_INODE);
        self.cast(code, |casts| casts.inode);
        code.copy(R7, R0);
        note(code, Eight, fields.inode_number, file::INODE);
        note(code, Width::Two, fields.inode_mode, file::MODE);
        note(code, Eight, fields.inode_bytes, file::BYTES);
        note(code, Four, fields.inode_links, file::LINKS);
        self.field(code, (Eight, R7), R7, fields.inode_system, AT_NEXT);
        note(code, Four, fields.system_device, file::DEVICE);
        note(code, Eight, fields.system_magic, file::SYSTEM);
    }

    /// Walks from a file up to the root, over the roots of mounts. Register 6 is where it is, 7
    /// counts, 8 is the record. The length of the name so far is in the record: of a number in
    /// memory the verifier assumes nothing, so it need not check each turn for each length. (With
    /// the length in a register it took half a second.)
    ///
    /// It begins here, or where it has paused at `resume`. It leaves by `pause` if it is to go on.
    fn walk(&self, code: &mut Assembler, resume: Label, pause: Label) {
        let fields = self.fields;
        let (next, rest, end) = (code.label(), code.label(), code.label());
        code.load(Eight, R7, Stack, AT_PATH);
        read(code, AT_VIEW, 8, R7, 0);
        read(code, AT_NEXT, 8, R7, 8);
        code.load(Eight, R6, Stack, AT_NEXT);
        code.set(R7, 0);
        code.store_number(Eight, R8, file::NAME_BYTES, 0);
        code.load(Eight, R1, Stack, AT_SCRATCH);
        code.store_number(Eight, R1, layout::WALK + walk::PARTS, 0);
        code.jump(next);
        code.place(resume);
        go_on_with_walk(code);
        code.place(next);
        code.jump_if(R7, Jump::AtLeast, PARTS_AT_ONCE, rest);
        code.add(R7, 1);
        let part = code.label();
        code.load(Eight, R1, Stack, AT_VIEW);
        self.cast(code, |casts| casts.view);
        self.field(code, (Eight, R1), R0, fields.view_root, AT_NEXT);
        code.jump_if_register(R6, Jump::Unequal, R1, part);
        self.step_over_mount(code, next, end);
        code.place(part);
        code.copy(R1, R6);
        self.cast(code, |casts| casts.dentry);
        code.copy(R9, R0);
        self.field(code, (Eight, R1), R9, fields.dentry_parent, AT_NEXT);
        code.store(Eight, Stack, AT_NEXT, R1);
        self.field(code, (Eight, R1), R9, fields.dentry_name, AT_NAME);
        code.store(Eight, Stack, AT_NAME, R1);
        code.load(Eight, R9, R8, file::NAME_BYTES);
        code.and(R9, file::NAME_BYTES_MAX - 1);
        code.copy(R1, R8);
        code.add(R1, file::NAME.into());
        code.add_register(R1, R9);
        code.set(R2, file::PART_BYTES);
        code.load(Eight, R3, Stack, AT_NAME);
        code.call(Helper::ReadKernelText);
        code.jump_if(R0, Jump::SignedAtMost, 0, end);
        code.jump_if(R0, Jump::Above, file::PART_BYTES, end);
        code.add_register(R9, R0);
        code.store(Eight, R8, file::NAME_BYTES, R9);
        code.load(Eight, R1, Stack, AT_NEXT);
        code.jump_if_register(R6, Jump::Equal, R1, end); // it has no place in a tree, as a pipe
        code.copy(R6, R1);
        code.jump_if(R9, Jump::Below, file::NAME_BYTES_MAX - file::PART_BYTES, next);
        code.jump(end);
        code.place(rest);
        pause_walk(code, end);
        code.jump(pause);
        code.place(end);
    }

    /// From a mount's root to the place where it is mounted.
    fn step_over_mount(&self, code: &mut Assembler, next: Label, end: Label) {
        let fields = self.fields;
        code.load(Eight, R6, Stack, AT_VIEW);
        code.add(R6, -fields.mount_of_view);
        read(code, AT_NEXT, 8, R6, fields.mount_parent);
        code.load(Eight, R1, Stack, AT_NEXT);
        code.jump_if_register(R6, Jump::Equal, R1, end);
        code.add(R1, fields.mount_of_view);
        code.store(Eight, Stack, AT_VIEW, R1);
        read(code, AT_NEXT, 8, R6, fields.mount_point);
        code.load(Eight, R6, Stack, AT_NEXT);
        code.jump(next);
    }
}

/// What a walk has on the stack while it goes on, and where the scratch memory has it meanwhile.
const KEPT: [(i16, i16); 3] =
    [(AT_VIEW, walk::VIEW), (AT_FILE, walk::FILE), (AT_INODE, walk::INODE)];

/// Notes how far a walk has come that is at register 6. Leaves by `end` if the name is too deep.
fn pause_walk(code: &mut Assembler, end: Label) {
    code.load(Eight, R1, Stack, AT_SCRATCH);
    code.load(Eight, R2, R1, layout::WALK + walk::PARTS);
    code.add(R2, PARTS_AT_ONCE);
    code.store(Eight, R1, layout::WALK + walk::PARTS, R2);
    code.jump_if(R2, Jump::AtLeast, PARTS_MAX, end);
    code.store(Eight, R1, layout::WALK + walk::PLACE, R6);
    for (at, place) in KEPT {
        code.load(Eight, R2, Stack, at);
        code.store(Eight, R1, layout::WALK + place, R2);
    }
}

/// Back to where a walk has paused. Register 6 holds its place, 7 the scratch memory.
fn go_on_with_walk(code: &mut Assembler) {
    for (at, place) in KEPT {
        code.load(Eight, R1, R7, layout::WALK + place);
        code.store(Eight, Stack, at, R1);
    }
    code.store_number(Eight, R7, layout::WALK + walk::PLACE, 0);
    code.set(R7, 0);
}
