//! Which ranges of which files are wanted, in the order in which they are first needed.

use super::Options;
use super::bring::Recorded;
use crate::error::{Error, ErrorKind, Result};
use crate::profiles;
use seekless_device::Costs;
use seekless_policy::extents::{Extent, coalesce};
use seekless_policy::start::READ_BYTES_MAX;
use seekless_trace::{FileList, Needs, PageSet, Profile, Trace, unescape_path};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

const PAGE_BYTES: u64 = 4096;

/// A file, and the ranges of it to bring in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) path: PathBuf,
    /// Which file it was, as far as the source tells.
    pub(super) recorded: Recorded,
    /// By offset; they do not meet. The last may reach beyond the file's end.
    ranges: Vec<Extent>,
}

impl Wanted {
    /// How much of the ranges lies in the file, which has `bytes` bytes.
    pub(super) fn needed_bytes(&self, bytes: u64) -> u64 {
        self.within(bytes).map(|extent| extent.bytes).sum()
    }

    /// The reads that fetch it at least cost.
    pub(super) fn joined(&self, bytes: u64, costs: &Costs) -> Vec<Extent> {
        let wanted: Vec<Extent> = self.within(bytes).collect();
        coalesce(&wanted, costs, READ_BYTES_MAX).iter().map(|read| read.extent).collect()
    }

    fn within(&self, bytes: u64) -> impl Iterator<Item = Extent> + '_ {
        self.ranges
            .iter()
            .filter(move |range| range.offset < bytes)
            .map(move |range| Extent { bytes: range.bytes.min(bytes - range.offset), ..*range })
    }
}

/// What all sources want together: the needs of the newest run first, then what older ones add.
pub(super) fn wanted(sources: &[PathBuf], options: &Options) -> Result<Vec<Wanted>> {
    let mut gathered = Gathered::new(options);
    let (lists, traces): (Vec<PathBuf>, Vec<PathBuf>) =
        sources.iter().cloned().partition(|source| names_files(source));
    let (profiles, traces) = profiles_among(traces)?;
    for profile in profiles {
        for need in profiles::by_most(&profile) {
            let file = &profile.files[need.file as usize];
            let recorded = Recorded { bytes: file.bytes, identity: file.identity };
            gathered.add(&file.name, recorded, need.extent.offset, need.extent.bytes);
        }
    }
    if !traces.is_empty() {
        let needs = Needs::read(&traces).map_err(unreadable)?;
        for need in needs.runs.iter().rev().flatten() {
            let file = need.file as usize;
            let recorded = Recorded { bytes: needs.file_bytes[file], identity: None };
            gathered.add(&needs.names[file], recorded, need.offset, need.bytes);
        }
    }
    for list in lists {
        let list = FileList::read(&list).map_err(unreadable)?;
        for (path, bytes) in list.paths.iter().zip(&list.bytes) {
            // A file that is not there is left out later, with the reason.
            let size = bytes.unwrap_or_else(|| gathered.size(path).max(1));
            gathered.add(path, Recorded { bytes: *bytes, identity: None }, 0, size);
        }
    }
    Ok(gathered.finish())
}

/// The profiles among traces, and the other traces.
fn profiles_among(traces: Vec<PathBuf>) -> Result<(Vec<Profile>, Vec<PathBuf>)> {
    let is_profile =
        |path: &PathBuf| Trace::open(path).is_ok_and(|trace| trace.metadata().profile.is_some());
    let (profiles, traces): (Vec<PathBuf>, _) = traces.into_iter().partition(is_profile);
    let profiles: Result<_> =
        profiles.iter().map(|path| Profile::read(path).map_err(unreadable)).collect();
    Ok((profiles?, traces))
}

fn unreadable(error: seekless_trace::Error) -> Error {
    Error::because(ErrorKind::Trace, "what to bring in cannot be read", error)
}

/// Whether a source is a list of files: its first line is the name of a file that is here.
fn names_files(source: &Path) -> bool {
    let mut line = Vec::new();
    let read = File::open(source).map(|file| {
        std::io::Read::take(BufReader::new(file), PAGE_BYTES).read_until(b'\n', &mut line)
    });
    let name = line.strip_suffix(b"\n").unwrap_or(&line);
    matches!(read, Ok(Ok(_)))
        && !name.is_empty()
        && !name.contains(&0)
        && PathBuf::from(OsString::from_vec(name.to_vec())).is_file()
}

struct Gathered<'a> {
    options: &'a Options,
    numbers: HashMap<String, Option<u32>>,
    files: Vec<Wanted>,
    pages: PageSet,
    left_bytes: u64,
}

impl<'a> Gathered<'a> {
    fn new(options: &'a Options) -> Self {
        let left_bytes = options.budget_bytes.unwrap_or(u64::MAX);
        let (numbers, files, pages) = (HashMap::new(), Vec::new(), PageSet::default());
        Self { options, numbers, files, pages, left_bytes }
    }

    fn add(&mut self, name: &str, recorded: Recorded, offset: u64, bytes: u64) {
        let Some(file) = self.number(name, recorded) else { return };
        let pages = offset / PAGE_BYTES..offset.saturating_add(bytes).div_ceil(PAGE_BYTES);
        let Some((first, last)) = self.pages.add(file, pages) else { return };
        let first_byte = first * PAGE_BYTES;
        let known_end = recorded.bytes.filter(|&size| size > first_byte).unwrap_or(u64::MAX);
        let bytes = ((last + 1) * PAGE_BYTES).min(known_end) - first_byte;
        if bytes > self.left_bytes {
            return;
        }
        self.left_bytes -= bytes;
        self.files[file as usize].ranges.push(Extent { offset: first_byte, bytes });
    }

    /// Where a recorded or listed file lies now.
    fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(OsString::from_vec(unescape_path(&self.options.roots.apply(name))))
    }

    /// The present size of a listed file; 0 if it is not there.
    fn size(&self, name: &str) -> u64 {
        std::fs::metadata(self.path(name)).map_or(0, |found| found.len())
    }

    /// The number of a file that may be brought in.
    fn number(&mut self, name: &str, recorded: Recorded) -> Option<u32> {
        if let Some(known) = self.numbers.get(name) {
            return *known;
        }
        let path = self.path(name);
        let within = &self.options.within;
        let allowed = within.is_empty() || within.iter().any(|root| path.starts_with(root));
        let number = allowed.then(|| {
            self.files.push(Wanted { path, recorded, ranges: Vec::new() });
            (self.files.len() - 1) as u32
        });
        self.numbers.insert(name.to_owned(), number);
        number
    }

    fn finish(mut self) -> Vec<Wanted> {
        for file in &mut self.files {
            file.ranges.sort_by_key(|range| range.offset);
            file.ranges.dedup_by(|later, range| {
                let joins = later.offset <= range.end();
                if joins {
                    range.bytes = later.end().max(range.end()) - range.offset;
                }
                joins
            });
        }
        self.files.retain(|file| !file.ranges.is_empty());
        self.files
    }
}
