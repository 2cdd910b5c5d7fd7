//! Puts the files of a folder into a given order: first those that it names, then the others by
//! name.

use super::path::{plain, relative_to};
use super::tree::{Node, Tree};
use super::{Hear, Options, OrderBy, shrink};
use crate::order::{self, Learn};
use crate::references;
use seekless_device::units::counted;
use seekless_job::roots::{self, Root, Roots};
use seekless_job::{Error, ErrorKind, Result};
use seekless_policy::eviction::Id;
use seekless_policy::foresight::references::References;
use serde::Serialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// An order that is no list of paths may have lines of any length.
const EXAMPLE_CHARS: usize = 200;

/// The name of what is not looked through for names, and is named nowhere.
const NO_NAME: &str = "/";

/// How an order met the folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OrderUse {
    /// Paths that the order, or the runs it was made from, gave.
    pub given: u64,
    /// Files of the folder among them.
    pub placed: u64,
    /// Paths of an order that were given again: the first counts.
    pub repeated: u64,
    /// Paths that the folder does not have.
    pub missing: u64,
    /// One of those; of a long one, the beginning.
    pub missing_example: Option<String>,
    /// Where the paths were found, if none of them was where it says: by the longest common tail of
    /// names.
    pub moved: Option<Root>,
}

/// What `find` knows of the file that was traced as `traced`. It is asked for names below `dir`
/// ([`relative_to`]) first and, since `synth` places absolute paths below its folder, then for the
/// path without its leading `/`.
pub fn place_of<T>(dir: &Path, traced: &str, find: impl Fn(&str) -> Option<T>) -> Option<T> {
    let below = relative_to(dir, traced).and_then(|name| find(&name));
    below.or_else(|| find(&plain(traced)?))
}

/// The files of a tree in their new order.
pub(super) struct Arranged {
    /// All files, by number.
    pub(super) files: Vec<Id>,
    /// How much of the order was found.
    pub(super) used: OrderUse,
    /// What the runs that the order was made of load, by number of the tree.
    pub(super) runs: Vec<Vec<Id>>,
    /// Which files name which, but for those that all runs load, by number of the tree.
    pub(super) references: References,
}

/// The files of `tree` in `order`, the others after them by name.
pub(super) fn by_list(tree: &Tree, order: &[String], roots: &Roots) -> Result<Arranged> {
    let paths: Vec<&str> = order.iter().map(String::as_str).collect();
    let arranged = placed_by_list(tree, &paths, &roots.resolved());
    if arranged.used.fits() {
        return Ok(arranged);
    }
    let root = moved(tree, &paths).ok_or_else(|| arranged.used.strange(tree))?;
    let mut arranged = placed_by_list(tree, &paths, &Roots::new(vec![root.clone()]));
    arranged.used.moved = Some(root);
    Ok(arranged)
}

fn placed_by_list(tree: &Tree, paths: &[&str], roots: &Roots) -> Arranged {
    let mut placed = vec![false; tree.nodes.len()];
    let mut files = Vec::with_capacity(tree.nodes.len());
    let mut used = OrderUse { given: paths.len() as u64, ..OrderUse::default() };
    for traced in paths {
        match find(tree, traced, roots) {
            None => used.miss(traced),
            Some(file) if placed[file as usize] => used.repeated += 1,
            Some(file) => {
                placed[file as usize] = true;
                files.push(file);
                used.placed += 1;
            }
        }
    }
    files.extend((0..).zip(placed).filter(|(_, placed)| !placed).map(|(file, _)| file));
    Arranged { files, used, runs: Vec::new(), references: References::default() }
}

