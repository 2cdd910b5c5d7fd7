//! Writes into pages that the cache holds, and how long a file is with them: what the device lacks
//! of both is behind one lock.
//!
//! A page that is written to is a frame of its own or a copy, never one that a reader or the engine
//! holds: so a reader sees a page before or after a write, and a write to the device never changes
//! on its way.

use super::stuck::Cause;
use super::{Needs, Place, Start, State, pages};
use crate::flight::Flight;
use crate::frame::{FRAME_BYTES, Frame};
use crate::page_ranges::PageRanges;
use seekless_policy::cache::paged::{FileNo, PageStep};
use seekless_policy::readahead::{Handle, PageNo};
use std::io;
use std::ops::Range;
use std::sync::Arc;

const PAGE: u64 = FRAME_BYTES as u64;

/// What a file has that is open to write.
#[derive(Debug)]
pub(crate) struct Writes {
    /// Own writes or cuts began since the file was last looked at: that its times have changed says
    /// nothing of other programs.
    pub(crate) touched: bool,
    /// Writes under way.
    pub(crate) busy: u32,
    /// Bytes up to the end that the device has at least, unless another program has cut the file.
    pub(crate) device_bytes: u64,
    /// What another program has cut off, until a sync reports it.
    pub(crate) error: Option<io::Error>,
    /// Why the last write-back failed that did.
    pub(crate) cause: Option<Cause>,
    /// What was written back and not synced since.
    unsynced: PageRanges,
    /// What was written back before a sync that failed, and not again since.
    pub(crate) doubtful: PageRanges,
    /// Why that sync failed.
    pub(crate) doubt_cause: Option<Cause>,
}

impl Writes {
    pub(crate) fn new(device_bytes: u64) -> Self {
        Self {
            touched: false,
            busy: 0,
            device_bytes,
            error: None,
            cause: None,
            unsynced: PageRanges::default(),
            doubtful: PageRanges::default(),
            doubt_cause: None,
        }
    }

    /// The device has taken these pages, up to this byte.
    pub(crate) fn took(&mut self, pages: Range<PageNo>, end: u64) {
        self.device_bytes = self.device_bytes.max(end);
        self.doubtful.remove(&pages);
        self.unsynced.add(pages);
    }

    /// A sync begins. It is for what is returned.
    pub(crate) fn begin_sync(&mut self) -> PageRanges {
        std::mem::take(&mut self.unsynced)
    }

    /// The sync that was for these pages has failed.
    pub(crate) fn doubt(&mut self, pages: &PageRanges, error: &io::Error) {
        pages.iter().for_each(|pages| self.doubtful.add(pages));
        self.doubt_cause = Some(Cause::of(error));
    }

    /// The file was cut to `pages` pages.
    fn cut(&mut self, pages: PageNo) {
        self.unsynced.remove(&(pages..PageNo::MAX));
        self.doubtful.remove(&(pages..PageNo::MAX));
    }

    pub(crate) fn remember(&mut self, error: io::Error) {
        self.error.get_or_insert(error);
    }
}

/// A part of one page, to be written.
pub(crate) struct Part<'a> {
    pub(crate) handle: Handle,
    pub(crate) page: PageNo,
    pub(crate) within: usize,
    pub(crate) bytes: &'a [u8],
    /// The same as a frame, if it is the whole page.
    pub(crate) whole: Option<Frame>,
}

impl Part<'_> {
    pub(crate) fn end(&self) -> u64 {
        self.page * PAGE + (self.within + self.bytes.len()) as u64
    }

    /// Whether bytes of the page are kept that a file with this end has.
    pub(crate) fn keeps_some(&self, end: u64) -> bool {
        let start = self.page * PAGE;
        start < end && (self.within > 0 || self.end() < end.min(start + PAGE))
    }

    /// Puts it where it belongs in its page.
    pub(crate) fn copy_to(&self, page: &mut Frame) {
        if let Some(bytes) = page.get_mut() {
            bytes[self.within..][..self.bytes.len()].copy_from_slice(self.bytes);
        }
    }
}

/// What came of a part.
pub(crate) enum Wrote {
    /// The cache has it. Its writer waits for these pages, since too many were dirty.
    Yes(Needs),
    /// Its page is being read: wait, and try again.
    Reading(Arc<Flight>),
    /// The policy does not keep its page.
    Refused,
}

impl State {
    /// Where the bytes of a page are, without asking the policy.
    pub(crate) fn whereabouts(&self, file: FileNo, page: PageNo) -> Place {
        let id = self.cache.id(file, page);
        id.and_then(|id| self.places.get(id as usize)).cloned().unwrap_or_default()
    }

    /// The end of the file, with what the device lacks.
    pub(crate) fn end(&self, file: FileNo) -> u64 {
        self.known(file).map_or(0, |known| known.version.bytes)
    }

    /// Writes a part of a page in the cache.
    pub(crate) fn write(
        &mut self,
        part: &mut Part<'_>,
        now: u64,
        starts: &mut Vec<Start>,
    ) -> Wrote {
        let file = self.cache.file(part.handle);
        let end = self.end(file);
        let is_absent = match self.whereabouts(file, part.page) {
            Place::Flying(flight) => return Wrote::Reading(flight),
            Place::Held(_) => false,
            Place::Nowhere => true,
        };
        if is_absent && part.keeps_some(end) {
            return self.read_first(file, part.page, starts);
        }
        let step = self.cache.write(file, part.page, now, &mut self.commands);
        self.carry_out(starts);
        let (PageStep::Ready(id) | PageStep::Wait(id)) = step else { return Wrote::Refused };
        let old = std::mem::take(self.place(id));
        let frame = self.merge(old, end, part);
        *self.place(id) = Place::Held(frame);
        self.grow(file, part.end());
        let held_up = self.cache.hold_up(&mut self.commands);
        self.carry_out(starts);
        Wrote::Yes(self.needs(held_up))
    }

