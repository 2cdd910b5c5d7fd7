//! What reading costs a byte, by which ranges and files are ordered.

use std::time::Duration;

/// The bytes that a price is for.
const UNIT_BYTES: u64 = 1 << 20;
/// Prices are kept to this many binary digits, so that what costs about the same keeps its order.
const DIGITS: u32 = 4;

/// Nanoseconds per MiB, the latency included. Smith's rule (1956): if each byte is as likely as any
/// other to be the last that is needed, reading by ascending price takes the least time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Price(u64);

impl Price {
    /// The price of this many bytes, none of which comes without the others.
    pub(super) fn of(cost: Duration, bytes: u64) -> Self {
        let cost_ns = cost.as_nanos().saturating_mul(u128::from(UNIT_BYTES));
        let exact = u64::try_from(cost_ns / u128::from(bytes.max(1))).unwrap_or(u64::MAX);
        let digits = u64::BITS - exact.leading_zeros();
        let dropped = digits.saturating_sub(DIGITS);
        Price(exact >> dropped << dropped)
    }

    /// The price of a device's bytes, read a unit at a time.
    pub(super) fn of_device(latency: Duration, bytes_per_second: u64) -> Self {
        let transfer = UNIT_BYTES as f64 / bytes_per_second.max(1) as f64;
        let transfer = Duration::try_from_secs_f64(transfer).unwrap_or(Duration::MAX);
        Price::of(latency.saturating_add(transfer), UNIT_BYTES)
    }

    /// What this many bytes cost.
    pub(super) fn cost(self, bytes: u64) -> Duration {
        let cost_ns = u128::from(self.0) * u128::from(bytes) / u128::from(UNIT_BYTES);
        Duration::from_nanos(u64::try_from(cost_ns).unwrap_or(u64::MAX))
    }

    /// Whether it is so much higher that one who may stop early waits with it until all that costs
    /// `other` has been seen.
    pub(super) fn is_dear_beside(self, other: Price) -> bool {
        self.0 / 2 >= other.0 && self > other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_counts_latency_and_transfer_a_byte() {
        let disk = |bytes| Price::of(Duration::from_millis(10), bytes);
        assert!(disk(UNIT_BYTES) < disk(UNIT_BYTES / 2), "fewer bytes share the latency");
        assert_eq!(disk(UNIT_BYTES), Price::of(Duration::from_millis(20), 2 * UNIT_BYTES));
        let near =
            [10_000_000, 10_200_000].map(|ns| Price::of(Duration::from_nanos(ns), UNIT_BYTES));
        assert_eq!(near[0], near[1], "about the same");
        let device = Price::of_device(Duration::from_millis(5), 100 << 20);
        assert_eq!(device, Price::of(Duration::from_millis(15), UNIT_BYTES));
        assert_eq!(Price::of_device(Duration::MAX, 0), Price::of(Duration::MAX, 0));
        assert_eq!(Price::of(Duration::ZERO, 0), Price::default());
        assert_eq!(disk(UNIT_BYTES).cost(3 * UNIT_BYTES), disk(UNIT_BYTES).cost(UNIT_BYTES) * 3);
        assert_eq!(Price::of_device(Duration::MAX, 0).cost(u64::MAX).as_nanos(), u64::MAX.into());
    }

    #[test]
    fn twice_as_much_is_dear() {
        let [one, more, twice] =
            [1000, 1900, 2000].map(|ns| Price::of(Duration::from_nanos(ns), UNIT_BYTES));
        assert!(twice.is_dear_beside(one) && !more.is_dear_beside(one));
        assert!(!one.is_dear_beside(one) && !Price::default().is_dear_beside(Price::default()));
    }
}
