//! McCarthy 2015, "further work": a miss also fetches the 15 pages that follow, whatever was read
//! before. It suits block traces, where requests of many programs are mixed, and a layout that puts
//! together what is used together. Elsewhere it reads many times the bytes for few hits.
//!
//! So there is a variant with a gate. Each page that is used saves a request; each page that is
//! prefetched takes its transfer. While the savings are less than the price, only one miss in
//! [`PROBE`] fetches ahead, to see whether that has changed.

use super::options::{Options, PAGE_BYTES};
use super::{Ahead, Fate, Handle, PageNo, Read, Readahead, Trigger, Window};
use seekless_device::Costs;

/// The pages that follow a miss.
const AHEAD_PAGES: u64 = 15;
/// While the gate is closed, one miss in this many fetches ahead.
const PROBE: u64 = 32;
/// After this many prefetched pages the counts are halved, so that the last ones weigh most.
const MEMORY_PAGES: u64 = 4096;
/// The gate stays open until this many pages have been prefetched.
const TRIAL_PAGES: u64 = 512;

/// Fetches 15 pages after each miss.
#[derive(Debug)]
pub struct Fixed {
    options: Options,
    /// The counts that show whether it pays; `None`: it is not asked.
    gate: Option<Gate>,
}

impl Fixed {
    /// Always fetches ahead.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self { options, gate: None }
    }

    /// Fetches ahead while it pays on this device.
    #[must_use]
    pub fn gated(options: Options) -> Self {
        Self { options, gate: Some(Gate::default()) }
    }
}

/// Counts of the last few thousand prefetched pages.
#[derive(Debug, Default)]
struct Gate {
    prefetched: u64,
    used: u64,
    misses: u64,
}

impl Gate {
    /// Whether the next miss fetches ahead.
    fn opens(&mut self, costs: &Costs) -> bool {
        self.misses += 1;
        let page_ns =
            u128::from(PAGE_BYTES) * 1_000_000_000 / u128::from(costs.bytes_per_second.max(1));
        let saved = u128::from(self.used) * (u128::from(costs.request_ns) + page_ns);
        let pays = saved >= u128::from(self.prefetched) * page_ns;
        pays || self.prefetched < TRIAL_PAGES || self.misses.is_multiple_of(PROBE)
    }

    fn prefetched(&mut self, pages: u64) {
        self.prefetched += pages;
        if self.prefetched >= MEMORY_PAGES {
            (self.prefetched, self.used) = (self.prefetched / 2, self.used / 2);
        }
    }
}

impl Readahead for Fixed {
    fn open(&mut self, _file: Handle) {}

    fn close(&mut self, _file: Handle) {}

    fn on_page(&mut self, read: Read, page: PageNo, why: Trigger, ahead: &mut dyn Ahead) {
        if why == Trigger::Marker {
            return;
        }
        let asked = (read.offset + read.bytes).div_ceil(PAGE_BYTES).saturating_sub(page).max(1);
        let max = u64::from(self.options.max_pages.min(ahead.budget_pages()));
        let open = self.gate.as_mut().is_none_or(|gate| gate.opens(&ahead.costs()));
        let more = if open { AHEAD_PAGES.min(max.saturating_sub(asked)) } else { 0 };
        let pages = u32::try_from(asked + more).unwrap_or(u32::MAX);
        let started = ahead.submit(Window { first: page, pages, marker: None });
        if let Some(gate) = &mut self.gate {
            gate.prefetched(u64::from(started).saturating_sub(asked).min(more));
        }
    }

    fn on_fate(&mut self, _file: Handle, _page: PageNo, fate: Fate) {
        if let Some(gate) = self.gate.as_mut().filter(|_| fate != Fate::Wasted) {
            gate.used += 1;
        }
    }
}
