//! What a provider charges for a start.

use super::Args;
use seekless_testing::Served;

/// Prices in dollars.
#[derive(Clone, Copy, Debug)]
pub(super) struct Price {
    thousand_requests: f64,
    thousand_lists: f64,
    gigabyte: f64,
}

impl Price {
    pub(super) fn of(args: &Args) -> Self {
        Self {
            thousand_requests: args.request_price,
            thousand_lists: args.list_price,
            gigabyte: args.egress_price,
        }
    }

    /// Dollars for the requests of a thousand starts.
    pub(super) fn requests(&self, served: &Served) -> f64 {
        let others = served.requests.saturating_sub(served.lists) as f64;
        others * self.thousand_requests + served.lists as f64 * self.thousand_lists
    }

    /// Dollars for a thousand starts whose bytes leave the provider's network.
    pub(super) fn whole(&self, served: &Served) -> f64 {
        self.requests(served) + served.bytes as f64 / 1e6 * self.gigabyte
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_lists_and_bytes_are_charged() {
        let price = Price { thousand_requests: 0.0004, thousand_lists: 0.005, gigabyte: 0.09 };
        let served = Served { requests: 1100, lists: 100, bytes: 50_000_000, ..Served::default() };
        assert!((price.requests(&served) - 0.9).abs() < 1e-9);
        assert!((price.whole(&served) - 5.4).abs() < 1e-9);
    }
}
