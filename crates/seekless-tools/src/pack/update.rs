//! Brings a pack up to date with its folder: what has not changed is copied as it lies in the pack,
//! coded.

use super::check::damaged_entries;
use super::evidence::Evidence;
use super::exclude::Exclude;
use super::folders::Folders;
use super::links::Links;
use super::old::Old;
use super::outside;
use super::source::Source;
use super::step::Step;
use super::tree::{Node, Tree};
use super::write::{make, stop_if_cancelled};
use super::{Options, Summary};
use crate::remote::Travelled;
use rayon::prelude::*;
use seekless_job::{Error, Result};
use seekless_pack::{
    Codec, Entry, FileTime, Index, Level, Likeness, Method, NameEncoding, PREDICTION,
};
use seekless_policy::eviction::Id;
use seekless_policy::layout::ordering::{Kin, beside};
use seekless_sys::output::Destination;
use serde::Serialize;
use std::fs::File;
use std::ops::Range;
use std::path::Path;

/// Paths that a message gives as examples.
const EXAMPLES: usize = 5;

/// Where a folder and its pack differ, by name. The names of folders end in `/`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Differences {
    /// Files that the pack has as they were before, and folders whose mode or time has changed.
    pub changed: Vec<String>,
    /// Files and empty folders that the pack lacks.
    pub added: Vec<String>,
    /// Entries whose files or folders are gone.
    pub removed: Vec<String>,
}

impl Differences {
    /// Whether the pack holds the folder as it is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.added.is_empty() && self.removed.is_empty()
    }
}

/// A number of files and the bytes of their content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Part {
    /// Files and empty folders.
    pub files: u64,
    /// Bytes of their content.
    pub bytes: u64,
}

impl Part {
    fn add(&mut self, bytes: u64) {
        self.files += 1;
        self.bytes += bytes;
    }
}

/// What an update did.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Update {
    /// Entries whose content was copied as it is.
    pub kept: Part,
    /// Entries whose files have changed.
    pub rewritten: Part,
    /// Files that are new.
    pub added: Part,
    /// Entries whose files are gone; their bytes are those of the old content.
    pub removed: Part,
    /// Of the rewritten entries, those that were damaged; found only where the pack is verified.
    pub mended: Vec<String>,
    /// In which way what the pack says of its program's loads is damaged; a new pack lacks it.
    pub prediction_fault: Option<String>,
    /// The new pack; `None` if nothing has changed, and the pack was left as it is.
    pub pack: Option<Summary>,
    /// What that cost, if the pack is an object and was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub travelled: Option<Travelled>,
}

/// Says where the folder `dir` and the pack `archive` differ. Of `options`
/// only `exclude`, `links`, `strict` and `names` count.
///
/// # Errors
/// The folder cannot be walked ([`pack`](super::pack)), or the pack cannot be read.
pub fn differences(
    dir: &Path,
    archive: &Path,
    evidence: Evidence,
    options: &Options,
) -> Result<Differences> {
    let tree = Tree::walk(dir, Some(archive), &Exclude::new(&options.exclude)?, options)?;
    let old = Old::open(archive, options.names)?;
    let matched = Matched::new(&tree, &old, evidence)?;
    let folders = Folders::new(&tree, &old.index, evidence);
    let file = |id: Id| tree.nodes[id as usize].name.as_str();
    let changed = matched.changed.iter().map(|pair| file(pair.file));
    let added = matched.added.iter().map(|&id| file(id));
    let new_folders = folders.missing.iter().copied().filter(|folder| folder.is_empty);
    let removed = matched.removed.iter().map(|&entry| old.index.name(entry));
    Ok(Differences {
        changed: owned(
            changed.chain(folders.changed.iter().map(|folder| folder.node.name.as_str())),
        ),
        added: owned(added.chain(new_folders.map(|folder| folder.node.name.as_str()))),
        removed: owned(removed.chain(folders.gone.iter().copied())),
    })
}

fn owned<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    names.map(str::to_owned).collect()
}

