//! A miss where the last read ended, or on the page after it, or at the start of the file: a stream
//! begins.

use super::{Call, Decision};
use crate::readahead::size;

/// As Linux 2.6.24. The first read of an open file begins a stream only at the start of the file.
pub(in crate::readahead) fn follows(call: &Call<'_>) -> Option<Decision> {
    let follows = match call.state.previous {
        None => call.page == 0,
        Some(_) => is_next(call),
    };
    follows.then(|| begin(call, FullWindow::MarksFirst))
}

/// As Linux 6.x: any miss on page 0 begins a stream too.
pub(in crate::readahead) fn follows_or_starts(call: &Call<'_>) -> Option<Decision> {
    (call.page == 0 || is_next(call)).then(|| begin(call, FullWindow::MarksMiddle))
}

/// Two reads that do not meet on the border of a page share a page; others are neighbours.
fn is_next(call: &Call<'_>) -> bool {
    call.state.previous.is_some_and(|previous| call.page.wrapping_sub(previous) <= 1)
}

/// The first window of a stream. The marker lies after what is read now; where the read fills the
/// window, it lies on the window's first page (2.6.24) or in its middle (6.x).
pub(super) fn begin(call: &Call<'_>, full_window: FullWindow) -> Decision {
    let pages = size::first(call.asked, call.max);
    let lead = match full_window {
        _ if pages > call.asked => pages - call.asked,
        FullWindow::MarksFirst => pages,
        FullWindow::MarksMiddle => pages / 2,
    };
    Decision::Window { first: call.page, pages, lead }
}

/// Where the marker of a first window lies that the read fills.
pub(super) enum FullWindow {
    MarksFirst,
    MarksMiddle,
}
