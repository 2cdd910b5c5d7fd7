//! The files of a folder in a given order: named ones first, the others by name.

use super::path::{plain, relative_to};
use super::tree::{Node, Tree};
use crate::error::{Error, ErrorKind, Result};
use crate::order::order_names_as;
use crate::roots::{self, Root, Roots};
use serde::Serialize;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

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
    /// One of those.
    pub missing_example: Option<String>,
    /// Where the paths were found, if none of them was where it says: by the longest common tail of names.
    pub moved: Option<Root>,
}

/// What `traced` is called in `dir`, whose names `exists` knows: below `dir` ([`relative_to`]); else, since `synth` places
/// absolute paths below its folder, the path without its leading `/`.
pub fn place_of(dir: &Path, traced: &str, exists: impl Fn(&str) -> bool) -> Option<String> {
    let below = relative_to(dir, traced).filter(|name| exists(name));
    below.or_else(|| plain(traced).filter(|name| exists(name)))
}

/// The nodes in a new order, and how much of it was found.
pub(super) type Arranged<'a> = (Vec<&'a Node>, OrderUse);

/// The nodes of `tree` in `order`, the others after them by name.
pub(super) fn by_list<'a>(tree: &'a Tree, order: &[String], roots: &Roots) -> Result<Arranged<'a>> {
    let (nodes, used) = placed_by_list(tree, order, &roots.resolved());
    if used.fits() {
        return Ok((nodes, used));
    }
    let traced: Vec<&str> = order.iter().map(String::as_str).collect();
    let root = moved(tree, &traced).ok_or_else(|| used.strange(tree))?;
    let (nodes, used) = placed_by_list(tree, order, &Roots::new(vec![root.clone()]));
    Ok((nodes, OrderUse { moved: Some(root), ..used }))
}

fn placed_by_list<'a>(tree: &'a Tree, order: &[String], roots: &Roots) -> Arranged<'a> {
    let numbers = numbers(tree);
    let mut placed = vec![false; tree.nodes.len()];
    let mut nodes = Vec::with_capacity(tree.nodes.len());
    let mut used = OrderUse { given: order.len() as u64, ..OrderUse::default() };
    for traced in order {
        let name = place_of(&tree.dir, &roots.apply(traced), |name| numbers.contains_key(name));
        match name.and_then(|name| numbers.get(name.as_str()).copied()) {
            None => used.miss(traced),
            Some(number) if placed[number] => used.repeated += 1,
            Some(number) => {
                placed[number] = true;
                nodes.push(&tree.nodes[number]);
                used.placed += 1;
            }
        }
    }
    nodes.extend(tree.nodes.iter().zip(placed).filter(|(_, placed)| !placed).map(|(node, _)| node));
    (nodes, used)
}

/// The nodes of `tree` as `method` lays them out for the runs of `traces`.
pub(super) fn by_runs<'a>(
    tree: &'a Tree,
    traces: &[PathBuf],
    method: &str,
    roots: &Roots,
) -> Result<Arranged<'a>> {
    let (nodes, seen) = placed_by_runs(tree, traces, method, &roots.resolved())?;
    if seen.used.fits() {
        return Ok((nodes, seen.used));
    }
    let traced: Vec<&str> = seen.paths.iter().map(String::as_str).collect();
    let root = moved(tree, &traced).ok_or_else(|| seen.used.strange(tree))?;
    let (nodes, seen) = placed_by_runs(tree, traces, method, &Roots::new(vec![root.clone()]))?;
    Ok((nodes, OrderUse { moved: Some(root), ..seen.used }))
}

fn placed_by_runs<'a>(
    tree: &'a Tree,
    traces: &[PathBuf],
    method: &str,
    roots: &Roots,
) -> Result<(Vec<&'a Node>, Seen)> {
    let numbers = numbers(tree);
    let universe: Vec<_> = tree.nodes.iter().map(|node| (node.name.clone(), node.stamp.bytes)).collect();
    let seen = RefCell::new(Seen::default());
    let place = |traced: &str| {
        let name = place_of(&tree.dir, &roots.apply(traced), |name| numbers.contains_key(name));
        seen.borrow_mut().note(traced, name.is_some());
        name
    };
    let names = order_names_as(traces, &universe, method, None, &place)?;
    let nodes = names
        .iter()
        .filter_map(|name| numbers.get(name.as_str()))
        .map(|&number| &tree.nodes[number])
        .collect();
    Ok((nodes, seen.into_inner()))
}

/// Where the tree lay when it was traced, to judge by the tails of names.
fn moved(tree: &Tree, traced: &[&str]) -> Option<Root> {
    roots::guess(tree.nodes.iter().map(|node| node.name.as_str()), traced)
}

fn numbers(tree: &Tree) -> HashMap<&str, usize> {
    tree.nodes.iter().enumerate().map(|(number, node)| (node.name.as_str(), number)).collect()
}

/// Counts each traced path once, in however many runs it stands.
#[derive(Default)]
struct Seen {
    paths: HashSet<String>,
    used: OrderUse,
}

impl Seen {
    fn note(&mut self, traced: &str, found: bool) {
        if self.paths.insert(traced.to_owned()) {
            self.used.given += 1;
            if found { self.used.placed += 1 } else { self.used.miss(traced) }
        }
    }
}

impl OrderUse {
    fn miss(&mut self, traced: &str) {
        self.missing += 1;
        if self.missing_example.is_none() {
            self.missing_example = Some(traced.to_owned());
        }
    }

    /// Whether the folder has something of the order, or nothing was asked.
    fn fits(&self) -> bool {
        self.given == 0 || self.placed > 0
    }

    /// An order that has nothing of the folder was made for another one.
    fn strange(&self, tree: &Tree) -> Error {
        let why = format!(
            "none of the {} paths of the order is in {}, for example {:?}; name the folder that the program read from, or say with --root OLD=NEW where that was",
            self.given,
            tree.dir.display(),
            self.missing_example.as_deref().unwrap_or_default()
        );
        Error::new(ErrorKind::Missing, why)
    }
}
