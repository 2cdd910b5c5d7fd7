//! The programs in the kernel. They have one form: what is not followed leaves at once, by the
//! label `out`.

use super::Tables;
use super::fields::Fields;
use super::layout::{
    BASE, BLOCK_BITS, DEVICE, FILE, FIRST, IDS, KIND, LAST, NUMBERS, PAGES_BYTES, PAGES_IDS,
    RESULT, TEXT, TEXT_BYTES, TIME, kinds, rule,
};
use crate::bpf::Register::{R0, R1, R2, R3, R4, R6, R7, R8, R9, Stack};
use crate::bpf::Width::{Eight, Four};
use crate::bpf::{Assembler, Helper, Jump, Label, Map, Program, Register, Width};
use crate::bpf::{count, lookup, put, update};
use crate::call_events::convention::HERE;

/// AT_FDCWD.
const CURRENT_DIRECTORY: i32 = libc::AT_FDCWD;

/// Places on the stack.
const AT_IDS: i16 = -8;
const AT_KEY: i16 = -12;
const AT_ANY: i16 = -24;
const AT_THREAD: i16 = -32;
const AT_BLOCK: i16 = -48;
const AT_PAGES: i16 = AT_BLOCK - PAGES_BYTES;
const AT_SENT: i16 = AT_PAGES - 8;

/// Writes the programs.
pub(super) struct Code<'a> {
    pub(super) tables: &'a Tables,
    /// The table that has the ring.
    pub(super) ring: &'a Map,
    pub(super) fields: &'a Fields,
}

/// What programs call: each has its own copy.
struct Parts {
    lost: Label,
    inode: Label,
}

