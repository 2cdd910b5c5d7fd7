//! `seekless pack`: packs a folder, or what another archive holds, into one archive, with its files
//! in the order they are read. All cores compress. The archive appears whole or not at all.

mod archive;
mod arrange;
mod check;
mod evidence;
mod exclude;
mod fill;
mod folders;
mod from;
mod links;
mod node;
mod old;
mod outside;
mod path;
mod shrink;
mod source;
mod step;
#[cfg(test)]
mod tests;
mod tree;
mod update;
mod write;

pub use arrange::{OrderUse, place_of};
pub use check::{check, check_named};
pub use evidence::Evidence;
pub use links::Links;
pub use path::relative_to;
pub use seekless_pack::{Codec, Level, NameEncoding, PREDICTION, Verified};

use arrange::Arranged;
use exclude::Exclude;
use seekless_device::DeviceSpec;
use seekless_job::Result;
use seekless_job::roots::Roots;
use seekless_policy::eviction::Id;
use seekless_policy::foresight::prediction::Model;
use seekless_sys::output::{Content, Destination};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use step::Step;
pub use tree::LeftOut;
use tree::Tree;
pub(crate) use update::some;
pub use update::{Differences, Part, Update, codec_of, differences, links_of, update};
use write::{Progress, make};

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
    /// What becomes of the folder's symbolic links. Those of an archive are kept.
    pub links: Links,
    /// Whether a pack in the order of runs holds no prediction of the loads that these make.
    pub no_prediction: bool,
    /// Skip the scan of file contents for names of other files (used to place files that no run
    /// loads, and to predict).
    pub no_references: bool,
    /// Whether what a pack cannot hold is an error; without it, it is left out and listed.
    pub strict: bool,
    /// In which characters the names of an archive are that is read, unless it says so itself.
    pub names: NameEncoding,
    /// Set it from elsewhere to give up: nothing is left behind.
    pub cancel: Arc<AtomicBool>,
}

/// How an order is made of runs; see [`order`](crate::order).
#[derive(Clone, Debug)]
pub struct OrderBy {
    /// One of [`METHODS`](seekless_policy::layout::ordering::METHODS).
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
    /// Files, links and empty folders.
    pub entries: u64,
    /// Empty folders.
    pub directories: u64,
    /// Folders in all: each has an entry, which keeps its mode and time.
    pub folders: u64,
    /// Symbolic links that are kept.
    pub links: u64,
    /// Files and links stored as they are.
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
/// others by name. Behind them lie the folders below `dir`, which keep their modes and times.
///
/// `order` holds paths relative to `dir`, or absolute ones as a trace records them ([`place_of`]);
/// an empty one packs by name. Paths that `dir` lacks are counted, and are an error only if it
/// lacks all of them. A path through a link places what it leads to. Calls `progress` with the
/// bytes of content packed and their total.
///
/// # Errors
/// The message names the path.
///
/// - A file changed while it was packed, or reading or writing failed.
/// - `out` exists and may not be replaced, or lies in `dir`.
/// - The order names only other files, or a glob is malformed.
/// - With `strict`: an entry is not a plain file or folder, a link that is followed leads nowhere
///   or out of `dir`, or a name cannot be stored in an archive.
pub fn pack(
    dir: &Path,
    out: impl Into<Destination>,
    order: &[String],
    options: &Options,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Summary> {
    let arrange = |tree: &Tree, _: Hear<'_>| arrange::by_list(tree, order, &options.roots);
    pack_arranged(Source::Folder(dir), &out.into(), arrange, options, progress)
}

/// Packs the entries of the Zip archive `from`, which any tool may have made, into `out`, in the
/// order as for [`pack`]. Modes and times stay, folders and links too. What cannot be read or has
/// no place in a pack is left out and counted by reason. The content is held in memory a few files
/// at a time, of large ones a part.
///
/// # Errors
/// As [`pack`]; an entry is damaged; `out` is `from`; with `options.strict`: an entry would be left
/// out.
pub fn repack(
    from: &Path,
    out: impl Into<Destination>,
    order: &[String],
    options: &Options,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Summary> {
    let arrange = |tree: &Tree, _: Hear<'_>| arrange::by_list(tree, order, &options.roots);
    pack_arranged(Source::Archive(from), &out.into(), arrange, options, progress)
}

/// As [`repack`], in the order that `how` makes of the runs in `traces`, which the pack then says,
/// as that of [`pack_for_runs`]. No file is looked through for names of others.
///
/// # Errors
/// As [`repack`] and [`pack_for_runs`].
pub fn repack_for_runs(
    from: &Path,
    out: impl Into<Destination>,
    traces: &[PathBuf],
    how: &OrderBy,
    options: &Options,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Summary> {
    let arrange = |tree: &Tree, hear: Hear<'_>| arrange::by_runs(tree, traces, how, options, hear);
    pack_arranged(Source::Archive(from), &out.into(), arrange, options, progress)
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
    pack_arranged(Source::Folder(dir), &out.into(), arrange, options, progress)
}

/// What is packed.
#[derive(Clone, Copy)]
enum Source<'a> {
    Folder(&'a Path),
    Archive(&'a Path),
}

impl Source<'_> {
    /// Refuses an output that this source does not allow.
    fn check_output(self, out: &Path) -> Result<()> {
        match self {
            Self::Folder(dir) => outside::check(dir, out),
            Self::Archive(archive) => from::check_output(archive, out),
        }
    }

    /// Its files and folders. A change after this shows in a file's time.
    fn tree(self, options: &Options) -> Result<Tree> {
        match self {
            Self::Folder(dir) => {
                let tree = Tree::walk(dir, None, &Exclude::new(&options.exclude)?, options)?;
                tree.let_times_settle();
                Ok(tree)
            }
            Self::Archive(archive) => from::tree(archive, options),
        }
    }
}

/// Receives the amount done and the total.
type Hear<'a> = &'a mut dyn FnMut(u64, u64);

fn pack_arranged(
    source: Source<'_>,
    out: &Destination,
    arrange: impl FnOnce(&Tree, Hear<'_>) -> Result<Arranged>,
    options: &Options,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Summary> {
    out.file().map_or(Ok(()), |out| source.check_output(out))?;
    out.check(Content::Binary)?;
    let tree = source.tree(options)?;
    // Files are looked through before they are packed.
    let to_pack = Progress::new(&tree.nodes, options.verify, progress).total;
    let mut looked = 0;
    let mut hear = |done, all| {
        looked = all;
        progress(done, all + to_pack);
    };
    let mut arranged = arrange(&tree, &mut hear)?;
    tree.put_links_last(&mut arranged.files);
    let model = (!options.no_prediction).then(|| model(&arranged));
    let Arranged { files, used, .. } = arranged;
    let steps: Vec<Step> = files.into_iter().map(Step::Pack).collect();
    let mut hear = |done, all| progress(looked + done, looked + all);
    let (summary, _) = make(&tree, out, &steps, None, model, options, &mut hear)?;
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
