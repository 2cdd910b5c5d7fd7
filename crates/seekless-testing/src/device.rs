//! How long a device takes to answer.

use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Requests of one read come out of order by up to this much. The drive has read on, so what lies
/// so little before the end of the last read is in its buffer.
const BUFFERED_BYTES: u64 = 512 << 10;

/// What a device takes. The default takes no time.
#[derive(Clone, Copy, Debug)]
pub struct Delays {
    /// Of each read; with `arm`, of each that does not go on where the last ended. A drive with an
    /// arm reads over what lies between, if that takes less.
    pub read: Duration,
    /// Bytes a second of all reads together; `None` for no limit.
    pub bytes_per_second: Option<u64>,
    /// Whether an arm serves one read after the other.
    pub arm: bool,
    /// Reads that are served at once.
    pub at_once: u16,
    /// Whether files must be recalled when they are opened.
    pub recall: Option<Recall>,
}

/// An archive that brings whole files to a staging area of limited size. The file opened longest
/// ago leaves it first.
#[derive(Clone, Copy, Debug)]
pub struct Recall {
    /// Until the first byte of a file.
    pub latency: Duration,
    /// Of the transfer to the staging area.
    pub bytes_per_second: u64,
    /// The size of the staging area.
    pub staged_bytes: u64,
}

impl Default for Delays {
    fn default() -> Self {
        Self { read: Duration::ZERO, bytes_per_second: None, arm: false, at_once: 1, recall: None }
    }
}

/// The device behind a mount.
#[derive(Debug)]
pub(crate) struct Device {
    delays: Delays,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// When it has transferred all that was asked of it.
    free: Instant,
    /// The file of the last read, and where that ended.
    last: Option<(u64, u64)>,
}

impl Device {
    pub(crate) fn new(delays: Delays) -> Self {
        let state = Mutex::new(State { free: Instant::now(), last: None });
        Self { delays, state }
    }

    /// When a read that arrives now is done.
    fn done(&self, arrival: Instant, file: u64, offset: u64, bytes: u64) -> Instant {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let transfer = self.transfer(bytes);
        let begin = match self.delays.arm {
            true => arrival.max(state.free) + self.seek(state.last, file, offset),
            false if transfer.is_zero() => return arrival + self.delays.read,
            false => (arrival + self.delays.read).max(state.free),
        };
        state.free = begin + transfer;
        state.last = Some((file, offset + bytes));
        state.free
    }

    fn transfer(&self, bytes: u64) -> Duration {
        self.delays
            .bytes_per_second
            .map_or(Duration::ZERO, |rate| Duration::from_secs_f64(bytes as f64 / rate as f64))
    }

    /// Until the arm is at `offset`, after the last read ended at `last`.
    fn seek(&self, last: Option<(u64, u64)>, file: u64, offset: u64) -> Duration {
        match last.filter(|&(last, _)| last == file) {
            Some((_, end)) if offset >= end && self.delays.bytes_per_second.is_some() => {
                self.delays.read.min(self.transfer(offset - end))
            }
            Some((_, end)) if offset.abs_diff(end) <= BUFFERED_BYTES => Duration::ZERO,
            _ => self.delays.read,
        }
    }

    /// Waits as long as the device takes for a read that arrived at `arrival`.
    pub(crate) fn serve(&self, arrival: Instant, file: u64, offset: u64, bytes: u64) {
        let done = self.done(arrival, file, offset, bytes);
        sleep(done.saturating_duration_since(Instant::now()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn an_arm_moves_for_what_lies_elsewhere_and_serves_one_after_the_other() {
        let device = Device::new(Delays {
            read: 100 * MS,
            bytes_per_second: Some(1_000_000),
            arm: true,
            ..Delays::default()
        });
        let now = Instant::now();
        let after = |file, offset| device.done(now, file, offset, 10_000) - now;
        assert_eq!(after(1, 0), 110 * MS);
        assert_eq!(after(1, 10_000), 120 * MS);
        assert_eq!(after(1, 10_000_000), 230 * MS);
        assert_eq!(after(2, 10_010_000), 340 * MS);
        assert_eq!(after(2, 10_050_000), 380 * MS, "it reads over 30 ms' worth");
        assert_eq!(after(2, 10_040_000), 390 * MS, "it is in the drive's buffer");
        assert_eq!(after(2, 9_000_000), 500 * MS);
    }

    #[test]
    fn a_network_waits_for_all_at_once_and_shares_its_bandwidth() {
        let delays =
            Delays { read: 20 * MS, bytes_per_second: Some(1_000_000), ..Delays::default() };
        let device = Device::new(delays);
        let now = Instant::now();
        let after = |offset| device.done(now, 1, offset, 5_000) - now;
        assert_eq!([after(0), after(50_000_000)], [25 * MS, 30 * MS]);
    }
}
