//! How files of other formats are read, and what is left out of them.

use super::fields::Columns;
use super::{Format, Layout, Ops, Select, csv};
use crate::{Columns as TraceColumns, Kind};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How to read files of other formats.
#[derive(Clone, Debug)]
pub struct Options {
    /// The format of all files. If it is `None`, each file's content and name decide.
    pub format: Option<Format>,
    /// Skip and count malformed lines instead of ending at the first.
    pub lenient: bool,
    /// Which column holds which field. If it is `None`, the names in the header decide.
    pub columns: Option<Columns>,
    /// What the words of an operation column mean.
    pub ops: Ops,
    /// Which rows are used.
    pub select: Select,
    /// The fields of records of one length.
    pub layout: Option<Layout>,
    /// The byte between columns.
    pub delimiter: u8,
    /// Whether the first line names the columns.
    pub header: bool,
    /// Stops the import when it is set.
    pub cancel: Arc<AtomicBool>,
    /// Counts what imports under these options leave out.
    pub left_out: LeftOut,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            format: None,
            lenient: false,
            columns: None,
            ops: Ops::default(),
            select: Select::default(),
            layout: None,
            delimiter: b',',
            header: true,
            cancel: Arc::default(),
            left_out: LeftOut::default(),
        }
    }
}

/// The kind of a line that was skipped since it was malformed.
pub const MALFORMED: &str = "malformed line";

/// The kind of a row that removes an object, where removals have no meaning.
pub const REMOVAL: &str = "removal";

/// Lines and records that became no rows, by kind. Clones count together.
#[derive(Clone, Debug, Default)]
pub struct LeftOut(Arc<Mutex<BTreeMap<String, u64>>>);

impl LeftOut {
    /// The kinds so far, each in the singular, and how many there were of each.
    #[must_use]
    pub fn so_far(&self) -> BTreeMap<String, u64> {
        self.lock().clone()
    }

    pub(super) fn add(&self, kinds: &BTreeMap<String, u64>) {
        let mut all = self.lock();
        for (kind, count) in kinds {
            *all.entry(kind.clone()).or_default() += count;
        }
    }

    /// Counts some more of a kind, which is in the singular.
    pub fn count(&self, kind: &str, count: u64) {
        *self.lock().entry(kind.to_owned()).or_default() += count;
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Options {
    /// What a trace of this format is about, which columns and layouts may decide.
    pub(super) fn kind(&self, format: Format) -> Kind {
        let is_blocks = |layout: &Layout| layout.is_blocks();
        match (format, &self.columns) {
            (Format::Csv, Some(columns)) => columns.kind(),
            (Format::Binary, _) if self.layout.as_ref().is_some_and(is_blocks) => Kind::Blocks,
            _ => format.kind(),
        }
    }

    /// The columns of the trace besides those of every trace: lifetimes, where rows have them.
    pub(super) fn more_columns(&self) -> TraceColumns {
        match self.has_lifetimes() {
            true => TraceColumns::TTL_NS,
            false => TraceColumns::NONE,
        }
    }

    /// Whether the rows say how long their objects may be kept.
    #[must_use]
    pub fn has_lifetimes(&self) -> bool {
        let columns = self.columns.as_ref().is_some_and(Columns::has_lifetimes);
        let layout = self.layout.as_ref().is_some_and(Layout::has_lifetimes);
        columns || layout || self.format.is_some_and(csv::has_lifetimes)
    }

    /// The same for files of this format.
    pub(super) fn of(&self, format: Format) -> Self {
        Options { format: Some(format), ..self.clone() }
    }
}
