//! What a store loads from: packs and loose folders. Later ones override earlier ones, name by
//! name.
//!
//! To the cache, the planner and the engine it is one archive. Entries are numbered through all
//! sources, and lie in one space of offsets: each source begins far behind the end of the one
//! before, so that no read covers two. Each file of a folder lies alone, likewise.

mod folder;
mod linked;
mod names;

use crate::archive::Archive;
use crate::cached::{NamePlace, Names};
use crate::error::{At, Error};
use crate::links::Links;
use crate::lock;
use crate::statistics::SourceStatistics;
use folder::Folder;
use foldhash::fast::RandomState;
use names::plain;
use seekless_engine::Engine;
use seekless_pack::{Chunks, Entry, Method, PREDICTION, Reading};
use seekless_policy::eviction::Id;
use seekless_policy::layout::extents::Extent;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// The least gap between two sources, or two loose files: more than one read of several entries may
/// cover. A power of two.
const GAP_BYTES: u64 = 1 << 30;

/// Where to load from, before it is opened.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    Archive(PathBuf),
    Folder(PathBuf),
}

/// A source that is open.
pub(crate) enum Source {
    Archive(Box<Archive>),
    Folder(Folder),
}

/// All sources of a store.
pub(crate) struct Sources {
    parts: Vec<Part>,
    /// What each name is, where there are several sources or folders. A single pack's index is
    /// asked itself.
    names: Option<HashMap<Box<str>, Id, RandomState>>,
    /// The entry of a single pack that holds a prediction: it cannot be loaded.
    hidden: Option<Id>,
    /// The symbolic links of all packs.
    links: Links,
    /// How many files there are.
    files: usize,
    /// The chunks of entries that were looked up and have some.
    chunks: Mutex<HashMap<Id, Arc<Chunks>>>,
    /// Where each entry lies in the common space, in the order of their numbers.
    pub(crate) extents: Arc<[Extent]>,
    /// Of the offset and length of a read, in bytes.
    pub(crate) alignment: u64,
}

/// A source, and where it lies among the others.
struct Part {
    source: Source,
    /// The number of its first entry.
    first: Id,
    /// Where it begins in the common space.
    base: u64,
    /// Loads that came to an end, well or not.
    loaded: AtomicU64,
    failed: AtomicU64,
}

/// One entry, as its source knows it.
pub(crate) enum Item<'a> {
    Packed {
        archive: &'a Archive,
        entry: Entry,
        name: &'a str,
    },
    /// A loose file of this many bytes.
    Loose {
        bytes: u64,
    },
}

impl Place {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Archive(path) | Self::Folder(path) => path,
        }
    }
}

impl Source {
    fn open(
        place: &Place,
        direct: bool,
        reading: Reading,
        engine: &dyn Engine,
    ) -> Result<Self, Error> {
        match place {
            Place::Archive(path) => Archive::open(path, direct, reading, engine)
                .map(|archive| Self::Archive(Box::new(archive))),
            Place::Folder(path) => Folder::open(path).map(Self::Folder),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Archive(archive) => &archive.path,
            Self::Folder(folder) => &folder.path,
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Archive(archive) => archive.index.len(),
            Self::Folder(folder) => folder.files.len(),
        }
    }

    fn name(&self, number: Id) -> &str {
        match self {
            Self::Archive(archive) => archive.index.name(number),
            Self::Folder(folder) => &folder.files[number as usize].name,
        }
    }

    fn alignment(&self) -> u64 {
        match self {
            Self::Archive(archive) => archive.alignment,
            Self::Folder(_) => 1,
        }
    }
}

impl Sources {
    /// What is left out of archives, in words: one line for each that has such entries.
    pub(crate) fn left_out(&self) -> Vec<String> {
        let of_part = |part: &Part| match &part.source {
            Source::Archive(archive) if !archive.index.left_out().is_empty() => {
                let words = archive.index.left_out().words();
                Some(format!("{}: {words}", archive.path.display()))
            }
            _ => None,
        };
        self.parts.iter().filter_map(of_part).collect()
    }

    /// Opens all sources; later ones override earlier ones.
    pub(crate) fn open(
        places: &[Place],
        direct: bool,
        reading: Reading,
        engine: &dyn Engine,
    ) -> Result<Self, Error> {
        let (mut parts, mut extents) = (Vec::with_capacity(places.len()), Vec::new());
        for place in places {
            let source = Source::open(place, direct, reading, engine)?;
            let first = Id::try_from(extents.len() + source.len())
                .map(|end| end - source.len() as Id)
                .map_err(|_| Error::open(source.path(), "the store would have over 2^32 files"))?;
            let base = behind(&extents);
            lay_out(&source, base, &mut extents);
            let (loaded, failed) = Default::default();
            parts.push(Part { source, first, base, loaded, failed });
        }
        let alignment = parts.iter().map(|part| part.source.alignment()).max().unwrap_or(1);
        let (names, hidden) = match &parts[..] {
            [Part { source: Source::Archive(archive), .. }] => {
                (None, archive.index.find(PREDICTION))
            }
            parts => (Some(merged(parts)), None),
        };
        let chunks = Mutex::default();
        let extents = extents.into();
        let (links, files) = (Links::default(), 0);
        let mut sources = Self { parts, names, hidden, links, files, chunks, extents, alignment };
        sources.links = sources.linked();
        sources.files = sources.names().count();
        Ok(sources)
    }

