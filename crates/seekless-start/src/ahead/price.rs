//! What a device charges for a request, learned from the program's reads that waited for it.

use seekless_device::Costs;
use std::collections::VecDeque;

/// Waits that are remembered.
const REMEMBERED: usize = 32;
/// Fewer waits than this say nothing.
const ENOUGH: usize = 6;
/// A device that answers so soon has no moving parts, and serves several requests at once.
const FLASH_NS: u64 = 500_000;
const FLASH_DEPTH: u32 = 8;
/// A read of more is not one request.
pub(super) const PAGES_MAX: u64 = 32;

/// The costs of one device.
#[derive(Clone, Debug)]
pub(super) struct Price {
    costs: Costs,
    /// Whether the waits count: the costs are neither given nor measured.
    learns: bool,
    /// Requests that it is known to serve at once.
    depth: u32,
    waits_ns: VecDeque<u64>,
}

impl Price {
    pub(super) fn new(costs: Costs, learns: bool) -> Self {
        Price { costs, learns, depth: costs.depth, waits_ns: VecDeque::new() }
    }

    pub(super) fn costs(&self) -> Costs {
        self.costs
    }

    /// A read of this many bytes of one place waited this long for the device.
    pub(super) fn waited(&mut self, bytes: u64, wait_ns: u64) {
        if !self.learns || bytes > PAGES_MAX * 4096 {
            return;
        }
        if self.waits_ns.len() == REMEMBERED {
            self.waits_ns.pop_front();
        }
        let transfer_ns = bytes.saturating_mul(1_000_000_000) / self.costs.bytes_per_second.max(1);
        self.waits_ns.push_back(wait_ns.saturating_sub(transfer_ns));
        if self.waits_ns.len() >= ENOUGH {
            // A wait may include that for requests which were fetched ahead: most do not.
            let mut sorted: Vec<u64> = self.waits_ns.iter().copied().collect();
            sorted.sort_unstable();
            self.costs.request_ns = sorted[sorted.len() / 4].max(1);
            let is_flash = self.costs.request_ns < FLASH_NS;
            self.costs.depth = self.depth.max(if is_flash { FLASH_DEPTH } else { 1 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reads_waited_is_what_a_request_costs() {
        let costs = Costs { request_ns: 100_000, bytes_per_second: 100_000_000, depth: 4 };
        let mut price = Price::new(costs, true);
        (0..5).for_each(|_| price.waited(4096, 5_040_960));
        assert_eq!(price.costs(), costs, "too few");
        price.waited(1 << 20, 1 << 40); // many requests
        (0..5).for_each(|_| price.waited(4096, 50_000_000)); // behind others
        assert_eq!(price.costs(), Costs { request_ns: 5_000_000, ..costs });
        let mut flash = Price::new(Costs { depth: 1, ..costs }, true);
        (0..6).for_each(|_| flash.waited(4096, 140_960));
        assert_eq!(flash.costs(), Costs { request_ns: 100_000, depth: 8, ..costs });
        let mut given = Price::new(costs, false);
        (0..9).for_each(|_| given.waited(4096, 9_000_000));
        assert_eq!(given.costs(), costs);
    }
}
