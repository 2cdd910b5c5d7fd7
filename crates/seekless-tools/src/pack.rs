//! `seekless pack`: packs a folder into one archive, with its files in the order they are read. All
//! cores compress. The archive appears whole or not at all.

mod arrange;
mod check;
mod exclude;
mod fill;
mod old;
mod path;
mod shrink;
#[cfg(test)]
mod tests;
mod tree;
mod update;

pub use arrange::{OrderUse, place_of};
pub use check::check;
pub use path::relative_to;
pub use seekless_pack::{Codec, Level, PREDICTION, Verified};

use crate::error::{Error, ErrorKind, Result};
use crate::roots::Roots;
use arrange::Arranged;
use exclude::Exclude;
use fill::Ready;
use old::Old;
use seekless_device::DeviceSpec;
use seekless_pack::{About, PackWriter, Written, prepare};
use seekless_policy::eviction::Id;
use seekless_policy::prediction::Model;
use seekless_sys::output::{Content, Destination, Output};
use serde::Serialize;
use std::fs::File;
use std::io::{BufWriter, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
pub use tree::LeftOut;
use tree::{Node, Tree};
pub(crate) use update::some;
pub use update::{Differences, Evidence, Part, Update, codec_of, differences, update};

/// Headers and small entries are gathered into writes of this size.
const WRITE_BYTES: usize = 1 << 20;
/// Of a file too large to be tried whole, three samples of this size decide whether coding is worth
/// it.
const SAMPLE_BYTES: usize = 4 << 20;

/// How to pack.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How entries are coded.
    pub codec: Codec,
    /// Whether the pack is read back and every entry checked before it appears.
    pub verify: bool,
    /// Where traced paths lead now.
    pub roots: Roots,
    /// Files and folders to leave out: globs, of the path relative to the folder if they hold a
    /// `/`, else of the last part.
    pub exclude: Vec<String>,
    /// Whether a pack in the order of runs holds no prediction of the loads that these make.
    pub no_prediction: bool,
    /// Skip the scan of file contents for names of other files (used to place files that no run
    /// loads, and to predict).
    pub no_references: bool,
    /// Whether what a pack cannot hold is an error; without it, it is left out and told.
    pub strict: bool,
    /// Set it from elsewhere to give up: nothing is left behind.
    pub cancel: Arc<AtomicBool>,
}

/// How an order is made of runs; see [`order`](crate::order).
#[derive(Clone, Debug)]
pub struct OrderBy {
    /// One of [`METHODS`](seekless_policy::ordering::METHODS).
    pub method: String,
    /// Bytes of the cache between program and pack; `None` is an unlimited cache.
    pub cache: Option<u64>,
    /// The device from which the pack will be read.
    pub device: DeviceSpec,
}

impl OrderBy {
    /// The order that `method` makes for an unlimited cache and [`DEVICE`](crate::order::DEVICE).
    #[must_use]
    pub fn by(method: &str) -> Self {
        Self { method: method.to_owned(), cache: None, device: crate::order::DEVICE }
    }
}

/// What was packed.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// Entries in all: files and empty folders.
    pub entries: u64,
    /// Empty folders.
    pub directories: u64,
    /// Files stored as they are.
    pub stored: u64,
    /// Files deflated.
    pub deflated: u64,
    /// Files coded with zstd.
    pub zstd: u64,
    /// Content, in bytes.
    pub bytes: u64,
    /// The same in the pack, without headers.
    pub coded_bytes: u64,
    /// The whole pack, in bytes.
    pub archive_bytes: u64,
    /// How much of the given order was found.
    pub order: OrderUse,
    /// What a pack cannot hold.
    pub left_out: LeftOut,
    /// Files and folders that were excluded.
    pub excluded: u64,
    /// Bytes of the pack's prediction ([`PREDICTION`]); 0 if it has none. Only `archive_bytes`
    /// counts them too.
    pub prediction_bytes: u64,
    /// Names of files in the content of others that the prediction holds: only from and to files
    /// that not all runs load.
    pub references: u64,
    /// Whether the pack was read back and checked.
    pub verified: bool,
}