    /// The entry called `name`, whatever it is: the last source's that has it.
    fn find_named(&self, name: &str) -> Option<Id> {
        self.find_exactly(name).or_else(|| match plain(name) {
            Cow::Borrowed(_) => None,
            Cow::Owned(plain) => self.find_exactly(&plain),
        })
    }

    fn find_exactly(&self, name: &str) -> Option<Id> {
        match (&self.names, &self.parts[..]) {
            (None, [Part { source: Source::Archive(archive), .. }]) => {
                archive.index.find(name).filter(|id| Some(*id) != self.hidden)
            }
            (Some(names), _) => names.get(name).copied(),
            (None, _) => None,
        }
    }

    /// Whether the store's numbers are those of one pack.
    pub(crate) fn is_single_archive(&self) -> bool {
        self.names.is_none()
    }

    /// How many files there are.
    pub(crate) fn len(&self) -> usize {
        self.files
    }

    /// The first pack.
    pub(crate) fn first_archive(&self) -> Option<&Archive> {
        self.parts.iter().find_map(|part| match &part.source {
            Source::Archive(archive) => Some(&**archive),
            Source::Folder(_) => None,
        })
    }

    /// All packs, each with what the store calls its entry of a number: the number of what is
    /// loaded under that entry's name.
    pub(crate) fn archives(&self) -> impl Iterator<Item = (&Archive, impl Fn(u32) -> Option<Id>)> {
        self.parts.iter().filter_map(move |part| match &part.source {
            Source::Folder(_) => None,
            Source::Archive(archive) => Some((&**archive, move |number: u32| {
                let is_known = (number as usize) < archive.index.entries().len();
                is_known.then(|| self.find(archive.index.name(number)))?
            })),
        })
    }

    /// Which entries lie nearer than their pack, as the engine knows; empty if none does.
    pub(crate) fn near(&self, engine: &dyn Engine) -> Vec<bool> {
        let mut near = Vec::new();
        for part in &self.parts {
            let Source::Archive(archive) = &part.source else { continue };
            let ranges = engine.near(&archive.file);
            if ranges.is_empty() {
                continue;
            }
            near.resize(self.extents.len(), false);
            let first = part.first as usize;
            let held = first..first + archive.index.entries().len();
            for (near, extent) in near[held.clone()].iter_mut().zip(&self.extents[held]) {
                let (begin, end) = (extent.offset - part.base, extent.end() - part.base);
                let after = ranges.partition_point(|range| range.start <= begin);
                *near = after > 0 && end <= ranges[after - 1].end;
            }
        }
        near
    }

