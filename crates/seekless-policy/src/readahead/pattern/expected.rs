//! The stream of the last window goes on: the page is the one where the next window was to be
//! asked for. The window moves on by its size, and grows.

use super::{Call, Decision};
use crate::readahead::size;

/// As Linux 2.6.24: the marker's page or the page after the window, by a marker or by a miss.
pub(in crate::readahead) fn by_marker_or_miss(call: &Call<'_>) -> Option<Decision> {
    let state = call.state;
    let expected = call.page == state.marker() || call.page == state.end();
    (call.page != 0 && expected).then(|| push_forward(call))
}

/// As Linux 6.x: the marker's page, and only by its marker.
pub(in crate::readahead) fn by_marker(call: &Call<'_>) -> Option<Decision> {
    (call.is_async() && call.page == call.state.marker()).then(|| push_forward(call))
}

fn push_forward(call: &Call<'_>) -> Decision {
    let pages = size::next(call.state.pages, call.max);
    Decision::Window { first: call.state.end(), pages, lead: pages }
}
