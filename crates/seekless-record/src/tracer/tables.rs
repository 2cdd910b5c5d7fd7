//! Descriptor tables and address spaces: look-ups, copies at fork, removals at close.

use super::Tracer;
use super::rows::{identified, is_too_long, row};
use crate::coverage::Coverage;
use crate::descriptions::{Description, DescriptionId, Moment, Seen};
use crate::inspect::{self, Found};
use crate::paths;
use crate::shared::Shared;
use crate::space::Space;
use crate::thread::{Entry, Table};
use rustix::fs::FileType;
use seekless_trace::{Access, Op};
use std::sync::Arc;

impl Tracer {
    /// The description behind a descriptor, if it is recorded. A descriptor that we see for the
    /// first time gets an `open` row without a latency, since we did not see its open.
    pub(super) fn follow(&mut self, tid: i32, fd: i32) -> Option<DescriptionId> {
        match self.entry(tid, fd)? {
            Entry::File(id) => Some(id),
            Entry::LeftOut | Entry::Other => None,
        }
    }

    /// What a descriptor refers to; `None` if it is not open.
    fn entry(&mut self, tid: i32, fd: i32) -> Option<Entry> {
        if let Some(key) = self.reported_key(fd) {
            return self.reported_entry(tid, fd, key);
        }
        let files = Arc::clone(&self.threads.get(&tid)?.files);
        let known = files.borrow().get(&fd).copied();
        let entry = match known {
            Some(entry) => entry,
            None => {
                let found = match self.ask_descriptor(tid, fd) {
                    Ok(found) => found,
                    Err(error) if is_too_long(&error) => {
                        self.lose_long_path();
                        return None;
                    }
                    Err(_) => {
                        self.lose_if_closed(tid);
                        return None; // not open: the call will fail
                    }
                };
                let entry =
                    self.claim(tid, fd, &found).unwrap_or_else(|| self.turned_up(tid, fd, &found));
                files.borrow_mut().insert(fd, entry);
                entry
            }
        };
        Some(entry)
    }

    /// An open file that came we do not know how.
    pub(super) fn turned_up(&mut self, tid: i32, fd: i32, found: &Found) -> Entry {
        let at = self.moment(tid);
        let entry = self.describe(found, at);
        if let Entry::File(id) = entry {
            let (position, flags) = inspect::position(tid, fd).unwrap_or_default();
            let description = self.descriptions.get(id);
            description.position = position;
            description.append = flags & libc::O_APPEND != 0;
            let access = identified(row(Op::Open, description.file, at), description);
            self.emit(access);
        }
        entry
    }

    /// As [`Tracer::hold`], for a call that makes a row. Counts the call if its file is left out.
    pub(super) fn hold_for_row(&mut self, tid: i32, fd: i32) -> Option<DescriptionId> {
        self.summary.left_out += u64::from(self.entry(tid, fd)? == Entry::LeftOut);
        self.hold(tid, fd)
    }

    /// As [`Tracer::follow`], with the call as a holder.
    pub(super) fn hold(&mut self, tid: i32, fd: i32) -> Option<DescriptionId> {
        let id = self.follow(tid, fd)?;
        Some(self.descriptions.hold(id))
    }

    /// Makes a description of an opened file, with one holder, if the file is recorded.
    pub(super) fn describe(&mut self, found: &Found, opened: Moment) -> Entry {
        let entry = self.described(found, opened);
        self.note_fetchable(found, entry);
        entry
    }

    fn described(&mut self, found: &Found, opened: Moment) -> Entry {
        if !self.is_recorded(found) {
            return Entry::Other;
        }
        if !self.settings.keeps(&found.name) {
            return Entry::LeftOut;
        }
        let sized = matches!(found.kind, FileType::RegularFile);
        let stream = !sized && !matches!(found.kind, FileType::Directory | FileType::BlockDevice);
        Entry::File(self.descriptions.add(Description {
            file: self.sink.file(&found.name),
            seen: Seen { bytes: found.bytes, time_ns: self.now_ns, writes: self.writes },
            read_only: false,
            key: 0,
            file_bytes: sized.then_some(found.bytes),
            device: found.device,
            inode: found.inode,
            opened,
            position: 0,
            append: false,
            stream,
            written: false,
            used: false,
            loaded: false,
            coverage: Coverage::default(),
        }))
    }

