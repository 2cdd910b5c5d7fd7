//! A pack that is brought up to date: what is copied from it, and what it says of its program's
//! loads.

use super::source::Source;
use super::step::Step;
use super::tree::Tree;
use seekless_job::{Error, ErrorKind, Result};
use seekless_pack::{FileTime, Index, NameEncoding, PREDICTION, ReadAt, Reading, decode};
use seekless_policy::eviction::Id;
use seekless_policy::foresight::prediction::Model;
use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The most that a local header can take: its fixed part, a name and an extra field.
const HEAD_BYTES: u64 = 30 + 2 * u16::MAX as u64;

/// The pack as it was.
pub(super) struct Old {
    pub(super) source: Source,
    pub(super) index: Index,
    /// When it was modified itself. An object's clock is another, so it is as old as its newest
    /// file then was.
    pub(super) modified: FileTime,
    /// The Unix mode and the time that each entry's file has now.
    abouts: Vec<(u32, FileTime)>,
    path: PathBuf,
}

impl Old {
    pub(super) fn open(archive: &Path, names: NameEncoding) -> Result<Self> {
        let source = Source::open(archive)?;
        let unreadable = |error| Error::unreadable(archive, error);
        let bytes = source.bytes().map_err(unreadable)?;
        let reading = Reading { strict: true, names };
        let index = Index::open_as(&source, bytes, reading).map_err(|error| {
            let what = format!("cannot read the pack {}", archive.display());
            Error::because(ErrorKind::Pack, what, error)
        })?;
        let modified = match &source {
            Source::File(file) => {
                let metadata = file.metadata().map_err(unreadable)?;
                FileTime::new(metadata.mtime(), metadata.mtime_nsec())
            }
            Source::Object(_) => {
                let times = index.entries().filter_map(|entry| entry.file_time());
                times.max_by_key(|time| time.total_ns()).unwrap_or_default()
            }
        };
        Ok(Self { source, index, modified, abouts: Vec::new(), path: archive.to_owned() })
    }

    /// As it is, with the mode and time that the files of these entries have now.
    pub(super) fn with_abouts(
        mut self,
        abouts: impl Iterator<Item = (u32, (u32, FileTime))>,
    ) -> Self {
        self.abouts = vec![(0, FileTime::default()); self.index.len()];
        abouts.for_each(|(entry, about)| self.abouts[entry as usize] = about);
        self
    }

    /// What the pack says of its program's loads, if it says something; an error says in which way
    /// that is damaged.
    pub(super) fn model(&self) -> std::result::Result<Option<Model>, String> {
        let Some(number) = self.index.find(PREDICTION) else { return Ok(None) };
        let entry = self.index.entry(number);
        if entry.bytes > Model::BYTES_MAX || entry.extent_bytes > 2 * Model::BYTES_MAX {
            return Err(format!("{PREDICTION} is larger than any prediction"));
        }
        let mut extent = vec![0; entry.extent_bytes as usize];
        let read = self.source.read_exact_at(&mut extent, entry.header_offset);
        read.map_err(|error| format!("{PREDICTION} cannot be read: {error}"))?;
        let mut bytes = Vec::new();
        decode(&entry, PREDICTION, &extent, &mut bytes).map_err(|error| error.to_string())?;
        let model = Model::from_bytes(&bytes);
        model.map(Some).map_err(|error| format!("{PREDICTION}: {error}"))
    }

    /// What the pack says of its program's loads, in the numbers of the pack that `steps` make.
    pub(super) fn renumbered(&self, model: &Model, tree: &Tree, steps: &[Step]) -> Model {
        let mut numbers = HashMap::new();
        for step in steps {
            let mut add = |name: &'_ str| {
                let number = numbers.len() as Id;
                numbers.insert(name.to_owned(), number);
            };
            match step {
                Step::Pack(file) => add(&tree.nodes[*file as usize].name),
                Step::Copy(run) => run.clone().for_each(|entry| add(self.index.name(entry))),
                Step::Retime(entry) => add(self.index.name(*entry)),
            }
        }
        let known = |id: Id| (id as usize) < self.index.entries().len();
        let of = |id: Id| known(id).then(|| numbers.get(self.index.name(id)).copied())?;
        model.renumbered(numbers.len() as u32, of)
    }

    /// The Unix mode and the time that the entry's file has now.
    pub(super) fn about(&self, entry: u32) -> (u32, FileTime) {
        self.abouts[entry as usize]
    }

    /// The first bytes of an entry: at least its local header.
    pub(super) fn head(&self, number: u32) -> Result<Vec<u8>> {
        let entry = self.index.entry(number);
        let mut head = vec![0; entry.extent_bytes.min(HEAD_BYTES) as usize];
        let read = self.source.read_exact_at(&mut head, entry.header_offset);
        read.map_err(|error| Error::unreadable(&self.path, error))?;
        Ok(head)
    }
}
