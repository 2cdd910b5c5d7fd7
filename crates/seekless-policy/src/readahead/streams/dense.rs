//! Reads at random places of a part of a file that is cached in good part already: the program
//! seems to come to all of it, and soon each page that is still missing would cost a request of its
//! own.

use crate::readahead::options::PAGE_BYTES;
use crate::readahead::{Ahead, PageNo};
use std::ops::Range;

/// At most this many pages are read with a missing one: 64 KiB in all.
const HOLE_PAGES: u64 = 16;

/// At least this many of the pages around must be cached: with fewer, the program may well end
/// before it reaches the missing ones.
const CACHED_MIN: usize = 12;

/// The hole around a missing page, if it is worth filling with one request: that takes less than
/// twice the time of the request alone, and enough of what lies around is cached. A hole has at
/// most `largest` pages, and is halved `halved` times. It is no stream's window: how many streams
/// there are does not matter.
pub(super) fn hole(
    page: PageNo,
    halved: u8,
    largest: u64,
    ahead: &dyn Ahead,
) -> Option<Range<PageNo>> {
    let pages = (HOLE_PAGES >> halved).min(largest);
    if pages < 2 || pages * PAGE_BYTES > ahead.costs().gap_bytes() || ahead.congested() {
        return None;
    }
    if !is_well_cached(page, ahead) {
        return None;
    }
    let is_missing = |page: &PageNo| !ahead.cached(*page);
    let back = (1..=pages / 2).map_while(|back| page.checked_sub(back)).take_while(is_missing);
    let first = page - back.count() as u64;
    let end = first + pages;
    Some(first..page + 1 + (page + 1..end).take_while(is_missing).count() as u64)
}

/// Whether enough of the pages around a page are cached. Looks at no more of them than it needs:
/// most random reads come to parts with hardly a cached page.
fn is_well_cached(page: PageNo, ahead: &dyn Ahead) -> bool {
    let around = page.saturating_sub(HOLE_PAGES)..page + HOLE_PAGES;
    let mut may_be_missing = (around.end - around.start) as usize - CACHED_MIN;
    let mut cached = 0;
    for page in around {
        match ahead.cached(page) {
            true => cached += 1,
            false if may_be_missing == 0 => return false,
            false => may_be_missing -= 1,
        }
    }
    cached >= CACHED_MIN
}
