//! A miss of a read that asks for more than the largest window, as sendfile of a whole file does: a
//! stream begins.

use super::sequential::{FullWindow, begin};
use super::{Call, Decision};

/// As Linux 2.6.24.
pub(in crate::readahead) fn marks_first(call: &Call<'_>) -> Option<Decision> {
    (call.asked > call.max).then(|| begin(call, FullWindow::MarksFirst))
}

/// As Linux 6.x.
pub(in crate::readahead) fn marks_middle(call: &Call<'_>) -> Option<Decision> {
    (call.asked > call.max).then(|| begin(call, FullWindow::MarksMiddle))
}
