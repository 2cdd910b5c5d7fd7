//! What differs between architectures, behind one face: call numbers, registers, and how a call's result is read.

#[cfg(target_arch = "x86_64")]
mod i386;
#[cfg(not(target_arch = "x86_64"))]
mod other;
#[cfg(target_arch = "x86_64")]
mod when;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "x86_64")]
pub(crate) use i386::TABLE as FOREIGN;
#[cfg(not(target_arch = "x86_64"))]
pub(crate) use other::*;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::*;
