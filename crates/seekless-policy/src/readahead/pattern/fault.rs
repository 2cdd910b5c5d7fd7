//! A touch of a mapped page that is missing: pages on both sides of it are fetched, since a mapping
//! does not show which page comes next.

use super::{Call, Decision};
use crate::readahead::Trigger;

/// As Linux 2.6.24: a window of the largest size around the page, without a marker.
pub(in crate::readahead) fn around(call: &Call<'_>) -> Option<Decision> {
    (call.why == Trigger::Fault)
        .then(|| Decision::Once { first: call.page.saturating_sub(call.max / 2), pages: call.max })
}

/// As Linux 6.x: the same, with a marker a quarter of the window before its end.
pub(in crate::readahead) fn around_with_marker(call: &Call<'_>) -> Option<Decision> {
    (call.why == Trigger::Fault).then(|| Decision::Window {
        first: call.page.saturating_sub(call.max / 2),
        pages: call.max,
        lead: call.max / 4,
    })
}
