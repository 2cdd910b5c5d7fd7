//! Strides: elements at a constant distance. An element is one read, or adjoining reads.
//!
//! Where a request costs more than the bytes of a gap, the gaps are read too, in large windows.
//! Elsewhere each element is a request of its own, and enough of them are made at once to keep the
//! device busy.

use super::limits::Limits;
use super::run::{self, Demand};
use super::span::Span;
use super::stream::{Step, Stream};
use super::stride::Stride;
use crate::readahead::options::PAGE_BYTES;
use crate::readahead::{Lead, PageNo, Window};
use std::ops::Range;

/// A reader may leave out this many elements, less one.
const SKIPPED_MAX: u64 = 4;
/// Elements submitted by one call.
pub(super) const BATCH_MAX: u64 = 256;
/// Longer gaps are not looked into.
const FILLED_PAGES_MAX: u64 = 32;

/// What a read is to a strided stream.
pub(super) fn step(stream: &Stream, stride: Stride, read: Span) -> Option<Step> {
    let element = Span { start: stream.run_start, end: stream.last.end };
    if read.start >= element.start && read.end <= element.end {
        return Some(Step::Within);
    }
    if adjoins(stream, stride, read) {
        return Some(Step::Next { gap_bytes: 0 });
    }
    let number = stride.number_of(element.start, read)?;
    (number <= SKIPPED_MAX).then_some(Step::Next { gap_bytes: stride.gap_bytes() })
}

/// Whether a read is a further part of the element that is read. What goes on behind the element
/// is not of the stride: it may be a run.
fn adjoins(stream: &Stream, stride: Stride, read: Span) -> bool {
    run::continues(stream.last, read) && read.end <= stream.run_start + stride.element
}

/// Moves a stream on to a read that is its next. Returns its stride, with what the read shows of
/// the size of an element.
pub(super) fn advance(stream: &mut Stream, stride: Stride, read: Span) -> Stride {
    let is_new = !adjoins(stream, stride, read);
    let element = if is_new { stream.run_bytes().max(read.bytes()) } else { stride.element };
    if is_new {
        stream.run_start = read.start;
    }
    stream.last = read;
    Stride { element: element.min(stride.delta), ..stride }
}

/// The first window: two elements, as three were seen.
pub(super) fn first_window(stride: Stride, limits: &Limits) -> u64 {
    stride.read_through(limits).map_or(2, |two| two.max(limits.first()))
}

/// The pages of the gap before the last element but one, if they are few. Where all of them are
/// cached, other streams read them: several threads may take turns at one run.
pub(super) fn gap_behind(stream: &Stream, stride: Stride) -> Option<Range<PageNo>> {
    let before = stream.run_start.checked_sub(2 * stride.delta)?;
    let first = stride.after(before, 0).last_page() + 1;
    let end = stride.after(before, 1).first_page();
    (first < end && end - first <= FILLED_PAGES_MAX).then_some(first..end)
}

/// Hands the windows to fetch now to `submit`, as the stream sees the file. `end` is the page after
/// the file.
pub(super) fn plan(
    stream: &mut Stream,
    stride: Stride,
    demand: Demand,
    end: PageNo,
    limits: &Limits,
    submit: &mut dyn FnMut(Window),
    is_filled: bool,
) {
    let filled = is_filled.then(|| stride.two()).filter(|&two| two <= limits.window);
    let two = filled.or_else(|| stride.read_through(limits));
    if let Some(two) = two {
        let limits = Limits { worth: limits.worth.max(two), ..*limits };
        if let Some(window) = run::next_window(stream, demand, end, &limits) {
            submit(window);
        }
    } else {
        elements(stream, stride, demand, end, limits, submit);
    }
}

/// Fetches element after element, until a window of them is ahead of the reader.
fn elements(
    stream: &mut Stream,
    stride: Stride,
    demand: Demand,
    end: PageNo,
    limits: &Limits,
    submit: &mut dyn FnMut(Window),
) {
    let is_aligned = (stream.run_start | stride.delta).is_multiple_of(PAGE_BYTES);
    let element_pages = stride.element.div_ceil(PAGE_BYTES) + u64::from(!is_aligned);
    let largest = (limits.window / element_pages).min(BATCH_MAX);
    if largest == 0 || limits.lead == Lead::Off {
        return;
    }
    let rest = (stride.after(stream.run_start, 0).last_page() + 1).min(end);
    let first = stream.front.max(demand.first);
    if first < rest {
        submit(Window { first, pages: (rest - first) as u32, marker: None });
        stream.front = rest;
    }
    let busy = (limits.gap_bytes.saturating_mul(8) / stride.element.max(1)).min(2 * limits.depth);
    let front_bytes = stream.front.saturating_mul(PAGE_BYTES);
    let mut number = front_bytes.saturating_sub(stream.run_start).div_ceil(stride.delta).max(1);
    let waiting = number - 1;
    if stream.windows > 0 && waiting > stream.pace.window() / 2 {
        return;
    }
    if stream.windows > 0 && waiting == 0 {
        stream.pace.caught_up();
    }
    let window = stream.pace.next(largest, busy.max(2).min(largest), 1);
    let middle = number + (window - waiting.min(window)) / 2;
    while number <= window {
        let element = stride.after(stream.run_start, number);
        if element.first_page() >= end {
            break;
        }
        let first = element.first_page().max(demand.end).max(stream.front);
        let last = element.last_page().min(end - 1);
        if first <= last {
            let marker = (number == middle).then_some(first);
            submit(Window { first, pages: (last - first + 1) as u32, marker });
        }
        stream.front = stream.front.max(last + 1);
        number += 1;
    }
    stream.windows = stream.windows.saturating_add(1);
}