impl Code<'_> {
    /// A program, with the parts that it may call behind it.
    fn program(&self, body: impl FnOnce(&mut Assembler, &Parts, Label)) -> Program {
        let mut code = Assembler::default();
        let parts = Parts { lost: code.label(), inode: code.label() };
        let out = code.label();
        code.copy(R6, R1);
        body(&mut code, &parts, out);
        code.place(out);
        code.set(R0, 0);
        code.exit();
        // The verifier refuses what nothing calls.
        if code.is_called(parts.lost) {
            code.place(parts.lost);
            self.count_lost(&mut code);
        }
        if code.is_called(parts.inode) {
            code.place(parts.inode);
            self.find_inode(&mut code);
        }
        code.finish()
    }

    /// Leaves `out` if this process is not followed. The thread's numbers are at `AT_IDS` then.
    fn leave_unless_followed(&self, code: &mut Assembler, out: Label) {
        code.call(Helper::CurrentIds);
        code.store(Eight, Stack, AT_IDS, R0);
        code.shift_right(R0, 32);
        code.store(Four, Stack, AT_KEY, R0);
        lookup(code, &self.tables.processes, AT_KEY);
        code.jump_if(R0, Jump::Equal, 0, out);
    }

    /// Gives the address in register 1 a type, so that its fields can be loaded; into register 0.
    fn cast(&self, code: &mut Assembler, to: i32) {
        code.set(R2, to);
        code.call_function(self.fields.cast);
    }

    /// When pages of a file are handed out, of which this kind of record reports the new ones.
    pub(super) fn at_pages(&self, kind: i32) -> Program {
        self.program(|code, parts, out| {
            self.leave_unless_followed(code, out);
            self.note_pages(code, kind, out);
            // Across blocks all are reported: such a read costs more than its record.
            let across = code.label();
            code.copy(R1, R8);
            code.shift_right(R1, BLOCK_BITS);
            code.copy(R2, R9);
            code.shift_right(R2, BLOCK_BITS);
            code.jump_if_register(R1, Jump::Unequal, R2, across);
            // Register 9 becomes the pages' bits, 7 what is known of the block.
            mask(code);
            code.load(Eight, R2, Stack, AT_BLOCK + 8);
            code.or_register(R2, R1);
            code.store(Eight, Stack, AT_BLOCK + 8, R2);
            lookup(code, &self.tables.blocks, AT_BLOCK);
            code.copy(R7, R0);
            let fresh = code.label();
            code.jump_if(R7, Jump::Equal, 0, fresh);
            code.load(Eight, R1, R7, 0);
            code.and_register(R1, R9);
            code.jump_if_register(R1, Jump::Equal, R9, out);
            self.send_pages(code, parts, out);
            code.load(Eight, R1, R7, 0);
            code.or_register(R1, R9);
            code.store(Eight, R7, 0, R1);
            code.jump(out);
            code.place(fresh);
            self.send_pages(code, parts, out);
            code.store(Eight, Stack, AT_ANY, R9);
            code.copy(R1, Stack);
            code.add(R1, AT_ANY.into());
            update(code, &self.tables.blocks, AT_BLOCK, R1);
            code.jump(out);
            code.place(across);
            self.send_pages(code, parts, out);
        })
    }

    /// The record of pages onto the stack, and the key of a block without its number. The first
    /// page into register 8, the last into 9.
    fn note_pages(&self, code: &mut Assembler, kind: i32, out: Label) {
        let fields = self.fields;
        code.load(Eight, R1, R6, 0);
        self.cast(code, fields.mapping);
        field(code, Eight, R7, R0, fields.mapping_inode);
        code.jump_if(R7, Jump::Equal, 0, out);
        field(code, Eight, R1, R7, fields.inode_number);
        code.store(Eight, Stack, AT_PAGES + FILE, R1);
        code.store(Eight, Stack, AT_BLOCK, R1);
        field(code, Eight, R1, R7, fields.inode_system);
        code.jump_if(R1, Jump::Equal, 0, out);
        field(code, Four, R1, R1, fields.system_device);
        code.store(Eight, Stack, AT_PAGES + FILE + DEVICE, R1);
        code.shift_left(R1, 32);
        code.store(Eight, Stack, AT_BLOCK + 8, R1);
        let ordered = code.label();
        code.load(Eight, R8, R6, 8);
        code.copy(R9, R8);
        if kind != kinds::FAULT {
            code.load(Eight, R1, R6, 16);
            code.jump_if_register(R1, Jump::Below, R8, ordered);
            code.copy(R9, R1);
        }
        code.place(ordered);
        code.store(Eight, Stack, AT_PAGES + FIRST, R8);
        code.store(Eight, Stack, AT_PAGES + LAST, R9);
        code.store_number(Eight, Stack, AT_PAGES + KIND, kind);
        code.load(Eight, R1, Stack, AT_IDS);
        code.store(Eight, Stack, AT_PAGES + PAGES_IDS, R1);
    }

    /// Sends the record of pages; leaves `out` if it had no room.
    fn send_pages(&self, code: &mut Assembler, parts: &Parts, out: Label) {
        let sent = code.label();
        code.call(Helper::Now);
        code.store(Eight, Stack, AT_PAGES + TIME, R0);
        code.copy(R2, Stack);
        code.add(R2, AT_PAGES.into());
        code.set(R3, PAGES_BYTES.into());
        self.put(code);
        code.jump_if(R0, Jump::Equal, 0, sent);
        code.call_part(parts.lost);
        code.jump(out);
        code.place(sent);
    }

    /// At the exit of each call of the machine. Register 7 is the rule, 8 the record, 9 the
    /// registers.
    pub(super) fn at_exit(&self) -> Program {
        self.program(|code, parts, out| {
            self.find_rule(code, out);
            self.leave_unless_followed(code, out);
            code.call(Helper::CurrentTask);
            code.copy(R1, R0);
            self.cast(code, self.fields.task);
            field(code, Four, R1, R0, self.fields.task_status);
            code.jump_if(R1, Jump::AnyBit, HERE.foreign_bit, out);
            code.store(Eight, Stack, AT_THREAD, R0);
            self.begin_name(code, kinds::NAMED, out);
            code.load(Eight, R1, R6, 8);
            code.store(Eight, R8, RESULT, R1);
            self.note_opened(code, parts);
            self.note_base(code, parts);
            let (listed, failed) = (code.label(), code.label());
            argument(code, rule::PATH, listed);
            code.copy(R3, R1);
            text(code, Helper::ReadUserText, failed);
            let stays = code.label();
            code.copy(R1, R7);
            code.and(R1, rule::MOVES);
            code.jump_if(R1, Jump::Equal, 0, stays);
            code.store_number(Four, R8, KIND, kinds::MOVED);
            code.place(stays);
            self.send_name(code, parts, R9);
            code.jump(out);
            code.place(listed);
            code.store_number(Four, R8, KIND, kinds::LISTED);
            code.set(R9, 0);
            self.send_name(code, parts, R9);
            code.place(failed);
        })
    }

    /// The call's rule into register 7, the registers into 9. Most calls of the machine have no
    /// rule, and leave `out`.
    fn find_rule(&self, code: &mut Assembler, out: Label) {
        code.load(Eight, R1, R6, 0);
        self.cast(code, self.fields.registers);
        code.copy(R9, R0);
        code.load(if cfg!(target_arch = "x86_64") { Eight } else { Four }, R1, R9, HERE.number);
        code.jump_if(R1, Jump::AtLeast, NUMBERS as i32, out);
        code.store(Four, Stack, AT_KEY, R1);
        lookup(code, &self.tables.rules, AT_KEY);
        code.jump_if(R0, Jump::Equal, 0, out);
        code.load(Eight, R7, R0, 0);
        code.jump_if(R7, Jump::Equal, 0, out);
    }

    /// An empty record of a name in this processor's memory, at register 8.
    fn begin_name(&self, code: &mut Assembler, kind: i32, out: Label) {
        code.store_number(Four, Stack, AT_KEY, 0);
        lookup(code, &self.tables.scratch, AT_KEY);
        code.jump_if(R0, Jump::Equal, 0, out);
        code.copy(R8, R0);
        code.store_number(Eight, R8, KIND, kind);
        code.load(Eight, R1, Stack, AT_IDS);
        code.store(Eight, R8, IDS, R1);
        for place in [FILE, FILE + DEVICE, BASE, BASE + DEVICE, RESULT] {
            code.store_number(Eight, R8, place, 0);
        }
        code.call(Helper::Now);
        code.store(Eight, R8, TIME, R0);
    }

    /// The file that the call has opened.
    fn note_opened(&self, code: &mut Assembler, parts: &Parts) {
        let none = code.label();
        code.copy(R1, R7);
        code.and(R1, rule::OPENS);
        code.jump_if(R1, Jump::Equal, 0, none);
        code.load(Eight, R1, R8, RESULT);
        code.jump_if(R1, Jump::SignedBelow, 0, none);
        code.load(Eight, R2, Stack, AT_THREAD);
        code.call_part(parts.inode);
        self.note_file(code, FILE, none);
        code.place(none);
    }

    /// The directory from which the name goes, or which is listed.
    fn note_base(&self, code: &mut Assembler, parts: &Parts) {
        let (current, found, none) = (code.label(), code.label(), code.label());
        argument(code, rule::DIRECTORY, current);
        code.low_half(R1);
        code.copy(R2, R1);
        code.set(R3, CURRENT_DIRECTORY);
        code.low_half(R3);
        code.jump_if_register(R2, Jump::Equal, R3, current);
        code.load(Eight, R2, Stack, AT_THREAD);
        code.call_part(parts.inode);
        code.jump(found);
        code.place(current);
        code.load(Eight, R1, Stack, AT_THREAD);
        self.current_directory(code);
        code.place(found);
        self.note_file(code, BASE, none);
        code.place(none);
    }

    /// The inode of the current directory of the thread in register 1, into register 0; or 0.
    fn current_directory(&self, code: &mut Assembler) {
        let (fields, none) = (self.fields, code.label());
        self.cast(code, fields.task);
        for offset in [fields.task_fs, fields.fs_directory, fields.dentry_inode] {
            field(code, Eight, R0, R0, offset);
            code.jump_if(R0, Jump::Equal, 0, none);
        }
        code.place(none);
    }

    /// Numbers of the file whose inode is in register 0, to this place of the record.
    fn note_file(&self, code: &mut Assembler, place: i16, none: Label) {
        let fields = self.fields;
        code.jump_if(R0, Jump::Equal, 0, none);
        code.copy(R1, R0);
        self.cast(code, fields.inode);
        field(code, Eight, R1, R0, fields.inode_number);
        field(code, Eight, R2, R0, fields.inode_system);
        code.jump_if(R2, Jump::Equal, 0, none);
        field(code, Four, R2, R2, fields.system_device);
        code.store(Eight, R8, place, R1);
        code.store(Eight, R8, place + DEVICE, R2);
    }

    /// The part with the arguments descriptor and thread; its result is the inode's address, or 0.
    fn find_inode(&self, code: &mut Assembler) {
        let (fields, none) = (self.fields, code.label());
        code.copy(R6, R1);
        code.low_half(R6);
        code.copy(R1, R2);
        self.cast(code, fields.task);
        code.copy(R7, R0);
        for offset in [fields.task_files, fields.files_table] {
            field(code, Eight, R7, R7, offset);
            code.jump_if(R7, Jump::Equal, 0, none);
        }
        field(code, Four, R1, R7, fields.table_most);
        code.jump_if_register(R6, Jump::AtLeast, R1, none);
        code.shift_left(R6, 3);
        field(code, Eight, R7, R7, fields.table_files);
        code.copy(R1, R7);
        code.add_register(R1, R6);
        self.cast(code, fields.word);
        code.load(Eight, R1, R0, 0);
        code.jump_if(R1, Jump::Equal, 0, none);
        self.cast(code, fields.file);
        field(code, Eight, R0, R0, fields.file_inode);
        code.exit();
        code.place(none);
        code.set(R0, 0);
        code.exit();
    }

    /// Before a new thread runs for the first time: its process is followed, too.
    pub(super) fn at_fork(&self) -> Program {
        self.program(|code, parts, out| {
            self.leave_unless_followed(code, out);
            code.load(Eight, R1, R6, 8);
            self.cast(code, self.fields.task);
            field(code, Four, R1, R0, self.fields.task_process);
            code.store(Four, Stack, AT_KEY, R1);
            code.store_number(Eight, Stack, AT_ANY, 1);
            code.copy(R1, Stack);
            code.add(R1, AT_ANY.into());
            update(code, &self.tables.processes, AT_KEY, R1);
            code.jump_if(R0, Jump::Equal, 0, out);
            code.call_part(parts.lost);
        })
    }

    /// After a program was executed: its name, and that of a script's interpreter.
    pub(super) fn at_exec(&self) -> Program {
        self.program(|code, parts, out| {
            let fields = self.fields;
            self.leave_unless_followed(code, out);
            self.begin_name(code, kinds::EXECUTED, out);
            let none = code.label();
            code.load(Eight, R1, R6, 0);
            self.current_directory(code);
            self.note_file(code, BASE, none);
            code.place(none);
            for offset in [fields.program_name, fields.program_interpreter] {
                code.load(Eight, R1, R6, 16);
                self.cast(code, fields.program);
                field(code, Eight, R3, R0, offset);
                text(code, Helper::ReadKernelText, out);
                self.send_name(code, parts, R9);
            }
        })
    }

    /// At the end of a process it is followed no longer.
    pub(super) fn at_end(&self) -> Program {
        self.program(|code, _, out| {
            let fields = self.fields;
            self.leave_unless_followed(code, out);
            code.load(Eight, R1, R6, 0);
            self.cast(code, fields.task);
            field(code, Eight, R1, R0, fields.task_signal);
            code.jump_if(R1, Jump::Equal, 0, out);
            field(code, Four, R1, R1, fields.signal_live);
            code.jump_if(R1, Jump::Unequal, 0, out);
            code.map(R1, &self.tables.processes);
            code.copy(R2, Stack);
            code.add(R2, AT_KEY.into());
            code.call(Helper::Delete);
        })
    }

    /// Sends the record at register 8, with as many bytes of its name as this register says.
    fn send_name(&self, code: &mut Assembler, parts: &Parts, bytes: Register) {
        let sent = code.label();
        code.copy(R2, R8);
        code.copy(R3, bytes);
        code.add(R3, TEXT.into());
        self.put(code);
        code.jump_if(R0, Jump::Equal, 0, sent);
        code.call_part(parts.lost);
        code.place(sent);
    }

    /// Puts the record at register 2, of the length in register 3, into the ring. Register 0 is 0
    /// if it had room.
    fn put(&self, code: &mut Assembler) {
        put(code, self.ring, AT_SENT);
    }

    fn count_lost(&self, code: &mut Assembler) {
        count(code, &self.tables.lost, AT_KEY);
        code.set(R0, 0);
        code.exit();
    }
}

