//! What programs do often, of several instructions each.

use super::Register::{R0, R1, R2, R3, R4, Stack};
use super::Width::{Eight, Four};
use super::{Assembler, Helper, Jump, Map, Register};

/// The reader looks by itself; to wake it at each record costs more than the record.
const NO_WAKEUP: i32 = 1;

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

/// Puts the record at register 2, of the length in register 3, into the ring in this map. Register
/// 0 is 0 if it had room. It uses the 8 bytes of the stack at `place`, and the 12 below.
pub(crate) fn put(code: &mut Assembler, ring: &Map, place: i16) {
    let (none, done) = (code.label(), code.label());
    let (length, key) = (place - 8, place - 12);
    code.store(Eight, Stack, place, R2);
    code.store(Eight, Stack, length, R3);
    code.store_number(Four, Stack, key, 0);
    lookup(code, ring, key);
    code.jump_if(R0, Jump::Equal, 0, none);
    code.copy(R1, R0);
    code.load(Eight, R2, Stack, place);
    code.load(Eight, R3, Stack, length);
    code.set(R4, NO_WAKEUP);
    code.call(Helper::Output);
    code.jump(done);
    code.place(none);
    code.set(R0, 1);
    code.place(done);
}

/// Adds one to the only number in a map. It uses the 4 bytes of the stack at `key`.
pub(crate) fn count(code: &mut Assembler, map: &Map, key: i16) {
    let end = code.label();
    code.store_number(Four, Stack, key, 0);
    lookup(code, map, key);
    code.jump_if(R0, Jump::Equal, 0, end);
    code.set(R1, 1);
    code.add_atomic(R0, R1);
    code.place(end);
}
