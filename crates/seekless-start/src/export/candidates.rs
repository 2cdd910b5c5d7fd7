//! The files that runs need, as a list can name them: below the served folder, regular, each once.

use super::Options;
use seekless_policy::layout::extents::Extent;
use seekless_trace::{Needs, unescape_path};
use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// A file that a list may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Its name below the root, without a slash in front.
    pub(super) name: Vec<u8>,
    /// Where it lies here.
    pub(super) path: PathBuf,
    pub(super) file_bytes: u64,
    /// Its device and inode, if it is here.
    pub(super) inode: Option<(u64, u64)>,
}

/// A range of a candidate, by its number.
pub(super) type Part = (u32, Extent);

/// All files that a list may name, and what each run needs of them.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    pub(super) files: Vec<Candidate>,
    /// For each run, oldest first, in order of first need.
    pub(super) runs: Vec<Vec<Part>>,
    /// Files that no list of this format can name, by reason.
    pub(super) left_out: BTreeMap<&'static str, u64>,
}

impl Candidates {
    pub(super) fn of(needs: &Needs, options: &Options) -> Self {
        let mut found = Self::default();
        let place = Place::new(options);
        let mut known: HashMap<Vec<u8>, u32> = HashMap::new();
        let ends = ends(needs);
        let mut numbers = vec![None; needs.names.len()];
        for (file, &end) in ends.iter().enumerate().filter(|(_, end)| **end > 0) {
            match place.candidate(&needs.names[file], needs.file_bytes[file], end) {
                Ok(candidate) => {
                    let next = found.files.len() as u32;
                    let number = *known.entry(candidate.name.clone()).or_insert(next);
                    if number == next {
                        found.files.push(candidate);
                    }
                    numbers[file] = Some(number);
                }
                Err(why) => *found.left_out.entry(why).or_default() += 1,
            }
        }
        let files = &found.files;
        let part = |need: &seekless_trace::Need| {
            let file = numbers[need.file as usize]?;
            let size = files[file as usize].file_bytes;
            let bytes = need.bytes.min(size.saturating_sub(need.offset));
            (bytes > 0).then_some((file, Extent { offset: need.offset, bytes }))
        };
        found.runs = needs.runs.iter().map(|run| run.iter().filter_map(part).collect()).collect();
        found
    }
}

/// How far each file is needed; 0 if no run needs it.
fn ends(needs: &Needs) -> Vec<u64> {
    let mut ends = vec![0_u64; needs.names.len()];
    for need in needs.runs.iter().flatten() {
        let end = &mut ends[need.file as usize];
        *end = (*end).max(need.offset.saturating_add(need.bytes));
    }
    ends
}

/// Where the served folder is.
struct Place<'a> {
    options: &'a Options,
    /// Its canonical name, if it is here.
    folder: Option<PathBuf>,
}

impl<'a> Place<'a> {
    fn new(options: &'a Options) -> Self {
        Self { options, folder: Path::new(&options.root.new).canonicalize().ok() }
    }

    /// The file that a trace calls `traced`, or why no list can hold it. Runs need it up to `end`.
    fn candidate(
        &self,
        traced: &str,
        traced_bytes: Option<u64>,
        end: u64,
    ) -> Result<Candidate, &'static str> {
        let Options { root, format, unchecked, .. } = self.options;
        let below = match traced.starts_with('/') {
            true => root.below(traced).ok_or("outside of the root")?,
            false => traced,
        };
        let name = PathBuf::from(OsString::from_vec(unescape_path(below)));
        if !name.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err("not a plain path");
        }
        let candidate = match unchecked {
            true => {
                let path = Path::new(&root.new).join(&name);
                let name = name.into_os_string().into_vec();
                Candidate { name, path, file_bytes: traced_bytes.unwrap_or(end), inode: None }
            }
            false => self.here(&name)?,
        };
        if format.has_ranges() && traced_bytes.is_some_and(|bytes| bytes != candidate.file_bytes) {
            return Err("of another size than traced");
        }
        let shown = match format.names_path() {
            true => candidate.path.as_os_str(),
            false => OsStr::from_bytes(&candidate.name),
        };
        match format.refuses(shown.as_bytes()) {
            Some(why) => Err(why),
            None => Ok(candidate),
        }
    }

    /// The file of this name, with links resolved, since a tool would find only the link.
    fn here(&self, name: &Path) -> Result<Candidate, &'static str> {
        let folder = self.folder.as_ref().ok_or("no longer there")?;
        let path = folder.join(name).canonicalize().map_err(|_| "no longer there")?;
        let name = path.strip_prefix(folder).map_err(|_| "outside of the root")?;
        let found = path.metadata().map_err(|_| "no longer there")?;
        if !found.is_file() {
            return Err("not a regular file");
        }
        if found.len() == 0 {
            return Err("empty");
        }
        let name = name.as_os_str().as_bytes().to_vec();
        let inode = Some((found.dev(), found.ino()));
        Ok(Candidate { name, file_bytes: found.len(), path, inode })
    }
}
