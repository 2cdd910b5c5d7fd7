//! Open file descriptions, which descriptors share through dup and fork. A description has the
//! position, and knows whether the whole file has been read through it. It lives as long as a
//! descriptor, mapping or running call holds it; we count these holders.

use crate::coverage::Coverage;
use seekless_trace::FileId;

/// A description's number. It is used again after the last holder has released it.
pub(crate) type DescriptionId = u32;

/// Who made a call, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) time_ns: u64,
    pub(crate) pid: i32,
    pub(crate) tid: i32,
}

/// A file's size, and what shows whether it may have changed since.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) bytes: u64,
    pub(crate) time_ns: u64,
    /// How many writes of the program there had been.
    pub(crate) writes: u64,
}

/// One open of a file.
#[derive(Clone, Debug)]
pub(crate) struct Description {
    pub(crate) file: FileId,
    /// Its size when we last looked.
    pub(crate) seen: Seen,
    /// It can be read and not written.
    pub(crate) read_only: bool,
    /// What the kernel's programs call it; 0 if it is followed by stops, or not reported yet.
    pub(crate) key: u64,
    /// Its size when it was opened; `None` if it is not a regular file.
    pub(crate) file_bytes: Option<u64>,
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) opened: Moment,
    pub(crate) position: u64,
    pub(crate) append: bool,
    /// A pipe, socket or terminal: it has no offsets.
    pub(crate) stream: bool,
    pub(crate) written: bool,
    /// Bytes were moved through it, or it was mapped.
    pub(crate) used: bool,
    pub(crate) loaded: bool,
    pub(crate) coverage: Coverage,
}

impl Description {
    /// Notes a read. Returns whether it completes the file, which is true once.
    pub(crate) fn reads(&mut self, offset: u64, bytes: u64) -> bool {
        let Some(size) = self.unloaded() else { return false };
        if bytes > 0 && offset == 0 && bytes >= size {
            self.loaded = true; // the commonest case needs no ranges
        } else {
            self.coverage.add(offset, bytes);
            self.loaded = self.coverage.covers(size);
        }
        self.loaded
    }

    /// Notes a mapping. Returns whether it covers the whole file for the first time.
    pub(crate) fn maps(&mut self, offset: u64, bytes: u64) -> bool {
        self.loaded = self.unloaded().is_some_and(|size| size > 0 && offset == 0 && bytes >= size);
        self.loaded
    }

    /// Whether it may be taken for read whole, if its uses were not looked at.
    pub(crate) fn may_be_loaded(&self) -> bool {
        self.read_only && !self.used && self.unloaded().is_some()
    }

    /// The size that reads must cover, if a load is still possible. A file that is also written is
    /// not loaded.
    fn unloaded(&self) -> Option<u64> {
        self.file_bytes.filter(|_| !self.loaded && !self.written && !self.stream)
    }
}

/// All open descriptions.
#[derive(Debug, Default)]
pub(crate) struct Descriptions {
    slots: Vec<Option<(u32, Description)>>,
    free: Vec<DescriptionId>,
}

impl Descriptions {
    /// Adds a description with one holder.
    pub(crate) fn add(&mut self, description: Description) -> DescriptionId {
        let slot = Some((1, description));
        match self.free.pop() {
            Some(id) => {
                self.slots[id as usize] = slot;
                id
            }
            None => {
                self.slots.push(slot);
                (self.slots.len() - 1) as DescriptionId
            }
        }
    }

    /// `id` must be held.
    pub(crate) fn get(&mut self, id: DescriptionId) -> &mut Description {
        match &mut self.slots[id as usize] {
            Some((_, description)) => description,
            None => unreachable!("description {id} is used by one who does not hold it"),
        }
    }

    /// Whether somebody holds it.
    pub(crate) fn is_held(&self, id: DescriptionId) -> bool {
        self.slots.get(id as usize).is_some_and(Option::is_some)
    }

    /// Adds a holder.
    pub(crate) fn hold(&mut self, id: DescriptionId) -> DescriptionId {
        if let Some((holders, _)) = &mut self.slots[id as usize] {
            *holders += 1;
        }
        id
    }

    /// Removes a holder. Returns the description if that was the last one.
    pub(crate) fn release(&mut self, id: DescriptionId) -> Option<Description> {
        let slot = &mut self.slots[id as usize];
        let (holders, _) = slot.as_mut()?;
        *holders -= 1;
        if *holders > 0 {
            return None;
        }
        self.free.push(id);
        slot.take().map(|(_, description)| description)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn of_bytes(bytes: u64) -> Description {
        Description {
            file: 0,
            seen: Seen::default(),
            read_only: false,
            key: 0,
            file_bytes: Some(bytes),
            device: 0,
            inode: 0,
            opened: Moment { time_ns: 0, pid: 1, tid: 1 },
            position: 0,
            append: false,
            stream: false,
            written: false,
            used: false,
            loaded: false,
            coverage: Coverage::default(),
        }
    }

    #[test]
    fn a_load_is_reported_once_and_only_when_every_byte_was_read() {
        let mut parts = of_bytes(10);
        assert!(!parts.reads(0, 4) && !parts.reads(5, 5));
        assert!(parts.reads(4, 1) && !parts.reads(0, 10));
        let mut mapped = of_bytes(10);
        assert!(!mapped.maps(0, 9) && mapped.maps(0, 4096));
        let mut written = of_bytes(10);
        written.written = true;
        assert!(!written.reads(0, 10));
        let mut empty = of_bytes(0);
        assert!(!empty.maps(0, 4096) && empty.reads(0, 0));
    }

    #[test]
    fn the_last_holder_frees_it() {
        let mut all = Descriptions::default();
        let id = all.add(of_bytes(1));
        all.hold(id);
        assert!(all.release(id).is_none());
        assert!(all.release(id).is_some());
        assert_eq!(all.add(of_bytes(2)), id);
    }
}
