//! What programs do often, of several instructions each.

use super::Register::{R1, R2, R3, R4, Stack};
use super::{Assembler, Helper, Map, Register};

/// Sets the value of the key at this place of the stack to what is at the address in `from`.
pub(crate) fn update(code: &mut Assembler, map: &Map, key: i16, from: Register) {
    code.copy(R3, from);
    code.map(R1, map);
    code.copy(R2, Stack);
    code.add(R2, key.into());
    code.set(R4, 0);
    code.call(Helper::Update);
}

/// Finds the value of the key at this place of the stack.
pub(crate) fn lookup(code: &mut Assembler, map: &Map, key: i16) {
    code.map(R1, map);
    code.copy(R2, Stack);
    code.add(R2, key.into());
    code.call(Helper::Lookup);
}

/// Reads a field of a struct of the kernel's onto the stack; zeroes, if it cannot be read.
pub(crate) fn read(code: &mut Assembler, place: i16, bytes: i32, base: Register, field: i32) {
    read_into(code, Stack, place.into(), bytes, base, field);
}

/// As [`read`], to a place behind the address in `into`.
pub(crate) fn read_into(
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
