//! A device model as a device to be timed, on a clock of its own: for proofs on devices whose
//! inside is known. Times are read with a random error, as a busy host reads them.

use super::{Request, Span, Timed};
use crate::Error;
use seekless_device::{DeviceModel, Io, Nanos, SplitMix64};

/// A model, its clock, and the error with which the host reads it.
#[derive(Debug)]
pub struct Modelled<D> {
    model: D,
    now: Nanos,
    capacity_bytes: u64,
    grain_bytes: u64,
    /// Standard deviation of a time that is read, as a share of it.
    noise: f64,
    dice: SplitMix64,
}

impl<D: DeviceModel> Modelled<D> {
    /// A model of this many bytes with sectors of 512 bytes, read without error.
    pub fn new(model: D, capacity_bytes: u64) -> Self {
        let dice = SplitMix64::new(0);
        Modelled { model, now: 0, capacity_bytes, grain_bytes: 512, noise: 0.0, dice }
    }

    /// The same, where each latency is read with an error: normally distributed, this share of it.
    /// When the error is above zero the host also goes on that much later.
    #[must_use]
    pub fn with_noise(mut self, share: f64, seed: u64) -> Self {
        (self.noise, self.dice) = (share, SplitMix64::new(seed));
        self
    }

    /// The same, with this alignment of requests.
    #[must_use]
    pub fn with_grain(mut self, bytes: u64) -> Self {
        self.grain_bytes = bytes.max(1);
        self
    }

    /// The model.
    pub fn model(&self) -> &D {
        &self.model
    }

    /// A normally distributed number (Box and Muller).
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.dice.share()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.dice.share()).cos()
    }

    fn read_with_error(&mut self, begin: Nanos, end: Nanos) -> Nanos {
        let error = (self.noise * self.normal()).max(-0.5);
        begin + ((end - begin) as f64 * (1.0 + error)).round() as Nanos
    }
}

impl<D: DeviceModel> Timed for Modelled<D> {
    fn run(&mut self, requests: &[Request]) -> Result<Vec<Span>, Error> {
        let begin = self.now;
        for (tag, &Request { write, offset, bytes }) in (0..).zip(requests) {
            self.model.submit(begin, Io { tag, write, offset, bytes });
        }
        let (mut ends, mut left) = (vec![begin; requests.len()], requests.len());
        while left > 0 {
            let Some(event) = self.model.next_event() else { break };
            self.now = self.now.max(event);
            self.model.advance(self.now, &mut |end, io| {
                ends[io.tag as usize] = end;
                left -= 1;
            });
        }
        let read: Vec<Nanos> =
            ends.into_iter().map(|end| self.read_with_error(begin, end)).collect();
        self.now = read.iter().copied().fold(self.now, Nanos::max);
        Ok(read.into_iter().map(|end| Span { begin, end }).collect())
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn pause(&mut self, nanos: Nanos) {
        self.now = self.now.saturating_add(nanos);
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn grain_bytes(&self) -> u64 {
        self.grain_bytes
    }
}
