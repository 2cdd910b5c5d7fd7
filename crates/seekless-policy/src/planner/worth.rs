//! Learns how far around a demand it is worth reading, from what became of what was read.
//!
//! The window around a demanded entry is cut into [`BANDS`] by distance, each half as wide as the
//! next one out. Each band has an account: bytes that were read ahead in it, and bytes of these
//! that were requested later. The widest window is read that does not waste more than it saves, all
//! its bands together.
//!
//! A band that is left out is watched all the same. Each window is followed at its full width, as
//! if it had been read, until [`FOLLOWED`] more windows have begun. What is requested meanwhile and
//! lies in a band that was left out counts as used, and so the window grows again.

use crate::ahead::sides;
use crate::extents::Extent;
use crate::id::Id;
use seekless_device::Costs;
use std::ops::Range;

/// Bands of a window: beyond a half of its width, a quarter, an eighth, and within that.
const BANDS: usize = 4;

/// Windows that are followed. A read of which nothing was used by then counts as wasted, until it
/// is used after all.
const FOLLOWED: usize = 16;

/// Windows that must have been followed, and entries that these must have read ahead, before the
/// width is judged.
const WINDOWS_MIN: u64 = 16;
const ENTRIES_MIN: u64 = 32;

/// After so many windows all accounts are halved, so that the last ones count most.
const WINDOWS_MAX: u64 = 64;

/// If a smaller share of what is read was requested, the window is too wide, unless its requests
/// are dear enough.
///
/// Five starts of 0 A.D., each from an order that was made without it, use more than half of reads
/// of 125 KB, although they use less than a third of what is read ahead.
const USED_PERCENT_MIN: u64 = 50;

/// A window that was too wide is read again if at least this share would have been used.
const USED_PERCENT_BACK: u64 = 60;

/// Names of entries that were read ahead, or would have been: none, or a band and the place of its
/// window.
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
    /// Bytes of the entry that was demanded.
    demanded_bytes: u64,
    bands: [Account; BANDS],
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
    accounts: [Account; BANDS],
    /// Windows in the accounts, and bytes of the entries that were demanded.
    closed: u64,
    demanded_bytes: u64,
    /// How many of the outermost bands are left out.
    left_out: usize,
}

impl Worth {
    /// Nothing is known yet, so windows are read whole.
    pub(super) fn new(entries: u32) -> Self {
        Self {
            marks: vec![0; entries as usize],
            windows: Default::default(),
            next: 0,
            accounts: [Account::default(); BANDS],
            closed: 0,
            demanded_bytes: 0,
            left_out: 0,
        }
    }

