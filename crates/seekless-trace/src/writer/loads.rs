//! Loads of ids: what millions of records become on their way into a trace. They skip the window of
//! rows, since they come in order, and are never rows of a hundred bytes.

/// Loads in order of run and time. An id is a file that is named by its number. Files are numbered
/// by first appearance, from 0, without a gap.
#[derive(Debug, Default)]
pub(crate) struct Loads {
    pub(crate) runs: Vec<u32>,
    pub(crate) times: Vec<u64>,
    pub(crate) files: Vec<u32>,
    pub(crate) ids: Vec<u64>,
    /// The size of the file, which is loaded whole.
    pub(crate) bytes: Vec<u64>,
}

impl Loads {
    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// Empties it, but for its memory.
    pub(crate) fn clear(&mut self) {
        self.runs.clear();
        self.times.clear();
        self.files.clear();
        self.ids.clear();
        self.bytes.clear();
    }
}
