//! Architectures without a table of calls. The crate builds, and `record` returns an error.

use crate::call::Call;
use seekless_sys::seccomp::When;
use std::io;
use std::ops::Range;

pub(crate) const SUPPORTED: bool = false;
pub(crate) const AUDIT: u32 = 0;
pub(crate) const FOREIGN_AUDIT: u32 = 0;
pub(crate) const X32: Range<u32> = 0..0;
pub(crate) const TABLE: &[(u32, When, Call)] = &[];
pub(crate) const VECTORS: &[u32] = &[];
pub(crate) const FOREIGN_VECTORS: &[u32] = &[];
pub(crate) const FOREIGN: &[(u32, When, Call)] = &[];

/// A placeholder for registers.
pub(crate) struct Registers;

impl Registers {
    pub(crate) fn of(_: i32) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn clone_flags(&self, _: impl Fn(u64) -> Option<u64>) -> Option<u64> {
        None
    }

    pub(crate) fn interrupted(&self) -> Option<(u32, u64, [u64; 6])> {
        None
    }

    pub(crate) fn with_call_again(self, _: i32) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn without_call(self, _: i32) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn without_untraced(self, _: i32, _: u32) -> io::Result<()> {
        Ok(())
    }
}
