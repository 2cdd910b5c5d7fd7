//! One probe under way: counts what it reads, ends it when its time is up, and shows how far it is.

use super::{Request, Span, Timed};
use crate::{Error, ErrorKind};
use seekless_device::{Nanos, SplitMix64};

/// What a probe took of the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Taken {
    /// Reads.
    pub reads: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Writes; none unless the user named the device for writing.
    pub writes: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Time on the device's clock.
    pub elapsed_ns: Nanos,
}

/// The device with what a probe needs beside it.
pub(super) struct Probing<'a> {
    device: &'a mut dyn Timed,
    started: Nanos,
    limit_ns: Nanos,
    taken: Taken,
    pub(super) dice: SplitMix64,
    progress: &'a mut dyn FnMut(u64, u64),
}

impl<'a> Probing<'a> {
    pub(super) fn new(
        device: &'a mut dyn Timed,
        limit_ns: Nanos,
        seed: u64,
        progress: &'a mut dyn FnMut(u64, u64),
    ) -> Self {
        let started = device.now();
        let (taken, dice) = (Taken::default(), SplitMix64::new(seed));
        Probing { device, started, limit_ns, taken, dice, progress }
    }

    pub(super) fn capacity(&self) -> u64 {
        self.device.capacity_bytes()
    }

    pub(super) fn grain(&self) -> u64 {
        self.device.grain_bytes()
    }

    pub(super) fn now(&self) -> Nanos {
        self.device.now()
    }

    pub(super) fn taken(&self) -> Taken {
        Taken { elapsed_ns: self.device.now().saturating_sub(self.started), ..self.taken }
    }

    /// Lets time pass up to `then`.
    pub(super) fn wait_until(&mut self, then: f64) {
        let ahead = then - self.device.now() as f64;
        if ahead >= 1.0 {
            self.device.pause(ahead as Nanos);
        }
    }

    pub(super) fn pause(&mut self, nanos: f64) {
        self.device.pause(nanos.max(0.0) as Nanos);
    }

    pub(super) fn read(&mut self, offset: u64, bytes: u64) -> Result<Span, Error> {
        Ok(self.run(&[Request::read(offset, bytes)])?[0])
    }

    pub(super) fn run(&mut self, requests: &[Request]) -> Result<Vec<Span>, Error> {
        let elapsed = self.device.now().saturating_sub(self.started);
        (self.progress)(elapsed.min(self.limit_ns) / 1_000_000, self.limit_ns / 1_000_000);
        if elapsed > self.limit_ns {
            return Err(Error::new(ErrorKind::OutOfTime, "the probe's time is up".to_owned()));
        }
        for request in requests {
            let (count, bytes) = match request.write {
                true => (&mut self.taken.writes, &mut self.taken.bytes_written),
                false => (&mut self.taken.reads, &mut self.taken.bytes_read),
            };
            *count += 1;
            *bytes += request.bytes;
        }
        self.device.run(requests)
    }

    /// An aligned offset of a read of `bytes` that leaves `margin` before and behind it, anywhere.
    pub(super) fn anywhere(&mut self, margin: u64) -> u64 {
        let room = self.capacity().saturating_sub(2 * margin).max(1);
        let offset = margin.min(self.capacity() / 2) + self.dice.below(room);
        offset / self.grain() * self.grain()
    }
}
