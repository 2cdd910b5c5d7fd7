//! What a store knows of the device that it reads from, and how it knows it. The live store and the
//! simulated one both ask this.

use crate::{Costs, Estimate, Nanos, Served};

/// A figure of `probe` stands until reads contradict it by this factor.
const CONTRADICTS: u64 = 2;

/// How it is known what a device charges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CostsSource {
    /// The program said so, or a model stands for the device.
    Given,
    /// `seekless probe` has measured it.
    Probed,
    /// The reads of the program show it.
    Estimated,
    /// Nothing is known yet.
    #[default]
    Assumed,
}

/// What a read brought that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brought {
    /// This many bytes, in the time that the device took.
    Bytes(u64),
    /// This many bytes of a large entry, in pieces: each waited until the decoder was done with an
    /// earlier one.
    Pieces(u64),
    /// It failed, or a cache before the device brought it.
    Nothing,
}

/// A read on its way.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    at: Nanos,
    in_flight: u32,
}

/// The costs in force. Unless they were given, each read that ends may revise them.
#[derive(Clone, Debug)]
pub struct Knowledge {
    costs: Costs,
    source: CostsSource,
    estimate: Estimate,
    /// By tag.
    sent: Vec<Sent>,
    in_flight: u32,
}

impl Knowledge {
    /// The device charges `costs`, as `source` says.
    #[must_use]
    pub fn new(costs: Costs, source: CostsSource) -> Self {
        let estimate = Estimate::new(costs);
        Self { costs, source, estimate, sent: Vec::new(), in_flight: 0 }
    }

    /// What the device charges.
    #[must_use]
    pub fn costs(&self) -> Costs {
        self.costs
    }

    /// How that is known.
    #[must_use]
    pub fn source(&self) -> CostsSource {
        self.source
    }

    /// A read is submitted at `now`. Its tag, a small number, may be used again after its end.
    pub fn sent(&mut self, tag: u64, now: Nanos) {
        self.in_flight += 1;
        let tag = tag as usize;
        if tag >= self.sent.len() {
            self.sent.resize(tag + 1, Sent::default());
        }
        self.sent[tag] = Sent { at: now, in_flight: self.in_flight };
    }

    /// A read that was sent has ended. Returns the costs if they have changed.
    pub fn ended(&mut self, tag: u64, brought: Brought, ended: Nanos) -> Option<Costs> {
        let Sent { at: submitted, in_flight } = self.sent[tag as usize];
        self.in_flight -= 1;
        if self.source == CostsSource::Given {
            return None;
        }
        let served = |bytes| Served { bytes, submitted, ended: ended.max(submitted), in_flight };
        let is_new = match brought {
            Brought::Bytes(bytes) => self.estimate.add(served(bytes)),
            Brought::Pieces(bytes) => self.estimate.passed(served(bytes)),
            Brought::Nothing => false,
        };
        if !is_new {
            return None;
        }
        let costs = self.estimate.costs()?;
        if self.source == CostsSource::Probed && !contradicts(costs, self.costs) {
            return None;
        }
        (self.costs, self.source) = (costs, CostsSource::Estimated);
        Some(costs)
    }

    /// A read that was sent has ended, and the reader itself has measured what requests cost.
    /// Returns the costs if they have changed by more than a tenth.
    pub fn ended_with(&mut self, tag: u64, learned: Costs) -> Option<Costs> {
        debug_assert!(self.sent.len() as u64 > tag, "read {tag} was not sent");
        self.in_flight -= 1;
        let stands = match self.source {
            CostsSource::Given => true,
            CostsSource::Probed => !contradicts(learned, self.costs),
            _ => !apart(learned, self.costs),
        };
        if stands {
            return None;
        }
        (self.costs, self.source) = (learned, CostsSource::Estimated);
        Some(learned)
    }
}

/// Whether two figures differ by more than a tenth.
fn apart(one: Costs, other: Costs) -> bool {
    let far = |one: u64, other: u64| one.abs_diff(other) > one.max(other) / 10;
    far(one.request_ns, other.request_ns)
        || far(one.bytes_per_second, other.bytes_per_second)
        || one.depth != other.depth
}

fn contradicts(found: Costs, probed: Costs) -> bool {
    let apart = |one: u64, other: u64| one > other.saturating_mul(CONTRADICTS);
    let (found, probed) = (found.gap_bytes(), probed.gap_bytes());
    apart(found, probed) || apart(probed, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: Costs = Costs { request_ns: 1_000_000, bytes_per_second: 100_000_000, depth: 1 };

    /// Reads of 4 to 128 KiB, a tenth of a second apart, each as long as `costs` says.
    fn read(knowledge: &mut Knowledge, costs: Costs, turns: std::ops::Range<u64>) {
        for turn in turns {
            let (at, bytes) = (turn * 100_000_000, 4096 << (turn % 6));
            let took = costs.request_ns + bytes * 1_000_000_000 / costs.bytes_per_second;
            knowledge.sent(3, at);
            knowledge.ended(3, Brought::Bytes(bytes), at + took);
        }
    }

    #[test]
    fn what_was_told_stands() {
        let mut knowledge = Knowledge::new(Costs::ASSUMED, CostsSource::Given);
        read(&mut knowledge, COSTS, 0..100);
        assert_eq!((knowledge.costs(), knowledge.source()), (Costs::ASSUMED, CostsSource::Given));
    }

    #[test]
    fn what_was_probed_stands_until_it_is_contradicted() {
        let mut knowledge = Knowledge::new(COSTS, CostsSource::Probed);
        read(&mut knowledge, Costs { request_ns: 1_300_000, ..COSTS }, 0..100);
        assert_eq!((knowledge.costs(), knowledge.source()), (COSTS, CostsSource::Probed));
        read(&mut knowledge, Costs { request_ns: 3_000_000, ..COSTS }, 100..200);
        assert_eq!(knowledge.source(), CostsSource::Estimated);
        assert!(knowledge.costs().request_ns.abs_diff(3_000_000) < 10_000);
    }

    #[test]
    fn what_the_reader_has_measured_replaces_all_but_what_was_told() {
        let ended = |source, learned| {
            let mut knowledge = Knowledge::new(COSTS, source);
            knowledge.sent(3, 0);
            (knowledge.ended_with(3, learned), knowledge.source())
        };
        let slower = Costs { request_ns: 3 * COSTS.request_ns, depth: 128, ..COSTS };
        let assumed = CostsSource::Assumed;
        assert_eq!(ended(assumed, slower), (Some(slower), CostsSource::Estimated));
        assert_eq!(ended(CostsSource::Probed, slower).0, Some(slower));
        assert_eq!(ended(CostsSource::Given, slower).0, None);
        let alike = Costs { request_ns: COSTS.request_ns + 1, ..COSTS };
        assert_eq!(ended(assumed, alike), (None, assumed));
    }

    #[test]
    fn what_was_assumed_is_replaced_by_what_reads_show() {
        let mut knowledge = Knowledge::new(Costs::ASSUMED, CostsSource::Assumed);
        read(&mut knowledge, COSTS, 0..7);
        assert_eq!(knowledge.source(), CostsSource::Assumed);
        read(&mut knowledge, COSTS, 7..64);
        assert_eq!(knowledge.source(), CostsSource::Estimated);
        let found = knowledge.costs();
        assert!(found.request_ns.abs_diff(1_000_000) < 10_000, "{found:?}");
        assert!(found.bytes_per_second.abs_diff(100_000_000) < 1_000_000, "{found:?}");
    }
}