/// The files of `tree` as `how` lays them out for the runs of `traces`.
pub(super) fn by_runs(
    tree: &Tree,
    traces: &[PathBuf],
    how: &OrderBy,
    options: &Options,
    hear: Hear<'_>,
) -> Result<Arranged> {
    order::known(&how.method)?;
    order::check_sizes(tree.nodes.iter().map(|node| (node.name.as_str(), node.stamp.bytes)))?;
    let runs = order::read_runs(traces, &Roots::default())?;
    let mut numbered = Numbered::new(tree, &runs, &options.roots.resolved());
    if !numbered.used.fits() {
        let root = moved(tree, &numbered.paths).ok_or_else(|| numbered.used.strange(tree))?;
        numbered = Numbered::new(tree, &runs, &Roots::new(vec![root.clone()]));
        numbered.used.moved = Some(root);
    }
    let loads: Vec<&[Id]> = numbered.loads.iter().map(Vec::as_slice).collect();
    let bytes: Vec<u64> = tree.nodes.iter().map(|node| node.stamp.bytes).collect();
    let learn = match options.no_references {
        true => None,
        false => learner(tree, &bytes, &loads, options, hear)?,
    };
    let names = tree.nodes.iter().map(|node| node.name.as_str());
    let files = order::Files::new(names, bytes)
        .coded(&shrink::coded_bytes(tree, options.codec))
        .learning(learn.clone());
    let files = order::by_name(&how.method, &files, &loads, &how.device, how.cache)?.0;
    let references = learn.map(|learn| learn(&loads)).unwrap_or_default();
    Ok(Arranged { files, used: numbered.used, runs: numbered.loads, references })
}

/// Learns from runs which files of the tree name which; `None` if there is nothing to foretell. The
/// content of an archive is not looked through.
fn learner(
    tree: &Tree,
    bytes: &[u64],
    loads: &[&[Id]],
    options: &Options,
    hear: Hear<'_>,
) -> Result<Option<Learn>> {
    let mut had = vec![false; tree.nodes.len()];
    loads.iter().copied().flatten().for_each(|&file| had[file as usize] = true);
    let is_archive = tree.nodes.iter().any(|node| node.packed.is_some());
    if is_archive || !had.contains(&true) || !had.contains(&false) {
        return Ok(None);
    }
    // A link has no content to look through, and its target is found by its own name.
    let name = |node: &Node| if node.is_link() { NO_NAME.to_owned() } else { node.name.clone() };
    let names: Vec<String> = tree.nodes.iter().map(name).collect();
    let files = references::Files { names: &names, bytes };
    let mentions = references::scan_folder(&tree.dir, files, &options.cancel, hear)?;
    Ok(Some(order::learner(mentions, tree.nodes.len())))
}

/// The number of the file that was traced as `traced`, perhaps through links.
fn find(tree: &Tree, traced: &str, roots: &Roots) -> Option<Id> {
    place_of(&tree.dir, &roots.apply(traced), |name| tree.find_file(name))
}

/// Where the tree lay when it was traced, to judge by the tails of names.
fn moved(tree: &Tree, traced: &[&str]) -> Option<Root> {
    roots::guess(tree.nodes.iter().map(|node| node.name.as_str()), traced)
}

/// What runs load, by the tree's numbers.
#[derive(Default)]
struct Numbered<'a> {
    /// The loads of each run; files that the tree lacks are left out.
    loads: Vec<Vec<Id>>,
    /// Each path that any run loads, once, in order of first load.
    paths: Vec<&'a str>,
    used: OrderUse,
}

impl<'a> Numbered<'a> {
    fn new(tree: &Tree, runs: &'a [order::Run], roots: &Roots) -> Self {
        let mut numbered = Numbered::default();
        let mut by_path: HashMap<&str, Option<Id>> = HashMap::new();
        for run in runs {
            let mut file_of = |path: &'a str| {
                *by_path.entry(path).or_insert_with(|| {
                    let file = find(tree, path, roots);
                    numbered.paths.push(path);
                    numbered.used.note(path, file.is_some());
                    file
                })
            };
            numbered.loads.push(run.paths().filter_map(&mut file_of).collect());
        }
        numbered
    }
}

impl OrderUse {
    /// Counts a traced path that was not seen before.
    fn note(&mut self, traced: &str, found: bool) {
        self.given += 1;
        if found { self.placed += 1 } else { self.miss(traced) }
    }

    fn miss(&mut self, traced: &str) {
        self.missing += 1;
        if self.missing_example.is_none() {
            self.missing_example = Some(traced.chars().take(EXAMPLE_CHARS).collect());
        }
    }

    /// Whether the folder has something of the order, or nothing was asked.
    fn fits(&self) -> bool {
        self.given == 0 || self.placed > 0
    }

    /// An order that has nothing of the folder was made for another one.
    fn strange(&self, tree: &Tree) -> Error {
        let why = format!(
            "of {} in the order none is in {}, for example {:?}; name the folder that the program read from, or say with --root OLD=NEW where that was",
            counted(self.given, "path"),
            tree.dir.display(),
            self.missing_example.as_deref().unwrap_or_default()
        );
        Error::new(ErrorKind::Missing, why)
    }
}
