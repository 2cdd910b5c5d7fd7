//! What the end of a read brings.

use super::Start;
use super::kept_reads::{Found, Slot};
use crate::id::Id;

/// What a read that has ended brought, and what the owner must do. Its lists are used again.
#[derive(Clone, Debug, Default)]
pub struct Ended {
    /// What older reads keep no longer: this read has it too, or nothing expects it and its room
    /// was needed.
    pub freed: Vec<Found>,
    /// Slots whose bytes are kept no longer, after `freed`.
    pub dropped: Vec<Slot>,
    /// Where bytes of this read are kept ([`pieces`](super::Planner::pieces)), after those of
    /// `dropped` have gone; `None` if none are.
    pub kept: Option<Slot>,
    /// Entries to hand out, which the read holds.
    pub arrived: Vec<Id>,
    /// Entries that were read alone, and that the read does not hold: they cannot be read.
    pub lost: Vec<Id>,
    /// Reads to be submitted now.
    pub starts: Vec<Start>,
    pub(super) unused: Vec<Id>,
}

impl Ended {
    pub(super) fn clear(&mut self) {
        let Self { freed, dropped, kept, arrived, lost, starts, unused } = self;
        *kept = None;
        freed.clear();
        dropped.clear();
        starts.clear();
        [arrived, lost, unused].into_iter().for_each(Vec::clear);
    }
}
