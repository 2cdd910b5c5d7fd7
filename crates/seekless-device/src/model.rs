//! The interface of a device model: requests go in with the time, completions come out with theirs.

use crate::{Costs, parts};

/// A time or duration in nanoseconds, on whatever clock the caller keeps.
pub type Nanos = u64;

/// One I/O as a device sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// The caller's name for it, handed back when it completes.
    pub tag: u64,
    /// A write rather than a read.
    pub write: bool,
    /// Byte offset on the device.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u64,
}

/// A device in simulated time.
pub trait DeviceModel {
    /// Hands over `io` at time `now`; times never go backwards between calls.
    fn submit(&mut self, now: Nanos, io: Io);
    /// The time to which the model must be advanced next: that of the next completion, or an
    /// earlier one. `None` when nothing is in flight. A later submit may still change this, since
    /// it may overtake the earlier I/O.
    fn next_event(&self) -> Option<Nanos>;
    /// Lets time pass until `now`, and calls `done` with each completion's time and I/O, in order
    /// of time.
    fn advance(&mut self, now: Nanos, done: &mut dyn FnMut(Nanos, Io));
    /// How many requests a read of `bytes` is to this device.
    fn requests(&self, bytes: u64) -> u64 {
        parts(bytes)
    }
    /// What this device charges, for decisions.
    fn costs(&self) -> Costs;
}

#[cfg(test)]
mod tests;
