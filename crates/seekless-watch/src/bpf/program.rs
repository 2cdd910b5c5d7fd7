//! Loads a program and hangs it on a place in the kernel that calls it.

use super::{Attributes, PROG_LOAD, Program, RAW_TRACEPOINT_OPEN, call, halves};
use crate::perf;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const OF_TRACEPOINT: u32 = 5;
const OF_RAW_TRACEPOINT: u32 = 17;
/// The kernel's functions that read its memory are only for programs with such a licence. This
/// project's own licence is compatible with it.
const LICENCE: &CStr = c"Dual MIT/GPL";
/// Room for what the verifier says of a refused program.
const LOG_BYTES: usize = 1 << 20;
/// How often a load is tried that the kernel breaks off.
const ATTEMPTS: u32 = 20;

/// A program at its place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Attached {
    _link: OwnedFd,
}

impl Attached {
    /// Hangs the program on a raw tracepoint.
    ///
    /// # Errors
    /// This process may not (CAP_BPF and CAP_PERFMON), the kernel has no such place, or its
    /// verifier refuses the program.
    pub(crate) fn load(program: &Program, tracepoint: &CStr) -> io::Result<Self> {
        Self::hang(&load(program)?, tracepoint)
    }

    /// As [`Attached::load`], of a program that is loaded already.
    pub(crate) fn hang(loaded: &OwnedFd, tracepoint: &CStr) -> io::Result<Self> {
        let mut attributes = Attributes::default();
        attributes[0] = tracepoint.as_ptr() as u64;
        attributes[1] = halves(loaded.as_raw_fd() as u32, 0);
        let link = call(RAW_TRACEPOINT_OPEN, &attributes)?;
        // SAFETY: a descriptor that the kernel has just made for us; it holds the program, too.
        Ok(Self { _link: unsafe { OwnedFd::from_raw_fd(link) } })
    }

    /// Hangs the program on the tracepoint of this number. Its context is the tracepoint's record,
    /// as its format lays it out.
    ///
    /// # Errors
    /// As [`Attached::load`].
    pub(crate) fn load_at(program: &Program, tracepoint: u64) -> io::Result<Self> {
        let loaded = load_as(OF_TRACEPOINT, program)?;
        Ok(Self { _link: perf::run_at_tracepoint(tracepoint, &loaded)? })
    }
}

/// Loads a program, to be hung on a raw tracepoint or to be gone on to.
///
/// # Errors
/// As [`Attached::load`].
pub(crate) fn load(program: &Program) -> io::Result<OwnedFd> {
    load_as(OF_RAW_TRACEPOINT, program)
}

fn load_as(kind: u32, program: &Program) -> io::Result<OwnedFd> {
    let mut attributes = Attributes::default();
    attributes[0] = halves(kind, program.instructions.len() as u32);
    attributes[1] = program.instructions.as_ptr() as u64;
    attributes[2] = LICENCE.as_ptr() as u64;
    let made = load_patiently(&attributes).map_err(|error| explained(error, attributes))?;
    // SAFETY: a descriptor that the kernel has just made for us.
    Ok(unsafe { OwnedFd::from_raw_fd(made) })
}

/// The verifier gives up when something is to be done for this thread meanwhile, such as a signal.
fn load_patiently(attributes: &Attributes) -> io::Result<i32> {
    let mut attempts = 1..ATTEMPTS;
    loop {
        match call(PROG_LOAD, attributes) {
            Err(error)
                if error.raw_os_error() == Some(libc::EAGAIN) && attempts.next().is_some() => {}
            result => return result,
        }
    }
}

/// Loads again with a log, and adds its last lines. A lack of permission needs no explanation.
fn explained(error: io::Error, mut attributes: Attributes) -> io::Error {
    if error.raw_os_error() == Some(libc::EPERM) {
        return error;
    }
    let mut log = vec![0_u8; LOG_BYTES];
    attributes[3] = halves(1, log.len() as u32);
    attributes[4] = log.as_mut_ptr() as u64;
    let _ = call(PROG_LOAD, &attributes); // fails as before
    let end = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
    let text = String::from_utf8_lossy(&log[..end]).into_owned();
    let lines: Vec<&str> = text.trim().lines().collect();
    let last = lines[lines.len().saturating_sub(25)..].join("\n");
    io::Error::new(error.kind(), format!("{error}; the kernel's verifier says: {last}"))
}