    /// The paths of all sources.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.parts.iter().map(|part| part.source.path())
    }

    /// The number of the source that has an entry.
    #[inline]
    fn source_of(&self, id: Id) -> usize {
        match &self.parts[..] {
            [_] => 0,
            parts => parts.partition_point(|part| part.first <= id) - 1,
        }
    }

    /// The path of the source that has an entry.
    pub(crate) fn path_of(&self, id: Id) -> &Path {
        self.part(id).0.source.path()
    }

    /// Where the source of an entry begins in the common space.
    pub(crate) fn base_of(&self, id: Id) -> u64 {
        self.part(id).0.base
    }

    /// Counts a load that has come to its end.
    pub(crate) fn count(&self, id: Id, well: bool) {
        let part = self.part(id).0;
        let count = if well { &part.loaded } else { &part.failed };
        count.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn statistics(&self) -> Vec<SourceStatistics> {
        let of = |part: &Part| SourceStatistics {
            path: part.source.path().to_owned(),
            files: 0,
            loaded: part.loaded.load(Ordering::Relaxed),
            failed: part.failed.load(Ordering::Relaxed),
        };
        let mut found: Vec<_> = self.parts.iter().map(of).collect();
        match &self.names {
            None => found[0].files = self.len() as u64,
            Some(_) => self.names().for_each(|(_, id)| found[self.source_of(id)].files += 1),
        }
        found
    }

    #[inline]
    fn part(&self, id: Id) -> (&Part, Id) {
        let part = &self.parts[self.source_of(id)];
        (part, id - part.first)
    }

    /// An entry as its source knows it.
    pub(crate) fn item(&self, id: Id) -> Item<'_> {
        let (part, number) = self.part(id);
        match &part.source {
            Source::Archive(archive) => Item::Packed {
                archive,
                entry: archive.index.entry(number),
                name: archive.index.name(number),
            },
            Source::Folder(folder) => Item::Loose { bytes: folder.files[number as usize].bytes },
        }
    }

    /// Size of an entry's content in bytes. Each hit asks this.
    #[inline]
    pub(crate) fn bytes(&self, id: Id) -> u64 {
        let (part, number) = self.part(id);
        match &part.source {
            Source::Archive(archive) => archive.index.bytes(number),
            Source::Folder(folder) => folder.files[number as usize].bytes,
        }
    }

    /// Size of its data as it is stored, in bytes.
    pub(crate) fn coded_bytes(&self, id: Id) -> u64 {
        match self.item(id) {
            Item::Packed { entry, .. } => entry.coded_bytes,
            Item::Loose { bytes } => bytes,
        }
    }

    /// The chunks of an entry that can be inflated one by one.
    pub(crate) fn chunks(&self, id: Id) -> Option<Arc<Chunks>> {
        let (part, number) = self.part(id);
        let Source::Archive(archive) = &part.source else { return None };
        if let Some(chunks) = lock(&self.chunks).get(&id) {
            return Some(chunks.clone());
        }
        let chunks = Arc::new(archive.index.chunks(number)?);
        lock(&self.chunks).insert(id, chunks.clone());
        Some(chunks)
    }

    /// Whether the content lies as it is in the source, so that a part of it can be read.
    pub(crate) fn is_stored(&self, id: Id) -> bool {
        match self.item(id) {
            Item::Packed { entry, .. } => entry.method == Method::Stored && !entry.is_encrypted(),
            Item::Loose { .. } => true,
        }
    }

    /// What an entry takes of memory while it is loaded, in bytes: coded and decoded. Both may be
    /// lies near `u64::MAX`.
    pub(crate) fn memory_bytes(&self, id: Id) -> u128 {
        u128::from(self.extents[id as usize].bytes) + u128::from(self.bytes(id))
    }

    /// Where an entry lies, for messages.
    pub(crate) fn at(&self, id: Id) -> At<'_> {
        self.at_offset(id, self.extents[id as usize].offset)
    }

    /// The same of a place in it: an offset of the common space.
    pub(crate) fn at_offset(&self, id: Id, offset: u64) -> At<'_> {
        let (part, number) = self.part(id);
        let base = match part.source {
            Source::Archive(_) => part.base,
            Source::Folder(_) => self.extents[id as usize].offset,
        };
        At {
            archive: part.source.path(),
            entry: part.source.name(number),
            offset: offset.saturating_sub(base),
        }
    }

    /// The file that has the bytes at `offset` of the common space, and their offset there. A loose
    /// file is opened for it.
    pub(crate) fn file(&self, offset: u64) -> io::Result<(Arc<File>, u64)> {
        let last = self.parts.partition_point(|part| part.base <= offset).saturating_sub(1);
        let part = &self.parts[last];
        match &part.source {
            Source::Archive(archive) => Ok((archive.file.clone(), offset - part.base)),
            Source::Folder(folder) => {
                let own = &self.extents[part.first as usize..][..folder.files.len()];
                let number = own.partition_point(|extent| extent.offset <= offset).max(1) - 1;
                Ok((Arc::new(folder.file(number)?), offset - own[number].offset))
            }
        }
    }
}

impl Names for Sources {
    /// The name of an entry, as its source has it. An entry that [`Sources::find`] found is found
    /// by it.
    #[inline]
    fn name(&self, id: Id) -> &str {
        let (part, number) = self.part(id);
        part.source.name(number)
    }

    /// In an archive: its bytes among those of all names. In a folder: the file's number.
    fn place(&self, id: Id) -> NamePlace {
        let (part, number) = self.part(id);
        let place = match &part.source {
            Source::Archive(archive) => archive.index.name_place(number),
            Source::Folder(_) => number..number + 1,
        };
        NamePlace { source: self.source_of(id) as u32, start: place.start, end: place.end }
    }

    #[inline]
    fn is_at(&self, place: NamePlace, name: &str) -> bool {
        let NamePlace { source, start, end } = place;
        match self.parts.get(source as usize).map(|part| &part.source) {
            Some(Source::Archive(archive)) => archive.index.is_at(start..end, name),
            Some(Source::Folder(folder)) => *folder.files[start as usize].name == *name,
            None => false,
        }
    }
}

/// Where the next source begins.
fn behind(extents: &[Extent]) -> u64 {
    extents.last().map_or(0, |last| last.end().saturating_add(2 * GAP_BYTES) & !(GAP_BYTES - 1))
}

fn lay_out(source: &Source, base: u64, extents: &mut Vec<Extent>) {
    match source {
        Source::Archive(archive) => extents.extend(archive.index.entries().map(|entry| Extent {
            offset: base.saturating_add(entry.header_offset),
            bytes: entry.extent_bytes,
        })),
        Source::Folder(folder) => {
            for file in &folder.files {
                // An empty file is read like one of a byte; none comes.
                extents.push(Extent { offset: behind(extents), bytes: file.bytes.max(1) });
            }
        }
    }
}

fn merged(parts: &[Part]) -> HashMap<Box<str>, Id, RandomState> {
    let mut names = HashMap::default();
    for part in parts {
        for number in 0..part.source.len() as Id {
            let name = plain(part.source.name(number));
            if name != PREDICTION {
                names.insert(name.into(), part.first + number);
            }
        }
    }
    names
}
