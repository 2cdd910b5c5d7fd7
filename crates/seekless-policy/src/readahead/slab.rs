//! What a readahead keeps of each open file, in a vector under the file's handle.

use super::Handle;

#[derive(Debug)]
pub(super) struct Slab<T>(Vec<Option<T>>);

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Default> Slab<T> {
    /// Begins with nothing known of the file.
    pub(super) fn open(&mut self, file: Handle) {
        let at = file.0 as usize;
        if at >= self.0.len() {
            self.0.resize_with(at + 1, || None);
        }
        self.0[at] = Some(T::default());
    }

    pub(super) fn close(&mut self, file: Handle) {
        if let Some(entry) = self.0.get_mut(file.0 as usize) {
            *entry = None;
        }
    }

    /// What is known of an open file; `None` of a file that is not open.
    pub(super) fn get(&mut self, file: Handle) -> Option<&mut T> {
        self.0.get_mut(file.0 as usize)?.as_mut()
    }
}
