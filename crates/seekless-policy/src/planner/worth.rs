//! Learns how far around a demand it is worth reading, from what became of what was read.
//!
//! The window around a demanded entry is cut into [`BANDS`] by distance, each half as wide as the
//! next one out. Each band has an account: bytes that were read ahead in it, and bytes of these that
//! were requested later. The outermost bands that waste more than they save are left out of the
//! next windows.
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

/// Windows that are followed. A read of which nothing was used by then counts as wasted, until it is
/// used after all.
const FOLLOWED: usize = 16;

/// Entries that a band must have read ahead before it is judged. At twice as many its account is
/// halved, so that the last reads count most.
const ENTRIES_MIN: u64 = 32;

/// A band of which a smaller share was used is left out, unless its requests are dear enough.
const USED_PERCENT_MIN: u64 = 30;

/// A band that was left out comes back if at least this share would have been used.
const USED_PERCENT_BACK: u64 = 40;

/// Names of entries that were read ahead, or would have been: none, or a band and the place of its
/// window.
type Mark = u8;

/// The place of windows that are followed no longer.
const CLOSED: usize = FOLLOWED;

/// What was read ahead in one band, and what of it was used.
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
    bands: [Account; BANDS],
}

/// The accounts of an archive's reads.
///
/// - **Cost per request:** O(1); a window costs O(its entries) when it begins and when it is closed.
/// - **Memory:** a byte an entry of the archive.
#[derive(Clone, Debug)]
pub(super) struct Worth {
    marks: Vec<Mark>,
    windows: [Followed; FOLLOWED],
    /// The place of the next window.
    next: usize,
    accounts: [Account; BANDS],
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
        self.windows[place] = Followed { span: span.clone(), bands };
    }

    /// Moves what a window came to into the accounts.
    fn close(&mut self, place: usize, kept: impl Fn(Id) -> bool) {
        let Followed { span, bands } = std::mem::take(&mut self.windows[place]);
        for (account, band) in self.accounts.iter_mut().zip(bands) {
            account.bytes += band.bytes;
            account.entries += band.entries;
            account.used_bytes += band.used_bytes;
            account.used_entries += band.used_entries;
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

    /// Decides which bands are left out, from the outermost inwards.
    fn judge(&mut self, costs: &Costs) {
        let before = self.left_out;
        self.left_out = (0..BANDS)
            .find(|&band| self.accounts[band].pays(costs, band < before))
            .unwrap_or(BANDS);
        for account in &mut self.accounts {
            if account.entries >= 2 * ENTRIES_MIN {
                account.halve();
            }
        }
    }
}

impl Account {
    /// Whether it pays to read this band. What is unclear stays as it is.
    fn pays(&self, costs: &Costs, is_left_out: bool) -> bool {
        if self.entries < ENTRIES_MIN {
            return !is_left_out;
        }
        let percent = if is_left_out { USED_PERCENT_BACK } else { USED_PERCENT_MIN };
        let wasted_bytes = self.bytes.saturating_sub(self.used_bytes);
        // What is used saves a request. All requests at a time share the bandwidth, but a device
        // that serves many at once makes each one wait only for itself.
        let saved_bytes = u128::from(self.used_entries) * u128::from(costs.gap_bytes())
            / u128::from(costs.depth.max(1));
        self.used_bytes.saturating_mul(100) >= self.bytes.saturating_mul(percent)
            || saved_bytes >= u128::from(wasted_bytes) * (1 + u128::from(is_left_out))
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
        let account = Account { bytes: 500_000, entries: 50, used_bytes: 50_000, used_entries: 5 };
        let pays = |request_ns, depth| {
            let costs = Costs { request_ns, bytes_per_second: 1_000_000_000, depth };
            account.pays(&costs, false)
        };
        assert!(!pays(80_000, 1), "five requests saved are 400 KB, 450 KB were wasted");
        assert!(pays(100_000, 1));
        assert!(!pays(100_000, 32), "a device that serves many at once");
        assert!(
            Account { used_bytes: 200_000, ..account }
                .pays(&Costs { request_ns: 0, bytes_per_second: 1, depth: 1 }, false)
        );
    }
}
