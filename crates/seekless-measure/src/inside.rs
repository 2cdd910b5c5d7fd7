//! What the timing of I/O shows of a device's inside: a disk's rotation, tracks, zones, arm and
//! cache ([`disk_inside`]), a flash drive's pages, chunks, planes and channels ([`flash_inside`]),
//! and of any device the latency by size and depth ([`latency_grid`]).
//!
//! The inference is pure: it asks a [`Timed`] device for I/O at offsets, and gets the times. A
//! [`Probed`] target is real, a [`Modelled`] one a device model on a clock of its own. Each
//! [`Finding`] says how many standard errors speak for it; under three it is unidentifiable.
//! [`proof`] compares what is found with what was [`planted`].

mod answers;
mod disk;
mod finding;
mod flash;
mod grid;
mod live;
mod modelled;
pub mod planted;
mod probing;
pub mod proof;
mod statistics;
mod timed;

pub use answers::Answers;
pub use disk::DiskInside;
pub use finding::{Curve, Finding, SIGMAS_MIN};
pub use flash::FlashInside;
pub use grid::{Grid, GridOptions, GridRow, latency_grid};
pub use live::Probed;
pub use modelled::Modelled;
pub use probing::Taken;
pub use timed::{Request, Span, Timed};

use crate::Error;
use seekless_device::Nanos;

/// Looks for a disk's inside for at most `limit_ns` of the device's time.
///
/// # Errors
/// An I/O fails.
pub fn disk_inside(
    device: &mut dyn Timed,
    limit_ns: Nanos,
    seed: u64,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(DiskInside, Taken), Error> {
    let mut probing = probing::Probing::new(device, limit_ns, seed, progress);
    let inside = disk::find(&mut probing)?;
    Ok((inside, probing.taken()))
}

/// Looks for a flash drive's inside for at most `limit_ns` of the device's time. With `destroy` it
/// also writes, over the first pages of the device.
///
/// # Errors
/// An I/O fails.
pub fn flash_inside(
    device: &mut dyn Timed,
    destroy: bool,
    limit_ns: Nanos,
    seed: u64,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(FlashInside, Taken), Error> {
    let mut probing = probing::Probing::new(device, limit_ns, seed, progress);
    let inside = flash::find(&mut probing, destroy)?;
    Ok((inside, probing.taken()))
}

#[cfg(test)]
mod tests;