    fn read_first(&mut self, file: FileNo, page: PageNo, starts: &mut Vec<Start>) -> Wrote {
        let step = self.cache.read_to_write(file, page, &mut self.commands);
        self.carry_out(starts);
        match step {
            PageStep::Bypass => Wrote::Refused,
            PageStep::Ready(_) | PageStep::Wait(_) => match self.whereabouts(file, page) {
                Place::Flying(flight) => Wrote::Reading(flight),
                Place::Held(_) | Place::Nowhere => Wrote::Refused,
            },
        }
    }

    /// The page with the part in it: the old frame if there is no other holder, or another.
    fn merge(&self, old: Place, end: u64, part: &mut Part<'_>) -> Frame {
        if let Some(whole) = part.whole.take() {
            return whole;
        }
        let has = end.saturating_sub(part.page * PAGE).min(PAGE) as usize;
        let mut frame = match old {
            Place::Held(mut frame) => match frame.get_mut().is_some() {
                true => frame,
                false => self.pool.whole(&frame[..frame.len().min(has)]),
            },
            Place::Flying(_) | Place::Nowhere => self.pool.whole(&[]),
        };
        part.copy_to(&mut frame);
        frame
    }

    /// Something was written up to this byte.
    pub(crate) fn grow(&mut self, file: FileNo, end: u64) {
        let Some(known) = self.known_mut(file) else { return };
        let old = known.version.bytes;
        if end <= old {
            return;
        }
        known.version.bytes = end;
        if let Some(source) = &known.source {
            source.set_end(end, false);
        }
        if pages(end) > pages(old) {
            self.forget_short_page(file, old);
            self.cache.set_pages(file, pages(end), &mut self.commands);
            self.carry_out(&mut Vec::new());
        }
    }

    /// The file no longer ends here. A frame that ends here has too few bytes.
    fn forget_short_page(&mut self, file: FileNo, end: u64) {
        let page = end / PAGE;
        if let Place::Held(frame) = self.whereabouts(file, page)
            && !frame.is_whole()
        {
            self.discard(file, page..page + 1);
        }
    }

    /// Written past the cache, up to this byte.
    pub(crate) fn wrote_through(&mut self, file: FileNo, end: u64) {
        if let Some(writes) = self.writes_mut(file) {
            writes.touched = true;
            writes.took(end.saturating_sub(1) / PAGE..pages(end), end);
        }
    }

    /// Looks at a file that is open to write. Its times change by our own writes too; what another
    /// program changed is seen while we have not written since the last look.
    pub(crate) fn refresh_written(&mut self, file: FileNo) {
        let Some(known) = self.known_mut(file) else { return };
        let (Some(writes), Some(source)) = (&mut known.writes, &known.source) else { return };
        let Ok((device, version)) = source.look() else { return };
        let is_cut = device.bytes < writes.device_bytes;
        let is_changed = !writes.touched && !version.is_as_old_as(&known.version);
        if writes.busy == 0 {
            writes.touched = false;
        }
        writes.device_bytes = device.bytes;
        known.version = version;
        if is_cut {
            self.cut_by_another(file, device.bytes);
        }
        if is_cut || is_changed {
            if let Some(known) = self.known_mut(file) {
                known.generation += 1;
            }
            self.discard(file, 0..PageNo::MAX);
        }
        self.cache.set_pages(file, pages(self.end(file)), &mut self.commands);
        self.carry_out(&mut Vec::new());
    }

    /// Another program has cut the file: what was written behind that, and is not on the device, is
    /// lost, as the kernel would lose it. The next sync reports it.
    fn cut_by_another(&mut self, file: FileNo, end: u64) {
        let lost = self.cache.dirty_within(file, pages(end)..PageNo::MAX);
        let dirty = lost.first().map(|&id| self.cache.place(id).1);
        let first = self.stuck.from(file, pages(end)).next().into_iter().chain(dirty).min();
        let first = first.map(|page| page * PAGE);
        let Some(known) = self.known_mut(file) else { return };
        if let (Some(first), Some(writes), Some(source)) = (first, &mut known.writes, &known.source)
        {
            let message = format!(
                "{}: another program cut it to {end} bytes: what was written from byte {first} on \
                 is lost; write it again",
                source.path().display()
            );
            writes.remember(io::Error::other(message));
        }
        self.cut(file, end);
    }

    /// The file was given a new size on the device.
    pub(crate) fn resized(&mut self, file: FileNo, end: u64) {
        let old = self.end(file);
        if end > old {
            self.forget_short_page(file, old);
        }
        if let Some(writes) = self.writes_mut(file) {
            writes.touched = true;
            writes.device_bytes = end;
        }
        self.cut(file, end);
    }

    /// Forgets what lies behind the file's new end.
    fn cut(&mut self, file: FileNo, end: u64) {
        let Some(known) = self.known_mut(file) else { return };
        known.version.bytes = end;
        known.generation += 1;
        if let Some(writes) = &mut known.writes {
            writes.cut(pages(end));
        }
        if let Some(source) = &known.source {
            source.set_end(end, true);
        }
        self.cache.set_pages(file, pages(end), &mut self.commands);
        self.carry_out(&mut Vec::new());
        self.unstick_behind(file, pages(end));
        let (page, keeps) = (end / PAGE, (end % PAGE) as usize);
        let Some(id) = self.cache.id(file, page).filter(|_| keeps > 0) else { return };
        if let Place::Held(frame) = self.place(id).clone()
            && frame.len() > keeps
        {
            let cut = self.pool.whole(&frame[..keeps]);
            *self.place(id) = Place::Held(cut);
        }
    }
}