    pub(super) fn is_recorded(&self, found: &Found) -> bool {
        let ordinary = matches!(
            found.kind,
            FileType::RegularFile | FileType::Directory | FileType::BlockDevice
        ) && found.name.first() == Some(&b'/')
            && !paths::is_special(&found.name)
            && !found.name.starts_with(b"/memfd:");
        (ordinary || self.settings.special) && !self.settings.own.contains(&found.name)
    }

    /// Puts an entry under a descriptor, and releases the entry that was there.
    pub(super) fn install(&mut self, tid: i32, fd: i32, entry: Entry) {
        let Some(thread) = self.threads.get(&tid) else { return };
        let old = thread.files.borrow_mut().insert(fd, entry);
        self.release_entries(old, tid);
    }

    pub(super) fn release_entries(&mut self, entries: impl IntoIterator<Item = Entry>, tid: i32) {
        let at = self.moment(tid);
        for entry in entries {
            if let Entry::File(id) = entry {
                self.release(id, at);
            }
        }
    }

    pub(super) fn copy_of_files(&mut self, files: &Shared<Table>) -> Arc<Shared<Table>> {
        let table = files.borrow().clone();
        let held = table.values().filter_map(|entry| match entry {
            Entry::File(id) => Some(id),
            Entry::LeftOut | Entry::Other => None,
        });
        for id in held.chain(&table.unbound) {
            self.descriptions.hold(*id);
        }
        Arc::new(Shared::new(table))
    }

    pub(super) fn copy_of_space(
        &mut self,
        space: &Shared<Space<DescriptionId>>,
    ) -> Arc<Shared<Space<DescriptionId>>> {
        let space = space.borrow().clone();
        for id in space.held() {
            self.descriptions.hold(id);
        }
        Arc::new(Shared::new(space))
    }

    /// Takes a range out of the thread's address space.
    pub(super) fn unmap(&mut self, tid: i32, start: u64, bytes: u64) {
        let Some(thread) = self.threads.get(&tid) else { return };
        let (mut gone, mut split) = (Vec::new(), Vec::new());
        thread.space.borrow_mut().unmap(start, start.saturating_add(bytes), &mut gone, &mut split);
        let at = self.moment(tid);
        for id in split {
            self.descriptions.hold(id);
        }
        gone.into_iter().for_each(|id| self.release(id, at));
    }

    /// After close_range: closes all descriptors of the range. Each recorded one gets a row.
    pub(super) fn close_range(&mut self, tid: i32, first: u32, last: u32, at: Moment) {
        let Some(thread) = self.threads.get(&tid) else { return };
        let within = |fd: i32| (first..=last).contains(&(fd as u32));
        let mut closed: Vec<(i32, Entry)> =
            thread.files.borrow_mut().extract_if(|fd, _| within(*fd)).collect();
        closed.sort_unstable_by_key(|(fd, _)| *fd);
        for (_, entry) in closed {
            self.summary.left_out += u64::from(entry == Entry::LeftOut);
            if let Entry::File(id) = entry {
                let file = self.descriptions.get(id).file;
                self.emit(Access { latency_ns: None, ..row(Op::Close, file, at) });
                self.release(id, self.moment(tid));
            }
        }
    }

    /// The directory that relative names in a call start from.
    pub(super) fn base(&mut self, tid: i32, directory: Option<i32>) -> Option<Vec<u8>> {
        match directory {
            Some(fd) if fd != libc::AT_FDCWD && self.sees_files_only() => {
                self.ask_descriptor(tid, fd).ok().map(|found| found.name)
            }
            Some(fd) if fd != libc::AT_FDCWD => match self.follow(tid, fd) {
                Some(id) => Some(self.sink.name(self.descriptions.get(id).file).to_vec()),
                None => self.ask_descriptor(tid, fd).ok().map(|found| found.name),
            },
            _ => self.current_directory(tid),
        }
    }

    fn current_directory(&mut self, tid: i32) -> Option<Vec<u8>> {
        let mut directory = self.threads.get(&tid)?.directory.borrow_mut();
        if directory.is_none() {
            *directory = inspect::directory(tid);
        }
        directory.clone()
    }
}
