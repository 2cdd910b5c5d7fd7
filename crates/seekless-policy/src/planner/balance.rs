//! Which of a device's two limits the reads so far come closer to: that on requests, or that on
//! bytes.
//!
//! A volume limits each for itself, so a program waits for the scarcer of the two. While bytes are
//! scarcer a request is worth fewer of them than the device's costs say, and less is read around a
//! demand and for guesses, until both limits are reached at once. On a device that charges a
//! request and its bytes one after the other, such as a disk, reads that are worth their requests
//! keep the two about equal anyway, and little changes.

use super::READ_BYTES_MAX;
use seekless_device::Costs;

/// A whole worth.
const WHOLE: u64 = 1024;

/// A request keeps at least this worth, in case both of the device's costs are known wrongly by a
/// factor of two. Confirmed, as [`STEP`] was, on 35 starts of Python, node, g++ and perl on six
/// devices, each from what four other starts show: with an eighth to a half, and with 10 to 80
/// parts, they take 99.6 to 100.2 % of the time.
const LEAST: u64 = WHOLE / 4;

/// Each read changes the worth by one part in this many: from the whole to the least it takes 27
/// reads, a few of a start's hundreds.
const STEP: u64 = 20;

/// What was read, and what a request is worth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Balance {
    requests: u64,
    bytes: u64,
    worth: u64,
}

impl Balance {
    /// Nothing was read yet.
    pub(super) fn new() -> Self {
        Self { requests: 0, bytes: 0, worth: WHOLE }
    }

    /// A read of `bytes` bytes is sent to a device of these costs.
    pub(super) fn read(&mut self, bytes: u64, costs: &Costs) {
        self.requests += bytes.div_ceil(READ_BYTES_MAX).max(1);
        self.bytes += bytes;
        let requests_bytes = u128::from(self.requests) * u128::from(costs.gap_bytes());
        let step = (self.worth / STEP).max(1);
        let worth = match u128::from(self.bytes) > requests_bytes {
            true => self.worth - step,
            false => self.worth + step,
        };
        self.worth = worth.clamp(LEAST, WHOLE);
    }

    /// What is left of bytes that a request is worth by the device's costs.
    pub(super) fn of(&self, bytes: u64) -> u64 {
        (u128::from(bytes) * u128::from(self.worth) / u128::from(WHOLE)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A request costs as much as reading 300 KB.
    const COSTS: Costs = Costs { request_ns: 2_000_000, bytes_per_second: 150_000_000, depth: 1 };

    #[test]
    fn a_request_is_worth_less_only_while_bytes_are_scarcer() {
        let mut balance = Balance::new();
        (0..100).for_each(|_| balance.read(200_000, &COSTS));
        assert_eq!(balance.of(300_000), 300_000);
        (0..200).for_each(|_| balance.read(500_000, &COSTS));
        assert_eq!(balance.of(300_000), 75_000);
        // 100 MB, of 90 MB that these requests are worth: 67 small ones more, and it turns.
        (0..400).for_each(|_| balance.read(4096, &COSTS));
        assert_eq!(balance.of(300_000), 300_000);
    }

    #[test]
    fn a_large_file_is_many_requests() {
        let mut balance = Balance::new();
        let dear = Costs { request_ns: 8_000_000, ..COSTS };
        (0..100).for_each(|_| balance.read(40 << 20, &dear));
        assert_eq!(balance.of(1 << 20), 1 << 20);
    }
}