/// Packs the files below `dir` into `out`: first those that `order` names, in that order, then the
/// others by name.
///
/// `order` holds paths relative to `dir`, or absolute ones as a trace records them ([`place_of`]);
/// an empty one packs by name. Paths that `dir` lacks are counted, and are an error only if it
/// lacks all of them. Links are packed as what they point at. `out` itself is left out if it lies
/// in `dir`. Calls `progress` with the bytes of content packed and their total.
///
/// # Errors
/// The message names the path.
///
/// - A file changed while it was packed, or reading or writing failed.
/// - `out` exists and may not be replaced.
/// - The order names only other files, or a glob is malformed.
/// - With `strict`: an entry is not a plain file or folder, a link leads nowhere or out of `dir`,
///   or a name cannot be stored in an archive.
pub fn pack(
    dir: &Path,
    out: impl Into<Destination>,
    order: &[String],
    options: &Options,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Summary> {
    let arrange = |tree: &Tree, _: Hear<'_>| arrange::by_list(tree, order, &options.roots);
    pack_arranged(dir, &out.into(), arrange, options, progress)
}

/// As [`pack`], in the order that `how` makes of the runs in `traces` for the files below `dir`.
/// The pack also holds a [`Model`] of what these runs load, for stores that read ahead, unless they
/// load nothing or `options` say otherwise.
///
/// Files are looked through for names of others ([`references`](crate::references)): by these, the
/// method `best` places files that no run loads, and the model foretells what not all runs load.
///
/// # Errors
/// As [`pack`]; a trace that cannot be read, or no such method.
pub fn pack_for_runs(
    dir: &Path,
    out: impl Into<Destination>,
    traces: &[PathBuf],
    how: &OrderBy,
    options: &Options,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Summary> {
    let arrange = |tree: &Tree, hear: Hear<'_>| arrange::by_runs(tree, traces, how, options, hear);
    pack_arranged(dir, &out.into(), arrange, options, progress)
}

/// Receives the amount done and the total.
type Hear<'a> = &'a mut dyn FnMut(u64, u64);

fn pack_arranged(
    dir: &Path,
    out: &Destination,
    arrange: impl FnOnce(&Tree, Hear<'_>) -> Result<Arranged>,
    options: &Options,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Summary> {
    out.check(Content::Binary)?;
    let tree = Tree::walk(dir, out.file(), &Exclude::new(&options.exclude)?, options.strict)?;
    tree.let_times_settle();
    // Files are looked through before they are packed.
    let to_pack = Progress::new(&tree.nodes, options.verify, progress).total;
    let mut looked = 0;
    let mut hear = |done, all| {
        looked = all;
        progress(done, all + to_pack);
    };
    let arranged = arrange(&tree, &mut hear)?;
    let model = (!options.no_prediction).then(|| model(&arranged));
    let Arranged { files, used, .. } = arranged;
    let steps: Vec<Step> = files.into_iter().map(Step::Pack).collect();
    let mut hear = |done, all| progress(looked + done, looked + all);
    let summary = make(&tree, out, &steps, None, model, options, &mut hear)?;
    Ok(Summary { order: used, ..summary })
}

/// What the runs load, and what names what, by number of the archive whose entries are the files.
fn model(Arranged { files, runs, references, .. }: &Arranged) -> Model {
    let mut place = vec![0; files.len()];
    (0..).zip(files).for_each(|(number, &file)| place[file as usize] = number);
    let numbered = |run: &Vec<Id>| run.iter().map(|&file| place[file as usize]).collect();
    let runs: Vec<Vec<Id>> = runs.iter().map(numbered).collect();
    let references =
        references.renumbered(files.len() as u32, |file| place.get(file as usize).copied());
    Model::train(files.len() as u32, &runs).with_references(references)
}

/// What to write next.
enum Step {
    /// This file of the folder.
    Pack(Id),
    /// These entries of the pack as it was, which lie directly behind each other.
    Copy(Range<u32>),
    /// This entry of the pack as it was, with the second that its file's time has now.
    Retime(u32),
}

/// Writes a pack of `steps`, which appears whole or not at all. `old` is the pack to copy from, and
/// `model` what the pack is to say of its program's loads.
fn make(
    tree: &Tree,
    out: &Destination,
    steps: &[Step],
    old: Option<&Old>,
    model: Option<Model>,
    options: &Options,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Summary> {
    let output = out.create(Content::Binary)?;
    let mut progress = Progress::new(&tree.nodes, options.verify, progress);
    let model = model.filter(|model| model.loads() > 0);
    let references = model.as_ref().map_or(0, |model| model.references().len() as u64);
    let model = model.map(|model| model.to_bytes());
    let (written, archive_bytes) =
        write(&output, tree, steps, old, model.as_deref(), options, &mut progress)?;
    if options.verify {
        let mut tell = |done, total| progress.verified(done, total);
        let checked = check::check_file(output.file(), out.path(), &options.cancel, &mut tell);
        stop_if_cancelled(options)?;
        checked?;
    }
    output.publish()?;
    Ok(Summary {
        entries: written.entries,
        directories: written.directories,
        stored: written.stored,
        deflated: written.deflated,
        zstd: written.zstd,
        bytes: written.bytes,
        coded_bytes: written.coded_bytes,
        archive_bytes,
        order: OrderUse::default(),
        left_out: tree.left_out.clone(),
        excluded: tree.excluded,
        prediction_bytes: model.map_or(0, |bytes| bytes.len() as u64),
        references,
        verified: options.verify,
    })
}

fn stop_if_cancelled(options: &Options) -> Result<()> {
    if options.cancel.load(Ordering::Relaxed) {
        return Err(Error::new(
            ErrorKind::Interrupted,
            "packing was interrupted; nothing was left behind",
        ));
    }
    Ok(())
}

type Writer<'a> = PackWriter<BufWriter<&'a File>>;

/// Returns what was written of the folder, and the bytes of the whole archive.
fn write(
    output: &Output,
    tree: &Tree,
    steps: &[Step],
    old: Option<&Old>,
    model: Option<&[u8]>,
    options: &Options,
    progress: &mut Progress<'_>,
) -> Result<(Written, u64)> {
    let said = |error| {
        Error::because(ErrorKind::Pack, format!("cannot write {}", output.path().display()), error)
    };
    let packed = |step: &Step| match step {
        Step::Pack(file) => Some(&tree.nodes[*file as usize]),
        Step::Copy(_) | Step::Retime(_) => None,
    };
    let nodes: Vec<&Node> = steps.iter().filter_map(packed).collect();
    let mut writer = PackWriter::new(BufWriter::with_capacity(WRITE_BYTES, output.file()));
    let mut steps = steps.iter();
    let mut copy = |writer: &mut Writer<'_>, progress: &mut Progress<'_>| -> Result<()> {
        for step in steps.by_ref() {
            stop_if_cancelled(options)?;
            // Steps that copy come with the pack to copy from.
            let Some(old) = old else { return Ok(()) };
            let copy = |sink: &mut BufWriter<&File>, range| old.copy(range, sink, &options.cancel);
            let (added, entries) = match step {
                Step::Pack(_) => return Ok(()),
                Step::Copy(run) => {
                    let about = |entry| {
                        let (mode, modified) = old.about(entry);
                        (mode, modified.ns)
                    };
                    (writer.add_copied(&old.index, run.clone(), about, copy), run.clone())
                }
                &Step::Retime(entry) => {
                    let (about, head) = (old.about(entry), old.head(entry)?);
                    (writer.add_retimed(&old.index, entry, about, &head, copy), entry..entry + 1)
                }
            };
            added.map_err(said)?;
            progress.add(entries.map(|number| old.index.bytes(number)).sum());
        }
        Ok(())
    };
    let result = fill::in_order(&nodes, options.codec, &options.cancel, |node, ready| {
        // Ends at the step that packs this node.
        copy(&mut writer, progress)?;
        match ready {
            Ready::Entry(entry) => writer.add(entry).map_err(said)?,
            Ready::Large(file) => add_large(&mut writer, output, node, file, options, progress)?,
        }
        progress.add(node.stamp.bytes);
        Ok(())
    });
    stop_if_cancelled(options)?;
    result?;
    copy(&mut writer, progress)?;
    if let Some(old) = old {
        writer.comment(old.index.comment()).map_err(said)?;
    }
    let written = writer.written();
    if let Some(model) = model {
        // Next to the directory, and behind all that its numbers name.
        let about = About::named(PREDICTION);
        let entry = prepare(about, model.to_vec(), Codec::Stored).map_err(said)?;
        writer.add(entry).map_err(said)?;
    }
    let (sink, Written { archive_bytes, .. }) = writer.finish().map_err(said)?;
    drop(sink);
    Ok((written, archive_bytes))
}

/// Streams a file that would not fit beside the others in memory.
fn add_large(
    writer: &mut Writer<'_>,
    output: &Output,
    node: &Node,
    mut file: File,
    options: &Options,
    progress: &mut Progress<'_>,
) -> Result<()> {
    let codec = match options.codec {
        codec @ (Codec::Stored | Codec::Deflate) => codec,
        codec => codec.for_sample(&samples(&file, node)?),
    };
    let mut source = Watched { file: &mut file, cancel: &options.cancel, progress, done: 0 };
    let added = writer.add_stream(&node.about(), &mut source, node.stamp.bytes, codec);
    added.map_err(|error| {
        let what = format!("cannot pack {} into {}", node.path.display(), output.path().display());
        Error::because(ErrorKind::Pack, what, error)
    })?;
    node.check_unchanged(&file)
}

/// Samples of the file's start, middle and end, taken together: by them it is coded or not.
fn samples(file: &File, node: &Node) -> Result<Vec<u8>> {
    let last = node.stamp.bytes.saturating_sub(SAMPLE_BYTES as u64);
    let mut samples = vec![0; 3 * SAMPLE_BYTES];
    for (sample, offset) in samples.chunks_mut(SAMPLE_BYTES).zip([0, last / 2, last]) {
        file.read_exact_at(sample, offset).map_err(|error| Error::unreadable(&node.path, error))?;
    }
    Ok(samples)
}

/// A large file on its way: says how far it is, and stops when asked to.
struct Watched<'a, 'b> {
    file: &'a mut File,
    cancel: &'a AtomicBool,
    progress: &'a mut Progress<'b>,
    done: u64,
}

impl Read for Watched<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(std::io::Error::other("interrupted"));
        }
        let length = self.file.read(buffer)?;
        self.done += length as u64;
        self.progress.within(self.done);
        Ok(length)
    }
}

/// Content bytes packed, and as many again for reading them back.
struct Progress<'a> {
    done: u64,
    bytes: u64,
    total: u64,
    hear: &'a mut dyn FnMut(u64, u64),
}

impl<'a> Progress<'a> {
    fn new(nodes: &[Node], verify: bool, hear: &'a mut dyn FnMut(u64, u64)) -> Self {
        let bytes = nodes.iter().map(|node| node.stamp.bytes).sum();
        Self { done: 0, bytes, total: if verify { 2 * bytes } else { bytes }, hear }
    }

    fn add(&mut self, bytes: u64) {
        self.done += bytes;
        (self.hear)(self.done, self.total);
    }

    fn within(&mut self, bytes: u64) {
        (self.hear)(self.done + bytes, self.total);
    }

    fn verified(&mut self, done: u64, total: u64) {
        let share = u128::from(self.bytes) * u128::from(done) / u128::from(total.max(1));
        (self.hear)(self.bytes + share as u64, self.total);
    }
}