    /// How much of `around_bytes` is worth reading: all, a half, a quarter, an eighth or nothing.
    pub(super) fn of(&self, around_bytes: u64) -> u64 {
        match self.left_out {
            BANDS => 0,
            bands => around_bytes >> bands,
        }
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

    /// A demand begins a window. `needed` says which entries would come with it, `kept` which ones
    /// of earlier windows are in memory.
    pub(super) fn begin(
        &mut self,
        window: &Window<'_>,
        costs: &Costs,
        needed: impl Fn(usize) -> bool,
        kept: impl Fn(Id) -> bool,
    ) {
        let place = self.next;
        self.next = (place + 1) % FOLLOWED;
        self.close(place, kept);
        self.judge(costs);
        let Window { entries, index, ref span, around_bytes } = *window;
        let mut bands = [Account::default(); BANDS];
        for number in span.clone() {
            if number == index || self.marks[number] != 0 || !needed(number) {
                continue;
            }
            let band = band(entries[index], entries[number], around_bytes);
            bands[band].bytes += entries[number].bytes;
            bands[band].entries += 1;
            self.marks[number] = pack(place, band);
        }
        let demanded_bytes = entries[index].bytes;
        self.windows[place] = Followed { span: span.clone(), demanded_bytes, bands };
    }

    /// Moves what a window came to into the accounts.
    fn close(&mut self, place: usize, kept: impl Fn(Id) -> bool) {
        let Followed { span, demanded_bytes, bands } = std::mem::take(&mut self.windows[place]);
        self.closed += u64::from(!span.is_empty());
        self.demanded_bytes += demanded_bytes;
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
    fn judge(&mut self, costs: &Costs) {
        if self.closed < WINDOWS_MIN {
            return;
        }
        let pays = |&bands: &usize| self.pays(bands, costs);
        self.left_out = (0..BANDS).find(pays).unwrap_or(BANDS);
        if self.closed >= WINDOWS_MAX {
            self.accounts.iter_mut().for_each(Account::halve);
            self.closed /= 2;
            self.demanded_bytes /= 2;
        }
    }

    /// Whether it pays to read the window without its `bands` outermost bands. What is unclear
    /// stays as it is.
    fn pays(&self, bands: usize, costs: &Costs) -> bool {
        let is_too_wide = bands < self.left_out;
        let mut ahead = Account::default();
        self.accounts[bands..].iter().for_each(|band| ahead.add(band));
        match ahead.entries < ENTRIES_MIN {
            true => !is_too_wide,
            false => ahead.pays(self.demanded_bytes, costs, is_too_wide),
        }
    }
}

impl Account {
    fn add(&mut self, other: &Account) {
        self.bytes += other.bytes;
        self.entries += other.entries;
        self.used_bytes += other.used_bytes;
        self.used_entries += other.used_entries;
    }

    /// Whether reading this ahead pays, together with `demanded_bytes`. `is_too_wide` says that so
    /// far it did not.
    fn pays(&self, demanded_bytes: u64, costs: &Costs, is_too_wide: bool) -> bool {
        let percent = if is_too_wide { USED_PERCENT_BACK } else { USED_PERCENT_MIN };
        let wasted_bytes = self.bytes.saturating_sub(self.used_bytes);
        // What is used saves a request. All requests at a time share the bandwidth, but a device
        // that serves many at once makes each one wait only for itself.
        let saved_bytes = u128::from(self.used_entries) * u128::from(costs.gap_bytes())
            / u128::from(costs.depth.max(1));
        let (used, read) = (demanded_bytes + self.used_bytes, demanded_bytes + self.bytes);
        used.saturating_mul(100) >= read.saturating_mul(percent)
            || saved_bytes >= u128::from(wasted_bytes) * (1 + u128::from(is_too_wide))
    }

    fn halve(&mut self) {
        self.bytes /= 2;
        self.entries /= 2;
        self.used_bytes /= 2;
        self.used_entries /= 2;
    }
}

/// The band of `entry` in the window around `demanded`; 0 is the outermost.
fn band(demanded: Extent, entry: Extent, around_bytes: u64) -> usize {
    let (before, after) = sides(around_bytes);
    let (distance, side) = match entry.offset >= demanded.offset {
        true => (entry.end().saturating_sub(demanded.end()), after),
        false => (demanded.offset - entry.offset, before),
    };
    (1..BANDS).find(|&band| distance > side >> band).map_or(BANDS - 1, |band| band - 1)
}

fn pack(place: usize, band: usize) -> Mark {
    (1 + place * BANDS + band) as Mark
}

fn unpack(mark: Mark) -> Option<(usize, usize)> {
    let number = usize::from(mark).checked_sub(1)?;
    Some((number / BANDS, number % BANDS))
}

const _: () = assert!(1 + CLOSED * BANDS + BANDS - 1 <= Mark::MAX as usize);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_is_half_as_wide_as_the_next_one_out() {
        let at = |offset| Extent { offset, bytes: 10 };
        // 400 bytes after the entry and 200 before it.
        let bands = |offsets: [u64; 5]| offsets.map(|offset| band(at(1000), at(offset), 600));
        assert_eq!(bands([1010, 1050, 1100, 1200, 1400]), [3, 3, 2, 1, 0]);
        assert_eq!(bands([990, 975, 950, 900, 800]), [3, 3, 2, 1, 0]);
    }

    #[test]
    fn a_mark_keeps_window_and_band() {
        for place in 0..=CLOSED {
            for band in 0..BANDS {
                assert_eq!(unpack(pack(place, band)), Some((place, band)));
            }
        }
        assert_eq!(unpack(0), None);
    }

    #[test]
    fn a_dear_request_is_worth_more_waste() {
        let account = Account { bytes: 500_000, entries: 100, used_bytes: 50_000, used_entries: 5 };
        let pays = |demanded_bytes, request_ns, depth| {
            let costs = Costs { request_ns, bytes_per_second: 1_000_000_000, depth };
            account.pays(demanded_bytes, &costs, false)
        };
        assert!(!pays(0, 80_000, 1), "five requests saved are 400 KB, 450 KB were wasted");
        assert!(pays(0, 100_000, 1));
        assert!(!pays(0, 100_000, 32), "a device that serves many at once");
        assert!(!pays(390_000, 0, 1) && pays(400_000, 0, 1), "half of what was read was used");
    }
}
