//! What differs between architectures: the numbers and arguments of calls, and registers.

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
