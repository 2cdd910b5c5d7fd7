//! The ranges of files to bring in, in the order in which they are first needed.

use super::bring::Recorded;
use super::listed::Listed;
use super::names::Names;
use super::{Options, interrupted};
use crate::profiles;
use seekless_device::Costs;
use seekless_job::{Error, ErrorKind, Result};
use seekless_policy::foresight::start::READ_BYTES_MAX;
use seekless_policy::layout::extents::{Extent, coalesce};
use seekless_trace::{Listing, Needs, PageSet, Profile, Trace, escape_path, import, unescape_path};
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

const PAGE_BYTES: u64 = 4096;

/// A file, and the ranges of it to bring in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) path: PathBuf,
    /// Which file it was, as far as the source says.
    pub(super) recorded: Recorded,
    /// By offset; they do not meet. The last may reach beyond the file's end.
    ranges: Vec<Extent>,
}

impl Wanted {
    /// How much of the ranges lies in the file, which has `bytes` bytes.
    pub(crate) fn needed_bytes(&self, bytes: u64) -> u64 {
        self.within(bytes).map(|extent| extent.bytes).sum()
    }

    /// The reads that fetch it at least cost.
    pub(crate) fn joined(&self, bytes: u64, costs: &Costs) -> Vec<Extent> {
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

/// What all sources want together.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) files: Vec<Wanted>,
    /// What was found in listed folders and is no file to bring in, by reason.
    pub(crate) left_out: BTreeMap<&'static str, u64>,
    /// The names that traces and profiles have.
    pub(super) names: Names,
    /// Whether no source is a trace or a profile.
    pub(super) only_lists: bool,
}

/// Reads the sources: the needs of the newest run come first, then what older ones add.
pub(crate) fn plan(sources: &[PathBuf], options: &Options) -> Result<Plan> {
    let mut gathered = Gathered::new(options);
    let mut others = Others::default();
    let reading = import::Options { cancel: options.cancel.clone(), ..import::Options::default() };
    let mut names = Names::default();
    let traces = sources.iter().filter_map(|source| {
        let opened = others.open(source, &reading).and_then(|trace| {
            trace.iter().try_for_each(|trace| names.add_trace(trace, options))?;
            Ok(trace)
        });
        opened.transpose()
    });
    let needs = Needs::of_all(traces, &options.cancel).map_err(unreadable)?;
    let only_lists = others.profiles.is_empty() && others.lists.len() == sources.len();
    for profile in others.profiles {
        for file in &profile.files {
            names.add(&file.name, options);
        }
        for need in profiles::by_most(&profile) {
            let file = &profile.files[need.file as usize];
            let recorded = Recorded { bytes: file.bytes, identity: file.identity };
            gathered.add(&file.name, recorded, need.extent.offset, need.extent.bytes);
        }
    }
    for need in needs.runs.iter().rev().flatten() {
        let file = need.file as usize;
        let recorded = Recorded { bytes: needs.file_bytes[file], identity: None };
        gathered.add(&needs.names[file], recorded, need.offset, need.bytes);
    }
    let mut listed = Listed::default();
    for path in others.lists.iter().flatten() {
        if options.cancel.load(Ordering::Relaxed) {
            return Err(interrupted());
        }
        gathered.add_listed(path, &mut listed)?;
    }
    Ok(Plan { files: gathered.finish(), left_out: listed.left_out, names, only_lists })
}

/// The sources that are no traces.
#[derive(Default)]
struct Others {
    profiles: Vec<Profile>,
    lists: Vec<Vec<String>>,
}

impl Others {
    /// Opens a source, and keeps what it holds unless it is a trace.
    fn open(
        &mut self,
        source: &Path,
        options: &import::Options,
    ) -> seekless_trace::Result<Option<Trace>> {
        if source.is_dir() {
            self.lists.push(vec![escape_path(source.as_os_str().as_bytes())]);
            return Ok(None);
        }
        match Listing::open(source, options)? {
            Listing::Paths(paths) => self.lists.push(paths),
            Listing::Trace(trace) if trace.metadata().profile.is_some() => {
                self.profiles.push(profiles::Names::of_user().shown(Profile::read(source)?));
            }
            Listing::Trace(trace) => return Ok(Some(trace)),
        }
        Ok(None)
    }
}

fn unreadable(error: seekless_trace::Error) -> Error {
    match error.kind() {
        seekless_trace::ErrorKind::Interrupted => interrupted(),
        _ => Error::because(ErrorKind::Trace, "what to bring in cannot be read", error),
    }
}

struct Gathered<'a> {
    options: &'a Options,
    numbers: HashMap<String, Option<u32>>,
    /// By device and inode, so that a file of several names is one.
    inodes: HashMap<(u64, u64), u32>,
    files: Vec<Wanted>,
    pages: PageSet,
    left_bytes: u64,
}

