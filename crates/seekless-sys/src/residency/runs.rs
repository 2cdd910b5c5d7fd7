//! Which ranges of a file are in the page cache: cachestat(2) over the whole file first, then by
//! windows; only the mixed ones are halved. Halving from the whole file on would scan it again at
//! every level.

use super::cachestat::{Pages, cachestat, is_refusal};
use super::count::{count, mincore_is_honest};
use super::mincore::{self, resident_pages};
use super::told::Told;
use crate::memory::page_bytes;
use std::io;
use std::ops::Range;
use std::os::fd::BorrowedFd;

/// The size of window at which halving starts.
const WINDOW_BYTES: u64 = 256 << 10;
/// The number of windows in which a range is asked about first. Only mixed ones are then asked
/// about by [`WINDOW_BYTES`].
const WINDOWS_MAX: u64 = 4096;

/// A maximal range whose pages are all in the page cache, or all not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRun {
    /// Which bytes, whole pages but for the ends asked for.
    pub range: Range<u64>,
    /// Whether they are in the page cache.
    pub resident: bool,
    /// Whether every page is in that state. Otherwise most of them are, because the grain was
    /// reached.
    pub exact: bool,
}

/// Which parts of `range` are in the page cache, in order and without gaps; `None` if the kernel
/// does not say. Mixed windows are halved down to `grain` bytes (at least a page). Below that the
/// majority of pages decides. Nothing is read.
///
/// # Errors
/// The descriptor is of something without pages.
pub fn runs(
    file: BorrowedFd<'_>,
    range: Range<u64>,
    grain: u64,
) -> io::Result<Option<Vec<PageRun>>> {
    if range.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let grain = grain.max(page_bytes());
    let count = match Told::of(file)? {
        Told::Mapping | Told::Nobody => return by_mincore(file, range, grain),
        Told::Count => cachestat,
        Told::CountUnlessEmpty => count,
    };
    let mut asked = Asked { file, count, grain, end: range.end, runs: Vec::new() };
    match asked.coarse(range.clone()) {
        Ok(()) => Ok(Some(asked.runs)),
        Err(error) if is_refusal(&error) => by_mincore(file, range, grain),
        Err(error) => Err(error),
    }
}

/// How the pages of a range are counted.
type Count = fn(BorrowedFd<'_>, u64, u64) -> io::Result<Pages>;

struct Asked<'a> {
    file: BorrowedFd<'a>,
    count: Count,
    grain: u64,
    end: u64,
    runs: Vec<PageRun>,
}

impl Asked<'_> {
    /// Asks about the whole range, then by windows large enough to be few.
    fn coarse(&mut self, range: Range<u64>) -> io::Result<()> {
        let step = ((range.end - range.start) / WINDOWS_MAX).next_power_of_two().max(WINDOW_BYTES);
        self.split(range, step, &mut |asked, window| {
            asked.split(window, WINDOW_BYTES, &mut |asked, window| asked.halve(window))
        })
    }

    /// Asks about the range as one. If it is mixed, hands its aligned parts of `step` bytes to
    /// `next`, or the range itself if it is one part.
    fn split(
        &mut self,
        range: Range<u64>,
        step: u64,
        next: &mut dyn FnMut(&mut Self, Range<u64>) -> io::Result<()>,
    ) -> io::Result<()> {
        if range.end - range.start <= step {
            return next(self, range);
        }
        if self.settled(&range)? {
            return Ok(());
        }
        let mut start = range.start;
        while start < range.end {
            let end = ((start / step + 1) * step).min(range.end);
            next(self, start..end)?;
            start = end;
        }
        Ok(())
    }

    fn halve(&mut self, range: Range<u64>) -> io::Result<()> {
        let pages = (self.count)(self.file, range.start, range.end - range.start)?;
        let all = pages_of(&range);
        if pages.cached == 0 || pages.cached >= all {
            self.push(range, pages.cached > 0, true);
            return Ok(());
        }
        if range.end - range.start <= self.grain {
            self.push(range, 2 * pages.cached > all, false);
            return Ok(());
        }
        let page = page_bytes();
        let middle = (range.start / page + all / 2) * page;
        self.halve(range.start..middle)?;
        self.halve(middle..range.end)
    }

    /// Whether the range is all in one state, which is then noted.
    fn settled(&mut self, range: &Range<u64>) -> io::Result<bool> {
        let Pages { cached, .. } = (self.count)(self.file, range.start, range.end - range.start)?;
        let one_kind = cached == 0 || cached >= pages_of(range);
        if one_kind {
            self.push(range.clone(), cached > 0, true);
        }
        Ok(one_kind)
    }

    fn push(&mut self, range: Range<u64>, resident: bool, exact: bool) {
        push(
            &mut self.runs,
            PageRun { range: range.start..range.end.min(self.end), resident, exact },
        );
    }
}

