//! An assembler for eBPF: each method appends one instruction, labels stand for places. The
//! kernel's verifier checks the result, so a mistake here is an error of the load.

use super::map::Map;
use std::os::fd::AsRawFd;

/// A register: 0 is a call's result, 1 to 4 its arguments (no call here has five), which it
/// destroys; 6 to 9 outlast calls, 10 is the end of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Register {
    R0,
    R1,
    R2,
    R3,
    R4,
    R6 = 6,
    R7,
    R8,
    R9,
    Stack,
}

/// How much is loaded or stored.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Width {
    Two,
    Four,
    Eight,
}

/// When to jump.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Jump {
    Equal,
    Unequal,
    AtLeast,
    Above,
    Below,
    SignedBelow,
    SignedAtMost,
    AnyBit,
}

/// The kernel's functions for programs, by number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Helper {
    Lookup = 1,
    Update = 2,
    Delete = 3,
    Now = 5,
    TailCall = 12,
    CurrentIds = 14,
    CurrentTask = 35,
    ReadUser = 112,
    ReadKernel = 113,
    ReadUserText = 114,
    ReadKernelText = 115,
    Output = 130,
}

/// A place in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label(usize);

/// A finished program.
#[derive(Debug)]
pub(crate) struct Program {
    pub(super) instructions: Vec<u64>,
}

/// A program in the making.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    instructions: Vec<u64>,
    /// Where each label is, once it is placed.
    places: Vec<usize>,
    /// Instructions that aim at a label.
    jumps: Vec<(usize, Label)>,
    calls: Vec<(usize, Label)>,
}

const LOAD: u8 = 0x61;
const LOAD_BYTE: u8 = 0x71;
const STORE: u8 = 0x63;
const STORE_NUMBER: u8 = 0x62;
const WIDE: u8 = 0x18;
const ADD_ATOMIC: u8 = 0xdb;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;
const ALWAYS: u8 = 0x05;
/// With this bit an operand is a register, else a number.
const OF_REGISTER: u8 = 0x08;
const UNPLACED: usize = usize::MAX;

impl Width {
    fn bits(self) -> u8 {
        match self {
            Width::Two => 0x08,
            Width::Four => 0,
            Width::Eight => 0x18,
        }
    }
}

impl Jump {
    fn code(self) -> u8 {
        match self {
            Jump::Equal => 0x15,
            Jump::Above => 0x25,
            Jump::AtLeast => 0x35,
            Jump::AnyBit => 0x45,
            Jump::Unequal => 0x55,
            Jump::Below => 0xa5,
            Jump::SignedBelow => 0xc5,
            Jump::SignedAtMost => 0xd5,
        }
    }
}

impl Assembler {
    fn push(&mut self, code: u8, into: Register, from: u8, offset: i16, number: i32) {
        let registers = into as u8 | from << 4;
        let [a, b] = offset.to_ne_bytes();
        let [c, d, e, f] = number.to_ne_bytes();
        self.instructions.push(u64::from_ne_bytes([code, registers, a, b, c, d, e, f]));
    }

    /// `into = from`
    pub(crate) fn copy(&mut self, into: Register, from: Register) {
        self.push(0xbf, into, from as u8, 0, 0);
    }

    /// `into = number`
    pub(crate) fn set(&mut self, into: Register, number: i32) {
        self.push(0xb7, into, 0, 0, number);
    }

    /// `into += number`
    pub(crate) fn add(&mut self, into: Register, number: i32) {
        self.push(0x07, into, 0, 0, number);
    }

    /// `into += from`
    pub(crate) fn add_register(&mut self, into: Register, from: Register) {
        self.push(0x0f, into, from as u8, 0, 0);
    }

    /// `into &= from`
    pub(crate) fn and_register(&mut self, into: Register, from: Register) {
        self.push(0x5f, into, from as u8, 0, 0);
    }

    /// `into |= from`
    pub(crate) fn or_register(&mut self, into: Register, from: Register) {
        self.push(0x4f, into, from as u8, 0, 0);
    }

    /// `into ^= from`
    pub(crate) fn exclusive_or_register(&mut self, into: Register, from: Register) {
        self.push(0xaf, into, from as u8, 0, 0);
    }

    /// `into <<= from`
    pub(crate) fn shift_left_by(&mut self, into: Register, from: Register) {
        self.push(0x6f, into, from as u8, 0, 0);
    }

    /// `into >>= from`, without its sign
    pub(crate) fn shift_right_by(&mut self, into: Register, from: Register) {
        self.push(0x7f, into, from as u8, 0, 0);
    }

    /// `into &= number`
    pub(crate) fn and(&mut self, into: Register, number: i32) {
        self.push(0x57, into, 0, 0, number);
    }

    /// `into <<= bits`
    pub(crate) fn shift_left(&mut self, into: Register, bits: i32) {
        self.push(0x67, into, 0, 0, bits);
    }

    /// `into >>= bits`, without its sign
    pub(crate) fn shift_right(&mut self, into: Register, bits: i32) {
        self.push(0x77, into, 0, 0, bits);
    }

    /// Sets the upper half to zero.
    pub(crate) fn low_half(&mut self, into: Register) {
        self.push(0xbc, into, into as u8, 0, 0);
    }

    /// `into = *(base + offset)`
    pub(crate) fn load(&mut self, width: Width, into: Register, base: Register, offset: i16) {
        self.push(LOAD | width.bits(), into, base as u8, offset, 0);
    }