impl<'a> Gathered<'a> {
    fn new(options: &'a Options) -> Self {
        let left_bytes = options.budget_bytes.unwrap_or(u64::MAX);
        let (numbers, inodes) = (HashMap::new(), HashMap::new());
        let (files, pages) = (Vec::new(), PageSet::default());
        Self { options, numbers, inodes, files, pages, left_bytes }
    }

    fn add(&mut self, name: &str, recorded: Recorded, offset: u64, bytes: u64) {
        if let Some(file) = self.number(name, recorded, None) {
            self.add_range(file, recorded, offset, bytes);
        }
    }

    fn add_whole(&mut self, name: &str, found: &Metadata) {
        let recorded = Recorded::default();
        if let Some(file) = self.number(name, recorded, Some(found)) {
            self.add_range(file, recorded, 0, found.len().max(1));
        }
    }

    fn add_range(&mut self, file: u32, recorded: Recorded, offset: u64, bytes: u64) {
        let pages = offset / PAGE_BYTES..offset.saturating_add(bytes).div_ceil(PAGE_BYTES);
        let Some((first, last)) = self.pages.add(file, pages) else { return };
        let first_byte = first * PAGE_BYTES;
        let known_end = recorded.bytes.filter(|&size| size > first_byte).unwrap_or(u64::MAX);
        let bytes = (last + 1).saturating_mul(PAGE_BYTES).min(known_end) - first_byte;
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

    /// Adds a listed file whole, or all files below a listed folder.
    fn add_listed(&mut self, name: &str, listed: &mut Listed) -> Result<()> {
        let path = self.path(name);
        match std::fs::metadata(&path) {
            Ok(found) if found.is_dir() => {}
            Ok(found) => {
                self.add_whole(name, &found);
                return Ok(());
            }
            Err(_) => {
                self.add(name, Recorded::default(), 0, 1); // it is left out later, with the reason
                return Ok(());
            }
        }
        let options = self.options;
        listed.walk(&path, options, &mut |file, found| {
            let below = file.strip_prefix(&path).unwrap_or(file).as_os_str().as_bytes();
            let name = format!("{}/{}", name.trim_end_matches('/'), escape_path(below));
            self.add_whole(&name, found);
        })
    }

    /// The number of a file that may be brought in; `found` is what is known of it. Other names of
    /// one file have its number, if that is known or a budget counts it.
    fn number(&mut self, name: &str, recorded: Recorded, found: Option<&Metadata>) -> Option<u32> {
        if let Some(known) = self.numbers.get(name) {
            return *known;
        }
        let path = self.path(name);
        let within = &self.options.within;
        let allowed = within.is_empty() || within.iter().any(|root| path.starts_with(root));
        let looked_at = || std::fs::metadata(&path).ok();
        let inode = match (found, self.options.budget_bytes) {
            (Some(found), _) => Some((found.dev(), found.ino())),
            (None, Some(_)) if allowed => looked_at().map(|found| (found.dev(), found.ino())),
            _ => None,
        };
        let number = allowed.then(|| {
            let next = self.files.len() as u32;
            let number = inode.map_or(next, |inode| *self.inodes.entry(inode).or_insert(next));
            if number == next {
                self.files.push(Wanted { path, recorded, ranges: Vec::new() });
            }
            number
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