fn pages_of(range: &Range<u64>) -> u64 {
    let page = page_bytes();
    range.end.div_ceil(page) - range.start / page
}

/// Appends a run. It becomes one with its neighbour if they are alike.
pub(super) fn push(runs: &mut Vec<PageRun>, run: PageRun) {
    match runs.last_mut() {
        Some(last) if last.resident == run.resident && last.exact == run.exact => {
            last.range.end = run.range.end;
        }
        _ => runs.push(run),
    }
}

fn by_mincore(
    file: BorrowedFd<'_>,
    range: Range<u64>,
    grain: u64,
) -> io::Result<Option<Vec<PageRun>>> {
    if !mincore_is_honest(file)? {
        return Ok(None);
    }
    // Whole grains, so that cachestat and mincore judge the same stretches of mixed pages.
    let page = page_bytes();
    let grain = grain / page * page;
    let mut runs = Vec::new();
    let mut start = range.start / grain * grain;
    while start < range.end {
        let length = mincore::WINDOW_BYTES.next_multiple_of(grain).min(range.end - start);
        let Some(states) = resident_pages(file, start, length)? else { return Ok(None) };
        for states in states.chunks((grain / page) as usize) {
            let end = start + states.len() as u64 * page;
            let cut = start.max(range.start)..end.min(range.end);
            if !cut.is_empty() {
                push(&mut runs, judged(states, cut));
            }
            start = end;
        }
    }
    Ok(Some(runs))
}

/// The run of these pages: the majority decides.
fn judged(states: &[u8], range: Range<u64>) -> PageRun {
    let resident = states.iter().filter(|state| *state & 1 == 1).count();
    let exact = resident == 0 || resident == states.len();
    PageRun { range, resident: 2 * resident > states.len(), exact }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write;
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileExt;

    /// A file with only the named pages cached; `None` where that cannot be arranged.
    fn with_pages(pages: u64, cached: impl Fn(u64) -> bool) -> Option<File> {
        let mut file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        file.write_all(&vec![1; (pages * page_bytes()) as usize]).unwrap();
        file.sync_data().unwrap();
        crate::residency::drop_cached(file.as_fd()).unwrap();
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random).unwrap();
        if count(file.as_fd(), 0, 0).map_or(1, |pages| pages.cached) > 0 {
            eprintln!("skipped: no cachestat, or the file stays in the page cache");
            return None;
        }
        for page in (0..pages).filter(|&page| cached(page)) {
            file.read_at(&mut [0], page * page_bytes()).unwrap();
        }
        Some(file)
    }

    #[test]
    fn pages_are_told_apart_one_by_one() {
        let wanted = |page: u64| page % 7 == 3 || (100..300).contains(&page);
        let Some(file) = with_pages(700, wanted) else { return };
        let (page, end) = (page_bytes(), 700 * page_bytes() - 5);
        let runs = runs(file.as_fd(), 0..end, page).unwrap().unwrap();
        assert_eq!(runs.iter().map(|run| run.range.start).next(), Some(0));
        assert_eq!(runs.last().unwrap().range.end, end);
        for run in &runs {
            assert!(run.exact);
            let pages = run.range.start / page..run.range.end.div_ceil(page);
            assert!(pages.clone().all(|page| wanted(page) == run.resident), "{run:?}");
        }
        assert!(runs.windows(2).all(|pair| pair[0].range.end == pair[1].range.start));
        let by_mincore = by_mincore(file.as_fd(), 0..end, page).unwrap().unwrap();
        assert_eq!(runs, by_mincore);
    }

    #[test]
    fn a_coarse_grain_says_that_it_is() {
        let Some(file) = with_pages(512, |page| page % 3 == 0) else { return };
        let bytes = 512 * page_bytes();
        let runs = runs(file.as_fd(), 0..bytes, 16 * page_bytes()).unwrap().unwrap();
        assert_eq!(runs, [PageRun { range: 0..bytes, resident: false, exact: false }]);
    }

    #[test]
    fn a_large_sparse_file_is_one_run() {
        let file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        file.set_len(1 << 40).unwrap();
        let runs = runs(file.as_fd(), 0..1 << 40, 4096).unwrap();
        assert!(runs.is_none_or(|runs| runs.len() == 1 && !runs[0].resident));
    }
}
