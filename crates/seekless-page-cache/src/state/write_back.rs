//! Write-back: what is due goes to the engine in runs of neighbouring pages, and a thread that
//! waits for a page learns how many of its writes have to end before the device has it.

use super::writes::Writes;
use super::{Needs, Place, State};
use crate::frame::{FRAME_BYTES, Frame};
use crate::source::Source;
use seekless_engine::{Done, Write};
use seekless_policy::cache::paged::FileNo;
use seekless_policy::eviction::Id;
use seekless_policy::readahead::PageNo;
use std::io;
use std::ops::Range;
use std::sync::Arc;

const PAGE: u64 = FRAME_BYTES as u64;

/// A write of neighbouring pages to the device.
#[derive(Debug)]
pub(crate) struct Writing {
    source: Arc<Source>,
    file: FileNo,
    pages: Range<PageNo>,
    ids: Vec<Id>,
    frames: Vec<Frame>,
    bytes: usize,
    /// Handed over to go past the page cache.
    direct: bool,
}

impl Writing {
    pub(crate) fn ids(&self) -> &[Id] {
        &self.ids
    }

    fn offset(&self) -> u64 {
        self.pages.start * PAGE
    }

    /// Whether it failed since the file system takes no direct write after all.
    fn was_refused(&self, error: &io::Error) -> bool {
        let is_invalid = error.kind() == io::ErrorKind::InvalidInput;
        is_invalid && self.direct && !self.source.is_direct()
    }
}

impl State {
    /// What has to end until the device has these pages as they are decided on now.
    pub(crate) fn needs(&self, ids: Vec<Id>) -> Needs {
        let need = |id: Id| {
            let left = self.cache.writes_left(id);
            (left > 0).then(|| (id, self.ended(id).wrapping_add(left)))
        };
        ids.into_iter().filter_map(need).collect()
    }

    /// How many write-backs of a page have ended, of whatever page had its number.
    fn ended(&self, id: Id) -> u32 {
        self.ended.get(id as usize).copied().unwrap_or(0)
    }

    /// Whether the device has these pages, or does not take them.
    pub(crate) fn are_settled(&self, needs: &Needs) -> bool {
        let is_written = |&(id, ended): &(Id, u32)| self.ended(id).wrapping_sub(ended) as i32 >= 0;
        needs.iter().all(|need| is_written(need) || self.is_stuck(need.0))
    }

    /// A page is to be written, together with the one before it if that is due too.
    pub(crate) fn write_back(&mut self, id: Id) {
        let (file, page) = self.cache.place(id);
        let place = self.place(id).clone();
        let known = self.known_mut(file).expect("what is written is of a known file");
        let source = Arc::clone(known.source.as_ref().expect("what is written has a descriptor"));
        let Place::Held(frame) = place else { unreachable!("what was written to is held") };
        let has = known.version.bytes.saturating_sub(page * PAGE).min(PAGE) as usize;
        let writes = known.writes.get_or_insert_with(|| Box::new(Writes::new(0)));
        writes.touched = true;
        let most = self.command_pages as usize;
        // What is past the page cache is whole pages: a last one goes by itself.
        let fits = has == FRAME_BYTES || !source.is_direct();
        if let Some(last) = self.due.last_mut()
            && (last.file, last.pages.end) == (file, page)
            && last.bytes == last.ids.len() * FRAME_BYTES
            && last.ids.len() < most
            && fits
        {
            last.pages.end += 1;
            last.bytes += has;
            last.ids.push(id);
            last.frames.push(frame);
            return;
        }
        let pages = page..page + 1;
        let (ids, frames) = (vec![id], vec![frame]);
        self.due.push(Writing { source, file, pages, ids, frames, bytes: has, direct: false });
        if let Some(writes) = self.writes_mut(file) {
            writes.busy += 1;
        }
    }

    /// Hands over the writes that are due.
    pub(crate) fn take_due(&mut self, done: &Done) -> Vec<Write> {
        let mut writes = Vec::with_capacity(self.due.len());
        for mut writing in std::mem::take(&mut self.due) {
            writing.direct = writing.source.is_direct();
            let tag = self.next_tag;
            self.next_tag += 1;
            writes.push(Write {
                file: writing.source.file_to_write(writing.bytes),
                offset: writing.offset(),
                pages: writing.frames.iter().map(Frame::page).collect(),
                bytes: writing.bytes,
                tag,
                done: done.clone(),
            });
            self.writing.insert(tag, writing);
        }
        self.tell_depth();
        writes
    }

