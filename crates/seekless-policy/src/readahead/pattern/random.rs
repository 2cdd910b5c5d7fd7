//! A miss that no other pattern recognises: a random read. What it asks for is fetched, and the
//! state is left alone. So random reads between those of a stream do not disturb it.

use super::{Call, Decision};

pub(in crate::readahead) fn as_asked(call: &Call<'_>) -> Option<Decision> {
    Some(Decision::Once { first: call.page, pages: call.asked })
}
