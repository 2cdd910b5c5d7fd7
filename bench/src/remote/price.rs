//! What a provider charges for a thousand starts.

use seekless::device::{Charged, Price};
use seekless_testing::Served;

/// Starts that a price is of, since one costs little.
const STARTS: f64 = 1000.0;

fn charged(served: &Served) -> Charged {
    let Served { requests, lists, bytes, .. } = *served;
    Charged { reads: requests.saturating_sub(lists), writes: 0, lists, bytes }
}

/// Dollars for the requests.
pub(super) fn requests(price: &Price, served: &Served) -> f64 {
    STARTS * price.within(&charged(served))
}

/// Dollars if all bytes leave the provider's network.
pub(super) fn whole(price: &Price, served: &Served) -> f64 {
    STARTS * price.with_egress(&charged(served))
}