    /// `into = *(base + offset)`, a byte
    pub(crate) fn load_byte(&mut self, into: Register, base: Register, offset: i16) {
        self.push(LOAD_BYTE, into, base as u8, offset, 0);
    }

    /// `*(base + offset) = from`
    pub(crate) fn store(&mut self, width: Width, base: Register, offset: i16, from: Register) {
        self.push(STORE | width.bits(), base, from as u8, offset, 0);
    }

    /// `*(base + offset) = number`
    pub(crate) fn store_number(&mut self, width: Width, base: Register, offset: i16, number: i32) {
        self.push(STORE_NUMBER | width.bits(), base, 0, offset, number);
    }

    /// `*base += from`, whatever other processors do
    pub(crate) fn add_atomic(&mut self, base: Register, from: Register) {
        self.push(ADD_ATOMIC, base, from as u8, 0, 0);
    }

    /// The address of a map, for the helpers.
    pub(crate) fn map(&mut self, into: Register, map: &Map) {
        const OF_MAP: u8 = 1;
        self.push(WIDE, into, OF_MAP, 0, map.as_raw_fd());
        self.instructions.push(0);
    }

    pub(crate) fn call(&mut self, helper: Helper) {
        self.push(CALL, Register::R0, 0, 0, helper as i32);
    }

    /// Calls a function of the kernel's, by the number of its type.
    pub(crate) fn call_function(&mut self, function: i32) {
        const OF_FUNCTION: u8 = 2;
        self.push(CALL, Register::R0, OF_FUNCTION, 0, function);
    }

    /// Calls a part of this program, with a stack of its own.
    pub(crate) fn call_part(&mut self, part: Label) {
        const OF_PART: u8 = 1;
        self.calls.push((self.instructions.len(), part));
        self.push(CALL, Register::R0, OF_PART, 0, 0);
    }

    /// Whether this part of the program is called so far.
    pub(crate) fn is_called(&self, part: Label) -> bool {
        self.calls.iter().any(|call| call.1 == part)
    }

    /// Ends the program or part; its result is in register 0.
    pub(crate) fn exit(&mut self) {
        self.push(EXIT, Register::R0, 0, 0, 0);
    }

    pub(crate) fn jump(&mut self, to: Label) {
        self.jumps.push((self.instructions.len(), to));
        self.push(ALWAYS, Register::R0, 0, 0, 0);
    }

    pub(crate) fn jump_if(&mut self, left: Register, when: Jump, right: i32, to: Label) {
        self.jumps.push((self.instructions.len(), to));
        self.push(when.code(), left, 0, 0, right);
    }

    pub(crate) fn jump_if_register(
        &mut self,
        left: Register,
        when: Jump,
        right: Register,
        to: Label,
    ) {
        self.jumps.push((self.instructions.len(), to));
        self.push(when.code() | OF_REGISTER, left, right as u8, 0, 0);
    }

    /// A label for a place that comes later.
    pub(crate) fn label(&mut self) -> Label {
        self.places.push(UNPLACED);
        Label(self.places.len() - 1)
    }

    /// Here is the label's place.
    pub(crate) fn place(&mut self, label: Label) {
        self.places[label.0] = self.instructions.len();
    }

    /// Aims the jumps.
    pub(crate) fn finish(mut self) -> Program {
        for (at, label) in std::mem::take(&mut self.jumps) {
            let distance = self.distance(at, label) as i16;
            self.instructions[at] |= u64::from(distance as u16) << 16;
        }
        for (at, label) in std::mem::take(&mut self.calls) {
            let distance = self.distance(at, label);
            self.instructions[at] |= u64::from(distance as u32) << 32;
        }
        Program { instructions: self.instructions }
    }

    /// From the instruction behind `at` to the label.
    fn distance(&self, at: usize, label: Label) -> i32 {
        let place = self.places[label.0];
        debug_assert_ne!(place, UNPLACED, "a label has no place");
        place as i32 - at as i32 - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_encoded_as_the_kernel_reads_them() {
        let mut code = Assembler::default();
        let end = code.label();
        code.set(Register::R0, -1);
        code.load(Width::Eight, Register::R1, Register::Stack, -8);
        code.jump_if(Register::R1, Jump::Equal, 7, end);
        code.store(Width::Four, Register::Stack, -4, Register::R1);
        code.place(end);
        code.exit();
        let bytes: Vec<[u8; 8]> =
            code.finish().instructions.into_iter().map(u64::to_le_bytes).collect();
        assert_eq!(bytes[0], [0xb7, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
        assert_eq!(bytes[1], [0x79, 0xa1, 0xf8, 0xff, 0, 0, 0, 0]);
        assert_eq!(bytes[2], [0x15, 0x01, 1, 0, 7, 0, 0, 0]);
        assert_eq!(bytes[3], [0x63, 0x1a, 0xfc, 0xff, 0, 0, 0, 0]);
        assert_eq!(bytes[4], [0x95, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn jumps_back_and_calls_of_parts_have_their_distance() {
        let mut code = Assembler::default();
        let part = code.label();
        let start = code.label();
        code.place(start);
        code.call_part(part);
        code.jump(start);
        code.place(part);
        code.exit();
        let bytes: Vec<[u8; 8]> =
            code.finish().instructions.into_iter().map(u64::to_le_bytes).collect();
        assert_eq!(bytes[0], [0x85, 0x10, 0, 0, 1, 0, 0, 0]);
        assert_eq!(bytes[1], [0x05, 0, 0xfe, 0xff, 0, 0, 0, 0]);
    }
}
