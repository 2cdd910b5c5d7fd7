//! Small programs for the kernel's own machine (eBPF), written in Rust without a compiler for it:
//! an assembler, the raw `bpf(2)` call, and what the kernel's type information says of its structs.

#![expect(clippy::host_endian_bytes, reason = "the kernel reads and writes for this machine")]

mod assembler;
mod idioms;
mod kernel_types;
mod map;
mod program;
mod published;
mod ring;

pub(crate) use assembler::{Assembler, Helper, Jump, Label, Program, Register, Width};
pub(crate) use idioms::{count, lookup, put, read, read_into, update};
pub(crate) use kernel_types::KernelTypes;
pub(crate) use map::{Kind, Map};
pub(crate) use program::{Attached, load};
pub(crate) use ring::GrowingRing;

use std::io;

const MAP_CREATE: u32 = 0;
const MAP_LOOKUP_ELEM: u32 = 1;
const MAP_UPDATE_ELEM: u32 = 2;
const MAP_DELETE_ELEM: u32 = 3;
const MAP_GET_NEXT_KEY: u32 = 4;
const PROG_LOAD: u32 = 5;
const RAW_TRACEPOINT_OPEN: u32 = 17;

/// `union bpf_attr` as words, as long as the calls here need. The kernel wants the rest as zeroes.
type Attributes = [u64; 16];

/// The raw call. What `attributes` points to must live through it, and be as large as the command
/// says; that is each caller's promise.
fn call(command: u32, attributes: &Attributes) -> io::Result<i32> {
    // SAFETY: the attributes have the size that is passed; the callers, all in this module, point
    // them only to live memory of the size that the command reads or writes.
    let result = unsafe {
        libc::syscall(libc::SYS_bpf, command, attributes.as_ptr(), size_of::<Attributes>())
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result as i32) }
}

/// Two numbers of half a word each in one word, in memory's order.
fn halves(first: u32, second: u32) -> u64 {
    let ([a, b, c, d], [e, f, g, h]) = (first.to_ne_bytes(), second.to_ne_bytes());
    u64::from_ne_bytes([a, b, c, d, e, f, g, h])
}
