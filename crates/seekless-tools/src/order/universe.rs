//! Numbers the files of an archive densely, and joins them by name with the runs that load them.

use crate::{Error, ErrorKind, Result};
use seekless_job::roots::{self, Root, Roots};
use seekless_policy::eviction::Id;
use seekless_trace::{FileId, FileList, Loads};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One run of a trace.
pub(crate) struct Run {
    pub(super) label: String,
    /// Names and sizes of the files of its trace.
    pub(super) trace: Arc<Names>,
    /// The loads, by the trace's numbers.
    pub(super) files: Vec<FileId>,
}

impl Run {
    /// The traced names of the files that the run loads, in order.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|&file| self.trace.names[file as usize].as_str())
    }
}

/// The files of one trace.
pub(super) struct Names {
    pub(super) names: Vec<String>,
    pub(super) bytes: Vec<u64>,
}

/// Reads the runs of several traces, oldest first. Files have their present names.
pub(crate) fn read_runs(traces: &[PathBuf], roots: &Roots) -> Result<Vec<Run>> {
    let mut runs = Vec::new();
    for path in traces {
        let failed = |error| Error::because(ErrorKind::Trace, "cannot read the trace", error);
        let Loads { names, bytes, runs: loads, .. } =
            Loads::read(std::slice::from_ref(path)).map_err(failed)?;
        let names = match roots.is_empty() {
            true => names,
            false => names.iter().map(|name| roots.apply(name).into_owned()).collect(),
        };
        let trace = Arc::new(Names { names, bytes });
        let several = loads.len() > 1;
        for (number, run) in loads.into_iter().enumerate() {
            let label = if several { format!("{} run {number}", stem(path)) } else { stem(path) };
            let files = run.into_iter().map(|load| load.file).collect();
            runs.push(Run { label, trace: Arc::clone(&trace), files });
        }
    }
    Ok(runs)
}

/// `runs/sahel.csv.gz` is `sahel`.
fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let end = name.char_indices().skip(1).find(|(_, c)| *c == '.').map_or(name.len(), |(at, _)| at);
    name[..end].to_owned()
}

/// Files by number. The numbers follow the order that is used for untraced files.
pub(super) struct Universe {
    pub(super) names: Vec<String>,
    pub(super) bytes: Vec<u64>,
    pub(super) unknown_sizes: u64,
    ids: HashMap<String, Id>,
}

impl Universe {
    /// The files that the runs load, sorted by the bytes of their paths.
    pub(super) fn from_runs(runs: &[Run]) -> Self {
        let loaded = |run: &Run| {
            let trace = Arc::clone(&run.trace);
            let files = run.files.clone().into_iter();
            files.map(move |file| (trace.names[file as usize].clone(), trace.bytes[file as usize]))
        };
        let mut sizes: HashMap<String, u64> = HashMap::new();
        for (name, bytes) in runs.iter().flat_map(loaded) {
            let known = sizes.entry(name).or_default();
            *known = bytes.max(*known);
        }
        Self::from_files(sizes.into_iter().collect())
    }

    /// These files, sorted by the bytes of their paths.
    pub(super) fn from_files(mut files: Vec<(String, u64)>) -> Self {
        files.sort_unstable();
        let (names, bytes) = files.into_iter().unzip();
        Self::new(names, bytes, 0)
    }

    /// The files of a list. A list of plain paths keeps its order, unless `by_name` is set. A table
    /// `path,size` has no order of its own: its files are sorted by the bytes of their paths.
    pub(super) fn from_list(path: &Path, runs: &[Run], by_name: bool) -> Result<Self> {
        let failed =
            |error| Error::because(ErrorKind::Trace, "cannot read the list of files", error);
        let list = FileList::read(path).map_err(failed)?;
        let is_table = list.bytes.iter().any(Option::is_some);
        let mut files: Vec<_> = list.paths.into_iter().zip(list.bytes).collect();
        if is_table || by_name {
            files.sort_unstable();
        }
        let traced = Self::from_runs(runs);
        let size = |(name, bytes): &(String, Option<u64>)| bytes.or_else(|| traced.size(name));
        let unknown = files.iter().filter(|file| size(file).is_none()).count() as u64;
        let bytes = files.iter().map(|file| size(file).unwrap_or(0)).collect();
        Ok(Self::new(files.into_iter().map(|file| file.0).collect(), bytes, unknown))
    }

    fn new(names: Vec<String>, bytes: Vec<u64>, unknown_sizes: u64) -> Self {
        let ids = names.iter().cloned().zip(0..).collect();
        Self { names, bytes, unknown_sizes, ids }
    }

    /// Where the list has the files that the runs load, if it has none of them under its traced
    /// name. Found by the common ends of the names.
    pub(super) fn moved(&self, runs: &[Run]) -> Option<Root> {
        let mut traced: Vec<&str> = runs.iter().flat_map(Run::paths).collect();
        traced.sort_unstable();
        traced.dedup();
        if traced.iter().any(|name| self.ids.contains_key(*name)) {
            return None;
        }
        roots::guess(self.names.iter().map(String::as_str), &traced)
    }

    fn size(&self, name: &str) -> Option<u64> {
        self.ids.get(name).map(|&id| self.bytes[id as usize])
    }

    /// Each name with its bytes.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, u64)> {
        self.names.iter().map(String::as_str).zip(self.bytes.iter().copied())
    }

    /// The loads of a run as ids of the universe, and each name that the universe does not have,
    /// once.
    pub(super) fn number(&self, run: &Run) -> (Vec<Id>, Vec<String>) {
        let mut known: Vec<Option<Option<Id>>> = vec![None; run.trace.names.len()];
        let (mut ids, mut unlisted) = (Vec::with_capacity(run.files.len()), Vec::new());
        for &file in &run.files {
            let name = &run.trace.names[file as usize];
            let first = known[file as usize].is_none();
            match *known[file as usize].get_or_insert_with(|| self.ids.get(name).copied()) {
                Some(id) => ids.push(id),
                None if first => unlisted.push(name.clone()),
                None => {}
            }
        }
        (ids, unlisted)
    }
}

/// The most bytes of all files together. It leaves room to round up to blocks and to add.
const BYTES_MAX: u64 = 1 << 62;

/// Fails if `files` (name and bytes) are too long together for 64-bit positions. Then a size must
/// be wrong.
pub(crate) fn check_sizes<'a>(files: impl IntoIterator<Item = (&'a str, u64)>) -> Result<()> {
    let mut end = 0u64;
    for (name, bytes) in files {
        end = end.saturating_add(bytes);
        if end > BYTES_MAX {
            let why = format!(
                "the files together are larger than 2^62 bytes from {name:?} on, which has {bytes}; correct the size in the list or the trace"
            );
            return Err(Error::new(ErrorKind::Invalid, why));
        }
    }
    Ok(())
}