    /// A write of the engine has ended. More may be due then.
    pub(crate) fn wrote(&mut self, tag: u64, result: io::Result<usize>) {
        let Some(writing) = self.writing.remove(&tag) else { return };
        self.tell_depth();
        if let Err(error) = &result
            && (writing.source.refuses(error) || writing.was_refused(error))
        {
            return self.due.push(writing);
        }
        let end = writing.offset() + writing.bytes as u64;
        let known = self.known_mut(writing.file);
        if let Some(writes) = known.and_then(|known| known.writes.as_mut()) {
            writes.busy -= 1;
            if result.is_ok() {
                writes.took(writing.pages.clone(), end);
            }
        }
        if let Err(error) = result {
            self.stick_written(&writing, &error);
        } else {
            writing.ids.iter().for_each(|&id| self.end_write_back(id));
        }
        self.carry_out(&mut Vec::new());
        self.retire_if_written(writing.file);
    }

    /// A write failed. What has been cut off meanwhile needs not be written.
    fn stick_written(&mut self, writing: &Writing, error: &io::Error) {
        let end = self.end(writing.file).div_ceil(PAGE);
        let kept = writing.pages.start..writing.pages.end.min(end).max(writing.pages.start);
        let count = (kept.end - kept.start) as usize;
        writing.ids[count..].iter().for_each(|&id| self.end_write_back(id));
        self.stick(writing.file, &kept.collect::<Vec<_>>(), error);
    }

    /// The device has a page, or need not have it any more.
    pub(crate) fn end_write_back(&mut self, id: Id) {
        let places = id as usize + 1;
        if self.ended.len() < places {
            self.ended.resize(places.max(2 * self.ended.len()), 0);
        }
        let ended = &mut self.ended[id as usize];
        *ended = ended.wrapping_add(1);
        self.cache.written(id, &mut self.commands);
    }

    /// A file without a handle needs its descriptor until all of it is written.
    fn retire_if_written(&mut self, file: FileNo) {
        let Some(known) = self.known(file) else { return };
        let is_quiet = known.writes.as_ref().is_some_and(|writes| writes.busy == 0);
        if known.handles == 0 && is_quiet && !self.cache.is_unwritten(file) {
            self.retire(file);
        }
    }

    /// A file has no handle, and nothing to be written, any more.
    pub(crate) fn end_writes(&mut self, file: FileNo) {
        let Some(known) = self.known_mut(file) else { return };
        let Some(writes) = known.writes.take() else { return };
        if writes.touched
            && let Some(source) = &known.source
            && let Ok(version) = source.version()
        {
            known.version = version;
        }
        if let Some(error) = writes.error {
            self.untold.get_or_insert(error);
        }
    }

    /// The flusher wakes.
    pub(crate) fn flush_due(&mut self, now: u64) -> Needs {
        self.retry_all();
        self.cache.flush_due(now, &mut self.commands);
        self.carry_out(&mut Vec::new());
        self.needs(self.due.iter().flat_map(|writing| writing.ids.iter().copied()).collect())
    }

    /// Starts to write all that the device lacks of a file.
    pub(crate) fn sync(&mut self, file: FileNo) -> Needs {
        self.retry(file);
        let ids = self.cache.sync(file, &mut self.commands);
        self.carry_out(&mut Vec::new());
        self.needs(ids)
    }

    /// The same of all files.
    pub(crate) fn sync_all(&mut self) -> Needs {
        self.retry_all();
        self.cache.flush_all(&mut self.commands);
        self.carry_out(&mut Vec::new());
        self.needs((0..self.cache.ids_end()).collect())
    }

    /// What is being written of a file from this page on. What the device does not take is not.
    pub(crate) fn in_write_back(&self, file: FileNo, from: PageNo) -> Needs {
        let mut ids = self.cache.in_write_back_within(file, from..PageNo::MAX);
        ids.retain(|&id| !self.is_stuck(id));
        self.needs(ids)
    }

    /// What a sync of the file has to report: what the device does not take or may not have, which
    /// is reported until it has it, or what another program has cut off, which is reported once.
    pub(crate) fn take_error(&mut self, file: FileNo) -> Option<io::Error> {
        let failure = self.failure(file).or_else(|| self.doubt(file));
        failure.or_else(|| self.known_mut(file)?.writes.as_mut()?.error.take())
    }

    /// The same of any file.
    pub(crate) fn take_any_error(&mut self) -> Option<io::Error> {
        let mut first = self.untold.take();
        for number in (0..self.files.len() as u32).map(FileNo) {
            let error = self.take_error(number);
            first = first.or(error);
        }
        first
    }
}
