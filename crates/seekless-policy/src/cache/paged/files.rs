//! Files and their open handles, numbered densely. Numbers are used again.

use super::table::Tree;
use crate::readahead::Handle;

/// A file whose pages the cache keeps, numbered by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileNo(pub u32);

/// One file.
#[derive(Clone, Debug, Default)]
pub(super) struct File {
    /// Pages up to its end.
    pub(super) pages: u64,
    pub(super) tree: Tree,
    /// Ids that its pages have. The file's number is free only when this is 0.
    pub(super) ids: u32,
    pub(super) removed: bool,
}

/// One open file. The generation distinguishes it from an earlier one of the same number.
#[derive(Clone, Copy, Debug)]
struct Opened {
    file: FileNo,
    generation: u32,
    open: bool,
}

/// An open file that may be closed by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opener {
    pub(super) handle: Handle,
    generation: u32,
}

impl Opener {
    /// Fetched for no handle: nothing learns what becomes of it.
    pub(super) const NOBODY: Self = Self { handle: Handle(u32::MAX), generation: 0 };
}

/// All files and handles.
#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    files: Vec<File>,
    free_files: Vec<FileNo>,
    handles: Vec<Opened>,
    free_handles: Vec<Handle>,
}

impl Files {
    pub(super) fn add(&mut self, pages: u64) -> FileNo {
        let file = File { pages, ..File::default() };
        if let Some(number) = self.free_files.pop() {
            self.files[number.0 as usize] = file;
            return number;
        }
        self.files.push(file);
        FileNo(self.files.len() as u32 - 1)
    }

    pub(super) fn get(&self, file: FileNo) -> &File {
        &self.files[file.0 as usize]
    }

    pub(super) fn get_mut(&mut self, file: FileNo) -> &mut File {
        &mut self.files[file.0 as usize]
    }

    /// Frees the number of a removed file that has no ids left.
    pub(super) fn free_if_unused(&mut self, number: FileNo) {
        let file = self.get_mut(number);
        if file.removed && file.ids == 0 {
            file.removed = false;
            self.free_files.push(number);
        }
    }

    pub(super) fn open(&mut self, file: FileNo) -> Handle {
        if let Some(handle) = self.free_handles.pop() {
            let opened = &mut self.handles[handle.0 as usize];
            *opened = Opened { file, open: true, ..*opened };
            return handle;
        }
        self.handles.push(Opened { file, generation: 0, open: true });
        Handle(self.handles.len() as u32 - 1)
    }

    /// False if it was closed already.
    pub(super) fn close(&mut self, handle: Handle) -> bool {
        let opened = &mut self.handles[handle.0 as usize];
        let was_open = std::mem::replace(&mut opened.open, false);
        if was_open {
            opened.generation = opened.generation.wrapping_add(1);
            self.free_handles.push(handle);
        }
        was_open
    }

    pub(super) fn of(&self, handle: Handle) -> FileNo {
        self.handles[handle.0 as usize].file
    }

    pub(super) fn opener(&self, handle: Handle) -> Opener {
        Opener { handle, generation: self.handles[handle.0 as usize].generation }
    }

    /// The handle, if it is still the same open file.
    pub(super) fn still_open(&self, opener: Opener) -> Option<Handle> {
        let opened = self.handles.get(opener.handle.0 as usize)?;
        (opened.open && opened.generation == opener.generation).then_some(opener.handle)
    }
}
