//! Where I/Os are played: something that takes them by slot, and lets time pass.

use super::Io;
use crate::Error;
use seekless_device::Nanos;

/// An I/O that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its slot, which is free again.
    pub slot: u32,
    /// When it ended, on the stage's clock.
    pub at: Nanos,
}

/// A device, real or modelled, and its clock.
pub trait Stage {
    /// How many I/Os it takes at once.
    fn depth(&self) -> u32;

    /// The time on its clock.
    fn now(&self) -> Nanos;

    /// Takes an I/O into a free slot; the next start or turn hands it to the device.
    fn push(&mut self, slot: u32, io: &Io);

    /// Hands what was pushed to the device, which works on it while more is pushed.
    fn start(&mut self);

    /// Starts what was pushed, and waits until an I/O has ended or, if there is one, until a time.
    /// Adds what has ended to `ended`.
    ///
    /// # Errors
    /// An I/O has failed.
    fn turn(&mut self, until: Option<Nanos>, ended: &mut Vec<Ended>) -> Result<(), Error>;
}
