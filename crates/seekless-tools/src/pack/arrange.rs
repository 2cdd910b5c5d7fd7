//! The files of a folder in a given order: named ones first, the others by name.

use super::path::{plain, relative_to};
use super::tree::{Node, Tree};
use crate::error::{Error, ErrorKind, Result};
use serde::Serialize;
use std::collections::HashMap;
use std::path::Path;

/// How an order met the folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OrderUse {
    /// Paths that the order gave.
    pub given: u64,
    /// Files placed by it.
    pub placed: u64,
    /// Paths given again: the first counts.
    pub repeated: u64,
    /// Paths that the folder does not have.
    pub missing: u64,
    /// One of those.
    pub missing_example: Option<String>,
}

/// What `traced` is called in `dir`, whose names `exists` knows: below `dir` ([`relative_to`]); else, since `synth` places
/// absolute paths below its folder, the path without its leading `/`.
pub fn place_of(dir: &Path, traced: &str, exists: impl Fn(&str) -> bool) -> Option<String> {
    let below = relative_to(dir, traced).filter(|name| exists(name));
    below.or_else(|| plain(traced).filter(|name| exists(name)))
}

/// The nodes of `tree` in `order`, the others after them by name.
pub(super) fn arrange<'a>(tree: &'a Tree, order: &[String]) -> Result<(Vec<&'a Node>, OrderUse)> {
    let numbers: HashMap<&str, usize> =
        tree.nodes.iter().enumerate().map(|(at, node)| (node.name.as_str(), at)).collect();
    let mut placed = vec![false; tree.nodes.len()];
    let mut nodes = Vec::with_capacity(tree.nodes.len());
    let mut used = OrderUse { given: order.len() as u64, ..OrderUse::default() };
    for traced in order {
        let name = place_of(&tree.dir, traced, |name| numbers.contains_key(name));
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
    if used.given > 0 && used.placed == 0 {
        return Err(nothing_matches(tree, &used));
    }
    nodes.extend(tree.nodes.iter().zip(placed).filter(|(_, placed)| !placed).map(|(node, _)| node));
    Ok((nodes, used))
}

impl OrderUse {
    fn miss(&mut self, traced: &str) {
        self.missing += 1;
        if self.missing_example.is_none() {
            self.missing_example = Some(traced.to_owned());
        }
    }
}

fn nothing_matches(tree: &Tree, used: &OrderUse) -> Error {
    let why = format!(
        "none of the {} paths of the order is in {}, for example {:?}; name the folder that the program read from, or give paths relative to it",
        used.given,
        tree.dir.display(),
        used.missing_example.as_deref().unwrap_or_default()
    );
    Error::new(ErrorKind::Missing, why)
}
