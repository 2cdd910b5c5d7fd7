//! No readahead: a miss fetches what the read asks for, and nothing ahead.

use super::options::PAGE_BYTES;
use super::{Ahead, Handle, PageNo, Read, Readahead, Trigger, Window};

/// Fetches what is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoReadahead;

impl Readahead for NoReadahead {
    fn open(&mut self, _file: Handle) {}

    fn close(&mut self, _file: Handle) {}

    fn on_page(&mut self, read: Read, page: PageNo, why: Trigger, ahead: &mut dyn Ahead) {
        if why != Trigger::Marker {
            let asked = (read.offset + read.bytes).div_ceil(PAGE_BYTES).saturating_sub(page);
            let pages = u32::try_from(asked.max(1)).unwrap_or(u32::MAX);
            ahead.submit(Window { first: page, pages, marker: None });
        }
    }
}
