//! Plays I/Os again: on a real file or device past the page cache, or on a device model in virtual
//! time. One player drives both, so that the times of a model and of a device can be compared.
//!
//! [`fit`] makes the I/Os of a trace fit a [`Target`]: writes are left out unless the target was
//! named for writing, lengths are aligned, and what lies outside is folded in or refused. [`play`]
//! then plays them once on a [`Stage`], at a [`Pace`]; [`Rounds`] holds what several plays come to.

mod counters;
mod figures;
mod fit;
mod live;
mod model;
mod own_file;
mod pace;
mod pass;
mod player;
mod stage;
mod target;

pub use counters::DeviceServed;
pub use figures::{Percentiles, Repeat, Rounds, Times};
pub use fit::{Changes, Fitted, Limits, Remap, Writes, fit};
pub use live::Live;
pub use model::Modelled;
pub use own_file::{Protected, create_file};
pub use pace::Pace;
pub use pass::{Pass, Point};
pub use player::{Plan, play};
pub use stage::{Ended, Stage};
pub use target::Target;

/// One I/O to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// When it came, in nanoseconds from the start.
    pub time_ns: u64,
    /// The first byte.
    pub offset: u64,
    /// The length, more than 0.
    pub bytes: u64,
    /// Which file of the target.
    pub file: u32,
    /// Which thread made it; any numbers will do.
    pub thread: u32,
    /// Whether it writes.
    pub write: bool,
}

/// Longer I/Os are cut, as Linux cuts them before they reach a device.
pub const IO_BYTES_MAX: u64 = 1 << 20;

#[cfg(test)]
mod tests;
