//! What happens once in a period.

use super::Period;

/// Rings once in a period.
pub(crate) struct Alarm {
    period: Option<u64>,
    next: u64,
}

impl Alarm {
    pub(crate) fn new(period: Option<Period>) -> Self {
        let period = period.map(Period::count);
        Self { period, next: period.unwrap_or(u64::MAX) }
    }

    pub(crate) fn rings(&mut self, now: u64) -> bool {
        let Some(period) = self.period.filter(|_| now >= self.next) else { return false };
        self.next = now - now % period + period;
        true
    }

    /// When it rings next; never without a period.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }
}