/// Makes the pack `archive` hold the folder `dir` as it is now. Entries whose files have not
/// changed are copied as they are, without being decoded, with the time that these have now. The
/// order of what stays is kept; new files lie beside those that are most like them ([`beside`]).
/// Entries whose files are gone are left out, and all folders are written anew. What the pack says
/// of its program's loads stays, unless it is damaged, which is reported. The new pack takes the
/// old one's place when it is whole; a program that has the old one open goes on reading that.
///
/// Of a pack in object storage only its directory is read. What stays is copied where it lies, as
/// far as the provider copies parts of objects (S3's protocol); else it is read and sent. With
/// `verify` all of it is read.
///
/// `options` as for [`pack`](super::pack); the codec is that of rewritten and new files. With
/// `verify` all entries of the old pack are checked first, and damaged ones are packed again.
///
/// # Errors
/// As [`pack`](super::pack); the pack is absent or cannot be read.
pub fn update(
    dir: &Path,
    archive: &Path,
    evidence: Evidence,
    options: &Options,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Update> {
    outside::check(dir, archive)?;
    let tree = Tree::walk(dir, None, &Exclude::new(&options.exclude)?, options)?;
    let mut old = Old::open(archive, options.names)?;
    if options.verify {
        old.source.read_whole().map_err(|error| Error::unreadable(archive, error))?;
    }
    tree.let_times_settle();
    let mut matched = Matched::new(&tree, &old, evidence)?;
    let damaged = match options.verify {
        true => damaged_entries(&old.source, &old.index, &options.cancel, progress),
        false => Vec::new(),
    };
    stop_if_cancelled(options)?;
    let mended = matched.take_out(&damaged);
    let folders = Folders::new(&tree, &old.index, evidence);
    let mut update = matched.counted(&tree, &old.index);
    update.kept.files += folders.empty_kept();
    update.added.files += folders.empty_added();
    update.removed.files += folders.empty_removed(&old.index);
    update.mended = mended.iter().map(|&entry| old.index.name(entry).to_owned()).collect();
    let unwanted = options.no_prediction && old.index.find(PREDICTION).is_some();
    let model = match options.no_prediction {
        true => Ok(None),
        false => old.model(),
    };
    update.prediction_fault = model.as_ref().err().cloned();
    let is_fit = model.is_ok() || !options.verify;
    let is_up_to_date = matched.is_up_to_date()
        && !matched.has_other_abouts(&tree, &old.index)
        && folders.are_exact(&old.index);
    if is_up_to_date && !unwanted && is_fit {
        return Ok(update);
    }
    let out = match &old.source {
        Source::File(_) => Destination::new(archive).replacing(true),
        Source::Object(_) => Destination::nowhere(archive),
    };
    let (steps, old) = (matched.steps(&tree, &old.index), old.with_abouts(matched.abouts(&tree)));
    let model = model.ok().flatten().map(|model| old.renumbered(&model, &tree, &steps));
    let (summary, travelled) = make(&tree, &out, &steps, Some(&old), model, options, progress)?;
    (update.pack, update.travelled) = (Some(summary), travelled);
    Ok(update)
}

/// The codec for an update of a pack, unless the user says: that of its entries.
///
/// # Errors
/// The pack cannot be read.
pub fn codec_of(archive: &Path) -> Result<Codec> {
    let index = Old::open(archive, NameEncoding::default())?.index;
    let zstd = (0..index.len() as u32).any(|number| index.entry(number).method == Method::Zstd);
    Ok(if zstd { Codec::Zstd(Level::default()) } else { Codec::Auto })
}

/// What an update does with links, unless the user says: a pack that has some keeps them.
///
/// # Errors
/// The pack cannot be read.
pub fn links_of(archive: &Path, names: NameEncoding) -> Result<Links> {
    let index = Old::open(archive, names)?.index;
    let has_links = index.entries().any(|entry| entry.is_link());
    Ok(if has_links { Links::Keep } else { Links::Follow })
}

/// The first few of these names, for a message.
pub(crate) fn some(names: &[String]) -> String {
    let shown = names.iter().take(EXAMPLES).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > EXAMPLES { shown + ", ..." } else { shown }
}

/// An entry and its file.
#[derive(Clone, Copy)]
struct Pair {
    entry: u32,
    file: Id,
}

/// Which entry is which file, and what became of it. Pairs are in archive order. For folders see
/// [`Folders`].
#[derive(Default)]
struct Matched {
    kept: Vec<Pair>,
    changed: Vec<Pair>,
    added: Vec<Id>,
    removed: Vec<u32>,
}

impl Matched {
    fn new(tree: &Tree, old: &Old, evidence: Evidence) -> Result<Self> {
        let index = &old.index;
        let mut matched = Self::default();
        let mut pairs = Vec::new();
        for entry in 0..index.len() as u32 {
            match tree.find(index.name(entry)) {
                _ if index.entry(entry).is_dir() => {}
                None if index.name(entry) == PREDICTION => {}
                Some(file) => pairs.push(Pair { entry, file }),
                None => matched.removed.push(entry),
            }
        }
        let same = |pair: &Pair| is_same(&tree.nodes[pair.file as usize], old, pair, evidence);
        let same: Vec<bool> = pairs.par_iter().map(same).collect::<Result<_>>()?;
        let mut known = vec![false; tree.nodes.len()];
        for (pair, same) in pairs.into_iter().zip(same) {
            known[pair.file as usize] = true;
            if same { matched.kept.push(pair) } else { matched.changed.push(pair) }
        }
        matched.added = (0..).zip(known).filter(|(_, known)| !known).map(|(id, _)| id).collect();
        Ok(matched)
    }

    /// Of each entry that is kept, the mode and time that its file has now.
    fn abouts<'a>(&'a self, tree: &'a Tree) -> impl Iterator<Item = (u32, (u32, FileTime))> + 'a {
        let about = |pair: &Pair| {
            let stamp = &tree.nodes[pair.file as usize].stamp;
            (pair.entry, (stamp.mode, stamp.modified))
        };
        self.kept.iter().map(about)
    }

    /// Whether the pack has another mode or time of a file that is as it was.
    fn has_other_abouts(&self, tree: &Tree, index: &Index) -> bool {
        self.kept.iter().any(|pair| has_other_about(&tree.nodes[pair.file as usize], index, pair))
    }

    /// Has these entries packed again, unless they are anyway. Returns which of them that changes.
    fn take_out(&mut self, damaged: &[u32]) -> Vec<u32> {
        let is_damaged = |pair: &Pair| damaged.binary_search(&pair.entry).is_ok();
        let (again, kept) = self.kept.iter().copied().partition(is_damaged);
        let again: Vec<Pair> = again;
        self.kept = kept;
        self.changed.extend(&again);
        self.changed.sort_unstable_by_key(|pair| pair.entry);
        again.iter().map(|pair| pair.entry).collect()
    }

    fn is_up_to_date(&self) -> bool {
        self.changed.is_empty() && self.added.is_empty() && self.removed.is_empty()
    }

    fn counted(&self, tree: &Tree, index: &Index) -> Update {
        let part = |bytes: &mut dyn Iterator<Item = u64>| {
            let mut part = Part::default();
            bytes.for_each(|bytes| part.add(bytes));
            part
        };
        let file = |id: Id| tree.nodes[id as usize].stamp.bytes;
        let entry = |number: u32| index.entry(number).bytes;
        Update {
            kept: part(&mut self.kept.iter().map(|pair| file(pair.file))),
            rewritten: part(&mut self.changed.iter().map(|pair| file(pair.file))),
            added: part(&mut self.added.iter().map(|&id| file(id))),
            removed: part(&mut self.removed.iter().map(|&number| entry(number))),
            mended: Vec::new(),
            prediction_fault: None,
            pack: None,
            travelled: None,
        }
    }

    /// What to write, in its order.
    fn steps(&self, tree: &Tree, index: &Index) -> Vec<Step> {
        let mut stays: Vec<Pair> = self.kept.iter().chain(&self.changed).copied().collect();
        stays.sort_unstable_by_key(|pair| pair.entry);
        let kin = Kin::new(tree.nodes.iter().map(|node| node.name.as_str()));
        let files: Vec<Id> = stays.iter().map(|pair| pair.file).collect();
        let mut copied = vec![None; tree.nodes.len()];
        let can_be_copied = |pair: &&Pair| index.can_be_copied(pair.entry);
        for pair in self.kept.iter().filter(can_be_copied) {
            copied[pair.file as usize] = Some(*pair);
        }
        let mut order: Vec<Id> = beside(&files, tree.nodes.len(), &kin);
        tree.put_links_last(&mut order);
        let mut steps = Vec::new();
        for file in order {
            match (copied[file as usize], steps.last_mut()) {
                (Some(pair), _) if has_other_second(&tree.nodes[file as usize], index, &pair) => {
                    steps.push(Step::Retime(pair.entry));
                }
                (Some(Pair { entry, .. }), Some(Step::Copy(run))) if follows(index, run, entry) => {
                    run.end = entry + 1;
                }
                (Some(Pair { entry, .. }), _) => steps.push(Step::Copy(entry..entry + 1)),
                (None, _) => steps.push(Step::Pack(file)),
            }
        }
        steps
    }
}

/// Whether `entry` lies directly behind a run of others.
fn follows(index: &Index, run: &Range<u32>, entry: u32) -> bool {
    let last = index.entry(run.end - 1);
    run.end == entry && last.header_offset + last.extent_bytes == index.entry(entry).header_offset
}

/// Whether the entry of a file that is as it was says another mode or time of it.
fn has_other_about(node: &Node, index: &Index, pair: &Pair) -> bool {
    let entry = index.entry(pair.entry);
    entry.file_time() != Some(node.stamp.modified.in_steps())
        || entry.mode.is_some_and(|mode| mode != node.stamp.mode)
}

/// Whether it says another second, which stands in both of its headers.
fn has_other_second(node: &Node, index: &Index, pair: &Pair) -> bool {
    index.entry(pair.entry).modified != Some(node.stamp.modified.seconds)
}

fn is_same(node: &Node, old: &Old, pair: &Pair, evidence: Evidence) -> Result<bool> {
    let entry = old.index.entry(pair.entry);
    if node.is_link() != entry.is_link() {
        return Ok(false);
    }
    if let Some(text) = &node.link {
        // To read a link costs no more than its time does.
        let found = entry.holds(&**text);
        return found.map_err(|error| Error::unreadable(&node.path, error));
    }
    let by_time = || entry.likeness(node.stamp.bytes, node.stamp.modified, Some(old.modified));
    let likeness = match evidence {
        Evidence::SizeAndTime => by_time(),
        Evidence::Content if entry.bytes != node.stamp.bytes => Likeness::Changed,
        Evidence::Content => Likeness::Unproven,
    };
    match likeness {
        Likeness::Same => Ok(true),
        Likeness::Changed => Ok(false),
        Likeness::Unproven => has_content(node, &entry),
    }
}

fn has_content(node: &Node, entry: &Entry) -> Result<bool> {
    let found = File::open(&node.path).and_then(|file| entry.holds(file));
    found.map_err(|error| Error::unreadable(&node.path, error))
}
