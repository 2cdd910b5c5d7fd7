//! What a probe asks of a device: one I/O at an offset, and when it ended. The inference knows
//! nothing else of the device, so that it runs on real files, on slowed engines and on bare models.

use crate::Error;
use seekless_device::Nanos;

/// One I/O to time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// A write rather than a read.
    pub write: bool,
    /// Byte offset on the device.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u64,
}

impl Request {
    /// A read.
    #[must_use]
    pub fn read(offset: u64, bytes: u64) -> Self {
        Request { write: false, offset, bytes }
    }

    /// A write.
    #[must_use]
    pub fn write(offset: u64, bytes: u64) -> Self {
        Request { write: true, offset, bytes }
    }
}

/// When an I/O began and ended, on the device's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// When it was handed over.
    pub begin: Nanos,
    /// When it was done.
    pub end: Nanos,
}

impl Span {
    /// How long it took.
    #[must_use]
    pub fn ns(&self) -> Nanos {
        self.end.saturating_sub(self.begin)
    }
}

/// A device whose I/O can be timed.
pub trait Timed {
    /// Hands over all requests at once and waits for the last. Returns their spans in the order of
    /// the requests.
    ///
    /// # Errors
    /// A request fails.
    fn run(&mut self, requests: &[Request]) -> Result<Vec<Span>, Error>;
    /// The time on the clock of the spans.
    fn now(&self) -> Nanos;
    /// Lets time pass while the device is idle.
    fn pause(&mut self, nanos: Nanos);
    /// Bytes that may be read.
    fn capacity_bytes(&self) -> u64;
    /// Offsets and lengths are multiples of this.
    fn grain_bytes(&self) -> u64;
}
