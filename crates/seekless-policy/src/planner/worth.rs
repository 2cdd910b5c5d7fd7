//! Learns how far around a demand it is worth reading, from what became of what was read.
//!
//! The window around a demanded entry has two sides, and each is cut into [`BANDS`] by distance,
//! each half as wide as the next one out. Each band has an account: bytes that were read ahead in
//! it, and bytes and entries of these that were requested later. Each of these entries saved a
//! request, all other bytes were wasted. On each side as much is read as loses the device no time,
//! all bands together.
//!
//! A band that is left out is watched all the same. Each window is followed at its full width, as
//! if it had been read, until [`FOLLOWED`] more windows have begun. What is requested meanwhile and
//! lies in a band that was left out counts as used, and so the window grows again.

use crate::id::Id;
use crate::layout::extents::Extent;
use crate::planner::ahead::sides;
use std::ops::Range;

/// Bands of a side: beyond a half of its width, a quarter, an eighth, and within that.
const BANDS: usize = 4;

/// A window reads before the demanded entry and after it.
const SIDES: usize = 2;

/// Windows that are followed. A read that was not used by then counts as wasted, until it is used
/// after all.
const FOLLOWED: usize = 8;

/// Windows that must have been followed, and entries that these must have read ahead on a side,
/// before its width is judged.
const WINDOWS_MIN: u64 = 4;
const ENTRIES_MIN: u64 = 12;

/// After this many windows all accounts are halved, so that the last ones count most.
const WINDOWS_MAX: u64 = 64;

/// For each entry, which window read it ahead, or would have, and in which band; 0 if none did.
type Mark = u8;

/// The place of windows that are followed no longer.
const CLOSED: usize = FOLLOWED;

/// What was read ahead in some bands, and what of it was used.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    bytes: u64,
    entries: u64,
    used_bytes: u64,
    used_entries: u64,
}

/// The widest window around a demanded entry.
pub(super) struct Window<'a> {
    /// All entries of the archive.
    pub(super) entries: &'a [Extent],
    /// The demanded one.
    pub(super) index: usize,
    /// The entries of the window, by number.
    pub(super) span: Range<usize>,
    /// Its bytes before and after the entry together, at most.
    pub(super) around_bytes: u64,
}

/// A window that is followed, and what came of it so far.
#[derive(Clone, Debug, Default)]
struct Followed {
    span: Range<usize>,
    bands: [Account; SIDES * BANDS],
}

/// The accounts of an archive's reads.
///
/// - **Cost per request:** O(1); a window costs O(its entries) when it begins and when it ends.
/// - **Memory:** a byte an entry of the archive.
#[derive(Clone, Debug)]
pub(super) struct Worth {
    marks: Vec<Mark>,
    windows: [Followed; FOLLOWED],
    /// The place of the next window.
    next: usize,
    accounts: [Account; SIDES * BANDS],
    /// Windows in the accounts.
    closed: u64,
    /// How many of the outermost bands of each side are left out.
    left_out: [usize; SIDES],
}

impl Worth {
    /// Nothing is known yet, so windows are read whole.
    pub(super) fn new(entries: u32) -> Self {
        Self {
            marks: vec![0; entries as usize],
            windows: Default::default(),
            next: 0,
            accounts: [Account::default(); SIDES * BANDS],
            closed: 0,
            left_out: [0; SIDES],
        }
    }

    /// How much of `around_bytes` is worth reading before and after an entry: of each side all, a
    /// half, a quarter, an eighth or nothing.
    pub(super) fn of(&self, around_bytes: u64) -> (u64, u64) {
        let worth = |bytes: u64, side: usize| match self.left_out[side] {
            BANDS => 0,
            bands => bytes >> bands,
        };
        let (before, after) = sides(around_bytes);
        (worth(before, 0), worth(after, 1))
    }

    /// Whether `id` lies in a window that is followed, or in a read, and was not requested since.
    pub(super) fn expects(&self, id: Id) -> bool {
        self.marks[id as usize] != 0
    }

    /// Entry `id` of `bytes` bytes was requested.
    pub(super) fn requested(&mut self, id: Id, bytes: u64) {
        let mark = std::mem::take(&mut self.marks[id as usize]);
        let Some((place, band)) = unpack(mark) else { return };
        let account = match place {
            CLOSED => &mut self.accounts[band],
            place => &mut self.windows[place].bands[band],
        };
        account.used_bytes += bytes;
        account.used_entries += 1;
    }

    /// Entry `id` was thrown away before it was requested.
    pub(super) fn wasted(&mut self, id: Id) {
        self.marks[id as usize] = 0;
    }

    /// A demand begins a window. A request costs the device as much as reading `request_bytes`.
    /// `needed` says which entries would come with it, `kept` which ones of earlier windows are in
    /// memory.
    pub(super) fn begin(
        &mut self,
        window: &Window<'_>,
        request_bytes: u64,
        needed: impl Fn(usize) -> bool,
        kept: impl Fn(Id) -> bool,
    ) {
        let place = self.next;
        self.next = (place + 1) % FOLLOWED;
        self.close(place, kept);
        self.judge(request_bytes);
        let Window { entries, index, ref span, around_bytes } = *window;
        let mut bands = [Account::default(); SIDES * BANDS];
        for number in span.clone() {
            if number == index || self.marks[number] != 0 || !needed(number) {
                continue;
            }
            let band = band(entries[index], entries[number], around_bytes);
            bands[band].bytes += entries[number].bytes;
            bands[band].entries += 1;
            self.marks[number] = pack(place, band);
        }
        self.windows[place] = Followed { span: span.clone(), bands };
    }