/// Loads a field of a struct that was cast, or reached from one that was.
fn field(code: &mut Assembler, width: Width, into: Register, base: Register, offset: i32) {
    match i16::try_from(offset) {
        Ok(offset) => code.load(width, into, base, offset),
        Err(_) => {
            if into != base {
                code.copy(into, base);
            }
            code.add(into, offset);
            code.load(width, into, into, 0);
        }
    }
}

/// The bits of the pages from register 8 to 9, of one block, into register 9. Register 1 is the
/// block's number and stays.
fn mask(code: &mut Assembler) {
    const LAST_BIT: i32 = (1 << BLOCK_BITS) - 1;
    code.and(R8, LAST_BIT);
    code.set(R2, -1);
    code.shift_left_by(R2, R8);
    code.and(R9, LAST_BIT);
    code.set(R3, LAST_BIT);
    // 63 - n is 63 ^ n, which is what is left of 63 without the bits of n.
    code.copy(R4, R3);
    code.exclusive_or_register(R4, R9);
    code.set(R9, -1);
    code.shift_right_by(R9, R4);
    code.and_register(R9, R2);
}

/// The argument that the rule in register 7 names at these bits, of the registers at 9, into
/// register 1; goes on at `none` if it names none.
fn argument(code: &mut Assembler, at: i32, none: Label) {
    let found = code.label();
    code.copy(R2, R7);
    code.shift_right(R2, at);
    code.and(R2, 7);
    code.jump_if(R2, Jump::Equal, 0, none);
    for (number, place) in (1..).zip(HERE.native.into_iter().enumerate()) {
        let next = code.label();
        code.jump_if(R2, Jump::Unequal, number, next);
        // At the exit the result may be where the first argument was.
        code.load(Eight, R1, R9, if place.0 == 0 { HERE.first } else { place.1 });
        code.jump(found);
        code.place(next);
    }
    code.jump(none);
    code.place(found);
}

/// The text at the address in register 3 into the record at register 8; its length, with a zero
/// behind it, into register 9.
fn text(code: &mut Assembler, read: Helper, failed: Label) {
    code.copy(R1, R8);
    code.add(R1, TEXT.into());
    code.set(R2, TEXT_BYTES);
    code.call(read);
    code.jump_if(R0, Jump::SignedAtMost, 0, failed);
    code.jump_if(R0, Jump::Above, TEXT_BYTES, failed);
    code.copy(R9, R0);
}
