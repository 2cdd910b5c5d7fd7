//! Which files the content of each file names.

use super::names::How;
use seekless_policy::eviction::Id;
use std::collections::{HashMap, HashSet};

/// Mentions that are kept, at most: 6 bytes each.
pub const MENTIONS_MAX: usize = 4 << 20;
/// Of one file, at most.
pub(super) const MENTIONS_OF_FILE_MAX: usize = 4_096;
/// A longer ending of a name does not count as its extension.
const EXTENSION_BYTES_MAX: usize = 8;
const CLASSES_MAX: usize = u16::MAX as usize;

/// What mentions of a class have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Class {
    /// The extension of the file that names, by number.
    pub(super) from: u16,
    /// The extension of the named file.
    pub(super) to: u16,
    pub(super) how: How,
    /// How many files the same file names: 0: up to 4, then up to 16, 64, and more.
    pub(super) named: u8,
}

/// Which files each file of a list names, and how.
#[derive(Clone, Debug, Default)]
pub struct Mentions {
    /// Where the mentions of each file begin, and where those of the last end; or nothing.
    starts: Vec<u32>,
    to: Vec<Id>,
    class: Vec<u16>,
    classes: Vec<Class>,
}

impl Mentions {
    /// From the mentions of each file of `names`, in the order of their places.
    pub(super) fn new(names: &[String], lists: Lists) -> Self {
        let extensions = extensions(names);
        let mut mentions = Self::default();
        let mut numbers: HashMap<Class, u16> = HashMap::new();
        mentions.starts.push(0);
        for (file, list) in lists.finished().iter().enumerate() {
            let named = named_step(list.len());
            for &(to, how) in list {
                let (Some(&from), Some(&extension)) =
                    (extensions.get(file), extensions.get(to as usize))
                else {
                    continue;
                };
                let class = Class { from, to: extension, how, named };
                let next = numbers.len().min(CLASSES_MAX) as u16;
                let number = *numbers.entry(class).or_insert(next);
                if usize::from(number) == mentions.classes.len() {
                    mentions.classes.push(class);
                }
                mentions.to.push(to);
                mentions.class.push(number.min(CLASSES_MAX as u16 - 1));
            }
            mentions.starts.push(mentions.to.len() as u32);
        }
        mentions
    }

    /// The files that `file` names, by number, each with the class of the mention.
    pub fn of(&self, file: Id) -> impl Iterator<Item = (Id, u16)> + '_ {
        let file = file as usize;
        let range = match (self.starts.get(file), self.starts.get(file + 1)) {
            (Some(&start), Some(&end)) => start as usize..end as usize,
            _ => 0..0,
        };
        let classes = self.class[range.clone()].iter().copied();
        self.to[range].iter().copied().zip(classes)
    }

    /// How many mentions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.to.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.to.is_empty()
    }

    /// How many classes of mentions there are.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.classes.len()
    }

    pub(super) fn class(&self, number: u16) -> Option<Class> {
        self.classes.get(usize::from(number)).copied()
    }
}

fn named_step(named: usize) -> u8 {
    match named {
        0..=4 => 0,
        5..=16 => 1,
        17..=64 => 2,
        _ => 3,
    }
}

/// The number of the extension of each name.
fn extensions(names: &[String]) -> Vec<u16> {
    let mut numbers: HashMap<String, u16> = HashMap::new();
    let number = |name: &String| {
        let next = (numbers.len() + 1).min(u16::MAX.into()) as u16;
        extension(name).map_or(0, |extension| *numbers.entry(extension).or_insert(next))
    };
    names.iter().map(number).collect()
}

/// What follows the last dot of a name, in lower case, if it is short.
pub(super) fn extension(name: &str) -> Option<String> {
    let part = name.rsplit('/').next()?;
    let (stem, extension) = part.rsplit_once('.')?;
    (!stem.is_empty() && (1..=EXTENSION_BYTES_MAX).contains(&extension.len()))
        .then(|| extension.to_ascii_lowercase())
}

/// Mentions as they come in, file by file in any order.
pub(super) struct Lists {
    lists: Vec<Vec<(Id, How)>>,
    total: usize,
    /// Of all files.
    max: usize,
}

impl Lists {
    pub(super) fn new(files: usize, max: usize) -> Self {
        Self { lists: vec![Vec::new(); files], total: 0, max }
    }

    pub(super) fn add(&mut self, file: Id, mut found: Vec<(Id, How)>) {
        let Some(list) = self.lists.get_mut(file as usize) else { return };
        found.shrink_to_fit();
        self.total += found.len();
        list.append(&mut found);
        if self.total > 2 * self.max {
            self.shrink();
        }
    }

    /// The same for a file that was read in part before: its mentions of then were found again.
    pub(super) fn add_all(&mut self, file: Id, found: Vec<(Id, How)>) {
        let Some(list) = self.lists.get(file as usize) else { return };
        let known: HashSet<Id> = list.iter().map(|&(to, _)| to).collect();
        self.add(file, found.into_iter().filter(|(to, _)| !known.contains(to)).collect());
    }

    /// Cuts the longest lists until all are within the bound. What comes first in a file stays, so
    /// the result is the same for any order of the files.
    fn shrink(&mut self) {
        let kept = |most: usize| self.lists.iter().map(|list| list.len().min(most)).sum::<usize>();
        let longest = self.lists.iter().map(Vec::len).max().unwrap_or(0);
        let (mut fits, mut too_many) = (0, longest + 1);
        while fits + 1 < too_many {
            let most = fits.midpoint(too_many);
            if kept(most) <= self.max { fits = most } else { too_many = most }
        }
        for list in self.lists.iter_mut().filter(|list| list.len() > fits) {
            list.truncate(fits);
            list.shrink_to_fit();
        }
        self.total = self.lists.iter().map(Vec::len).sum();
    }

    fn finished(mut self) -> Vec<Vec<(Id, How)>> {
        if self.total > self.max {
            self.shrink();
        }
        self.lists
    }
}