    /// Moves what a window came to into the accounts.
    fn close(&mut self, place: usize, kept: impl Fn(Id) -> bool) {
        let Followed { span, bands } = std::mem::take(&mut self.windows[place]);
        self.closed += u64::from(!span.is_empty());
        for (account, band) in self.accounts.iter_mut().zip(bands) {
            account.add(&band);
        }
        for number in span {
            let mark = &mut self.marks[number];
            if let Some((of, band)) = unpack(*mark)
                && of == place
            {
                *mark = if kept(number as Id) { pack(CLOSED, band) } else { 0 };
            }
        }
    }

    /// Decides which of the outermost bands are left out.
    fn judge(&mut self, request_bytes: u64) {
        if self.closed < WINDOWS_MIN {
            return;
        }
        for side in 0..SIDES {
            let pays = |&bands: &usize| self.pays(side, bands, request_bytes);
            self.left_out[side] = (0..BANDS).find(pays).unwrap_or(BANDS);
        }
        if self.closed >= WINDOWS_MAX {
            self.accounts.iter_mut().for_each(Account::halve);
            self.closed /= 2;
        }
    }

    /// Whether it pays to read a side without its `bands` outermost bands. A side that brought too
    /// little to be judged, since the other had it already, is judged together with the other. What
    /// is still unclear stays as it is.
    fn pays(&self, side: usize, bands: usize, request_bytes: u64) -> bool {
        let is_too_wide = bands < self.left_out[side];
        let mut ahead = self.sum(side, bands);
        if ahead.entries < ENTRIES_MIN {
            ahead.add(&self.sum(1 - side, bands));
        }
        match ahead.entries < ENTRIES_MIN {
            true => !is_too_wide,
            false => ahead.pays(request_bytes, is_too_wide),
        }
    }

    /// The accounts of a side without its `bands` outermost bands.
    fn sum(&self, side: usize, bands: usize) -> Account {
        let mut sum = Account::default();
        let (first, end) = (side * BANDS + bands, (side + 1) * BANDS);
        self.accounts[first..end].iter().for_each(|band| sum.add(band));
        sum
    }
}

impl Account {
    fn add(&mut self, other: &Account) {
        self.bytes += other.bytes;
        self.entries += other.entries;
        self.used_bytes += other.used_bytes;
        self.used_entries += other.used_entries;
    }

    /// Whether reading this ahead takes less of the device's time than requests for what of it was
    /// used. `is_too_wide` says that so far it did not: then it must save twice what it costs.
    fn pays(&self, request_bytes: u64, is_too_wide: bool) -> bool {
        let wasted_bytes = self.bytes.saturating_sub(self.used_bytes);
        let saved_bytes = u128::from(self.used_entries) * u128::from(request_bytes);
        saved_bytes >= u128::from(wasted_bytes) * (1 + u128::from(is_too_wide))
    }

    fn halve(&mut self) {
        self.bytes /= 2;
        self.entries /= 2;
        self.used_bytes /= 2;
        self.used_entries /= 2;
    }
}

/// The band of `entry` in the window around `demanded`: first those before it, then those after,
/// each side from the outermost.
fn band(demanded: Extent, entry: Extent, around_bytes: u64) -> usize {
    let (before, after) = sides(around_bytes);
    let (distance, width, side) = match entry.offset >= demanded.offset {
        true => (entry.end().saturating_sub(demanded.end()), after, 1),
        false => (demanded.offset - entry.offset, before, 0),
    };
    let band = (1..BANDS).find(|&band| distance > width >> band).map_or(BANDS - 1, |band| band - 1);
    side * BANDS + band
}

fn pack(place: usize, band: usize) -> Mark {
    (1 + place * SIDES * BANDS + band) as Mark
}

fn unpack(mark: Mark) -> Option<(usize, usize)> {
    let number = usize::from(mark).checked_sub(1)?;
    Some((number / (SIDES * BANDS), number % (SIDES * BANDS)))
}

const _: () = assert!((CLOSED + 1) * SIDES * BANDS <= Mark::MAX as usize);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_is_half_as_wide_as_the_next_one_out() {
        let at = |offset| Extent { offset, bytes: 10 };
        // 400 bytes after the entry and 200 before it.
        let bands = |offsets: [u64; 5]| offsets.map(|offset| band(at(1000), at(offset), 600));
        assert_eq!(bands([1010, 1050, 1100, 1200, 1400]), [7, 7, 6, 5, 4]);
        assert_eq!(bands([990, 975, 950, 900, 800]), [3, 3, 2, 1, 0]);
    }

    #[test]
    fn a_mark_keeps_window_and_band() {
        for place in 0..=CLOSED {
            for band in 0..SIDES * BANDS {
                assert_eq!(unpack(pack(place, band)), Some((place, band)));
            }
        }
        assert_eq!(unpack(0), None);
    }

    #[test]
    fn a_dear_request_is_worth_more_waste() {
        let account = Account { bytes: 500_000, entries: 100, used_bytes: 50_000, used_entries: 5 };
        assert!(!account.pays(80_000, false), "5 requests saved are 400 KB, 450 KB were wasted");
        assert!(account.pays(90_000, false));
        assert!(!account.pays(90_000, true), "it did not pay so far");
        assert!(account.pays(180_000, true));
    }
}
