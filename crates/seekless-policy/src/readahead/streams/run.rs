//! Runs: each read begins where the last ended, forward or (in the mirror) backward. A run may
//! have gaps, and is then a sparse stream: what it skips is read too, while that costs less than
//! the requests that it saves.

use super::doubt::Doubt;
use super::file::PROVEN_READS;
use super::limits::Limits;
use super::pace::Pace;
use super::span::Span;
use super::stream::{Pattern, Step, Stream};
use super::stride::Stride;
use crate::readahead::options::PAGE_BYTES;
use crate::readahead::{Lead, PageNo, Window};

/// A read may come late or early by this many reads: several threads that read one stream pass each
/// other. Early only within what is fetched, or when the run has gone on for a while.
const REORDER_READS: u64 = 8;
/// A gap belongs to a sparse run if it is at most this many times the mean gap.
const GAP_TIMES: u64 = 4;
/// A gap moves the mean by one part in this many.
const GAP_SHARE: u64 = 8;

/// The parts of a run are a stride when this many distances between them agree.
const PARTS_AGREEING: usize = 4;

/// Whether a read continues another one: it begins in the last page or the page after it, as in
/// the kernel.
pub(super) fn continues(last: Span, read: Span) -> bool {
    read.end > last.end && read.start >= last.start && read.first_page() <= last.last_page() + 1
}

/// What a read is to a run.
pub(super) fn step(run: &Stream, read: Span) -> Option<Step> {
    let last = run.last;
    if continues(last, read) {
        return Some(Step::Next { gap_bytes: read.start.saturating_sub(last.end) });
    }
    let reorder = REORDER_READS.saturating_mul(read.bytes().max(last.bytes()));
    if read.end <= last.end {
        return (read.start.saturating_add(reorder) >= last.start).then_some(Step::Within);
    }
    let gap_bytes = read.start.checked_sub(last.end)?;
    let is_early =
        gap_bytes <= reorder && (read.first_page() < run.front || run.chain >= PROVEN_READS);
    (is_early || gap_bytes <= GAP_TIMES.saturating_mul(run.gap_bytes))
        .then_some(Step::Next { gap_bytes })
}

/// Whether a read behind a gap is so near to a run by accident.
pub(super) fn is_next_by_chance(run: &Stream, gap_bytes: u64, doubt: Doubt) -> bool {
    run.pattern == Pattern::Run && doubt.is_near_by_chance(gap_bytes)
}

/// Moves a run on to a read that is its next.
pub(super) fn advance(run: &mut Stream, read: Span, gap_bytes: u64) {
    if gap_bytes >= PAGE_BYTES {
        begin_part(run, read.start);
    }
    run.gap_bytes = run.gap_bytes - run.gap_bytes / GAP_SHARE + gap_bytes / GAP_SHARE;
    run.last = read;
}

/// The run goes on behind a gap.
fn begin_part(run: &mut Stream, start: u64) {
    run.deltas.push(start.wrapping_sub(run.run_start) as i64);
    run.part_bytes = run.run_bytes();
    run.run_start = start;
}

/// Moves a run to a place behind a gap, where adjoining reads from `start` on were seen; `last` is
/// the last of them. `usual` is how many pages a run usually has. What was fetched stays fetched:
/// only if that ends before the place, a new window begins.
pub(super) fn jump(run: &mut Stream, start: u64, last: Span, usual: Option<u64>) {
    begin_part(run, start);
    run.last = last;
    run.stop = usual.map_or(PageNo::MAX, |pages| start / PAGE_BYTES + pages);
    if run.front <= last.first_page() {
        run.front = last.first_page();
        run.pace = Pace::start(usual.unwrap_or(run.pace.window()));
        run.windows = 0;
    }
}

/// Moves a run that has just jumped on to a read behind a second gap: it is a sparse run.
pub(super) fn jump_again(run: &mut Stream, first_gap_bytes: u64, read: Span) {
    let gap_bytes = read.start.saturating_sub(run.last.end);
    run.gap_bytes = run.gap_bytes.max(first_gap_bytes.midpoint(gap_bytes));
    begin_part(run, read.start);
    run.last = read;
    run.stop = PageNo::MAX;
}

/// The stride that the parts of a run keep, if it is better to fetch part by part.
pub(super) fn stride(run: &Stream, limits: &Limits) -> Option<Stride> {
    let delta = run.deltas.majority(PARTS_AGREEING).filter(|&delta| delta > 0)?.unsigned_abs();
    let element = run.part_bytes.max(run.run_bytes()).min(delta);
    let stride = Stride { delta, element };
    stride.read_through(limits).is_none().then_some(stride)
}

/// What is read now: the first page, and the page after the last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Demand {
    pub(super) first: PageNo,
    pub(super) end: PageNo,
}

/// The window to fetch now, as the stream sees the file. `end` is the page after the file.
pub(super) fn plan(
    run: &mut Stream,
    demand: Demand,
    end: PageNo,
    limits: &Limits,
) -> Option<Window> {
    if limits.window == 0 || !limits.bridges_unknown(run.gap_bytes) {
        return None;
    }
    if demand.end > run.stop {
        run.stop = PageNo::MAX;
    }
    next_window(run, demand, end.min(run.stop), limits)
}

/// How many pages between the front and what is read now are worth fetching with it: other threads
/// may be about to read them, or the run is sparse.
fn hole(front: PageNo, demand: Demand, needed: PageNo, limits: &Limits) -> u64 {
    let pages = demand.first - front;
    let is_small = pages <= limits.gap.max(REORDER_READS * (demand.end - demand.first));
    if is_small && needed - front <= limits.window { pages } else { 0 }
}

/// The window from the front on, if the reader is near enough to the front. It covers what is read
/// now, if that is missing; a read that is longer than a window is fetched in windows.
pub(super) fn next_window(
    run: &mut Stream,
    demand: Demand,
    stop: PageNo,
    limits: &Limits,
) -> Option<Window> {
    let needed = demand.end.min(demand.first.saturating_add(limits.window));
    let is_overrun = run.front < demand.first;
    let first =
        if is_overrun { demand.first - hole(run.front, demand, needed, limits) } else { run.front };
    let missing = needed.saturating_sub(first);
    let left = first.saturating_sub(needed);
    if first >= stop || (missing == 0 && left > run.pace.lead(limits)) {
        return None;
    }
    if missing == 0 && limits.lead == Lead::Off {
        return None;
    }
    if run.windows > 0 && (is_overrun || missing > 0) {
        run.pace.caught_up();
    }
    let size = run.pace.next(limits.window, limits.worth, limits.gap);
    let pages = size.max(2 * missing).min(limits.window.max(missing)).min(stop - first);
    run.front = first + pages;
    run.windows = run.windows.saturating_add(1);
    let lead = run.pace.lead(limits).min(pages);
    // The pages that are read now are passed in a moment, unless more windows are read at once.
    let is_in_read = missing > 0 && needed == demand.end;
    let marker = if is_in_read { (run.front - lead).max(needed) } else { run.front - lead };
    let marker = (lead > 0 && marker < run.front && run.front < stop).then_some(marker);
    Some(Window { first, pages: pages as u32, marker })
}
