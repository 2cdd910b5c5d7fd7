//! Which granules of a region are handed out, and which of its pages have memory.

use super::{Ask, GRANULE_BYTES, PAGE_BYTES, Placement, RegionBytes};
use std::ops::Range;

const PAGE_GRANULES: usize = PAGE_BYTES / GRANULE_BYTES;

const _: () = assert!(PAGE_GRANULES == u64::BITS as usize);

/// The table of claims.
pub(super) struct Claims {
    placement: Box<dyn Placement>,
    /// For each page, a bit for each of its granules that is handed out.
    pages: Vec<u64>,
    /// A bit for each page that was touched and not given back since.
    touched: Vec<u64>,
    touched_pages: usize,
    /// Pages with a granule that is handed out. They are touched, or will be by their owner.
    used_pages: usize,
    asked_bytes: u64,
}

impl Claims {
    /// No page of `pages` is handed out yet. The tables are zero, so the system gives them memory
    /// only where they are written.
    pub(super) fn new(pages: usize, placement: Box<dyn Placement>) -> Self {
        let touched = vec![0; pages.div_ceil(64)];
        let pages = vec![0; pages];
        Self { placement, pages, touched, touched_pages: 0, used_pages: 0, asked_bytes: 0 }
    }

    pub(super) fn bytes(&self) -> RegionBytes {
        let resident = (self.touched_pages * PAGE_BYTES) as u64;
        RegionBytes { asked: self.asked_bytes, resident }
    }

    /// Pages that have memory and that nothing uses.
    pub(super) fn idle_pages(&self) -> usize {
        self.touched_pages - self.used_pages
    }

    /// Hands out a part of `claimed` bytes: its offset.
    pub(super) fn take(&mut self, ask: &Ask, claimed: usize) -> Option<usize> {
        let offset = self.placement.place(ask)?;
        let end = offset.checked_add(claimed).expect("a place within the region");
        assert!(
            offset.is_multiple_of(GRANULE_BYTES)
                && offset.is_multiple_of(ask.alignment)
                && end <= self.pages.len() * PAGE_BYTES,
            "no place for {ask:?}: {offset}"
        );
        assert!(
            words(offset..end).all(|(page, bits)| self.pages[page] & bits == 0),
            "handed out twice: {offset} to {end}"
        );
        for (page, bits) in words(offset..end) {
            if self.pages[page] == 0 {
                self.used_pages += 1;
                self.touch(page);
            }
            self.pages[page] |= bits;
        }
        self.asked_bytes += ask.bytes as u64;
        Some(offset)
    }

    fn touch(&mut self, page: usize) {
        let (word, bit) = (&mut self.touched[page / 64], 1 << (page % 64));
        self.touched_pages += usize::from(*word & bit == 0);
        *word |= bit;
    }

    /// Takes back what was handed out, or a part of it.
    pub(super) fn free(&mut self, part: Range<usize>, len: usize) {
        for (page, bits) in words(part.clone()) {
            debug_assert_eq!(self.pages[page] & bits, bits, "given back twice");
            self.pages[page] &= !bits;
            self.used_pages -= usize::from(self.pages[page] == 0);
        }
        self.asked_bytes -= len as u64;
        self.placement.free(part.start, part.len());
    }

    /// A buffer was asked to hold `to` bytes instead of `from`.
    pub(super) fn asked(&mut self, from: usize, to: usize) {
        self.asked_bytes = self.asked_bytes + to as u64 - from as u64;
    }

    /// Calls `give` with each run of pages that have memory and that nothing uses. They have none
    /// where it returns true.
    pub(super) fn give_back(&mut self, mut give: impl FnMut(Range<usize>) -> bool) {
        let mut run: Option<Range<usize>> = None;
        for word in 0..self.touched.len() {
            let mut bits = self.touched[word];
            while bits != 0 {
                let page = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if self.pages[page] != 0 {
                    continue;
                }
                match &mut run {
                    Some(run) if run.end == page => run.end += 1,
                    _ => {
                        self.give_run(run.replace(page..page + 1), &mut give);
                    }
                }
            }
        }
        self.give_run(run, &mut give);
    }

    fn give_run(&mut self, run: Option<Range<usize>>, give: &mut impl FnMut(Range<usize>) -> bool) {
        if let Some(run) = run
            && give(run.clone())
        {
            self.touched_pages -= run.len();
            run.for_each(|page| self.touched[page / 64] &= !(1 << (page % 64)));
        }
    }
}

/// The pages of a part in bytes, and the bits of its granules in each.
fn words(part: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
    let (first, end) = (part.start / GRANULE_BYTES, part.end / GRANULE_BYTES);
    (first / PAGE_GRANULES..end.div_ceil(PAGE_GRANULES)).map(move |page| {
        let from = first.max(page * PAGE_GRANULES) - page * PAGE_GRANULES;
        let to = end.min((page + 1) * PAGE_GRANULES) - page * PAGE_GRANULES;
        let below = |bit: usize| if bit == PAGE_GRANULES { u64::MAX } else { (1 << bit) - 1 };
        (page, below(to) & !below(from))
    })
}
