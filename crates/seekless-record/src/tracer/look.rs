//! When to look where a file lies: before a descriptor is closed, and before a process ends.

use super::Tracer;
use crate::descriptions::{Description, DescriptionId};
use crate::looker::Used;
use crate::thread::Entry;
use seekless_trace::Access;
use std::sync::Arc;

impl Tracer {
    /// Looks at the file behind a descriptor, if the program has used it.
    pub(super) fn look(&mut self, tid: i32, fd: i32) {
        if self.looker.is_none() {
            return;
        }
        let Some(thread) = self.threads.get(&tid) else { return };
        let (pid, entry) = (thread.pid, thread.files.borrow().get(&fd).copied());
        if let Some(Entry::File(id)) = entry {
            self.look_at(pid, fd, id);
        }
    }

    /// Looks at all open files of a process before its end.
    pub(super) fn look_at_all(&mut self, tid: i32) {
        if self.looker.is_none() {
            return;
        }
        let Some(thread) = self.threads.get(&tid) else { return };
        if Arc::strong_count(&thread.files) > 1 {
            return; // others go on with the same descriptors
        }
        let open: Vec<(i32, Entry)> =
            thread.files.borrow().iter().map(|(fd, entry)| (*fd, *entry)).collect();
        let pid = thread.pid;
        for (fd, entry) in open {
            if let Entry::File(id) = entry {
                self.look_at(pid, fd, id);
            }
        }
    }

    fn look_at(&mut self, pid: i32, fd: i32, id: DescriptionId) {
        let description = self.descriptions.get(id);
        if !description.used || description.file_bytes.is_none() {
            return; // nothing to map, or no regular file
        }
        let used = used(description, self.sink.name(description.file));
        let now_ns = self.now_ns;
        if let Some(looker) = &mut self.looker {
            looker.look(pid, fd, used, now_ns);
        }
    }

    /// Notes a file that was used and is no longer open, in case it was not looked up.
    pub(super) fn left_unseen(&mut self, description: &Description) {
        if self.looker.is_some() && description.file_bytes.is_some() {
            let used = used(description, self.sink.name(description.file));
            if let Some(looker) = &mut self.looker {
                looker.left(used);
            }
        }
    }

    /// Adds device and inode to a row of a call, if places are looked up: names alone do not tell
    /// files apart that were replaced.
    pub(super) fn with_key(&mut self, access: Access, id: DescriptionId) -> Access {
        if self.looker.is_none() {
            return access;
        }
        let description = self.descriptions.get(id);
        let (device, inode) = (Some(description.device), Some(description.inode));
        Access { device, inode, ..access }
    }
}

fn used(description: &Description, name: Arc<[u8]>) -> Used {
    let key = (description.device, description.inode);
    Used { key, name, written: description.written }
}
