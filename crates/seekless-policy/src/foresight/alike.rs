//! Which files are alike by name. What a program loads comes in clusters of like names: the
//! pictures of one animation, the parts of one building, the textures of one ground.

use crate::layout::ordering::Kin;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// How many classes a file has, each a part of the one before.
pub const LEVELS: usize = 4;

/// The classes of each file by its name: files of its folder and kind; of these, files whose names
/// begin with the same word; with the same two words; and files whose names differ in digits alone.
///
/// - **Memory:** 24 bytes a file, 4 a folder.
#[derive(Clone, Debug, Default)]
pub struct Alike {
    classes: Vec<[u32; LEVELS]>,
    /// How many classes there are.
    count: u32,
    kin: Kin,
}

impl Alike {
    /// The classes of files with these names, by number. `/` separates folders.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str> + Clone) -> Self {
        let kin = Kin::new(names.clone());
        let mut numbers: HashMap<(u32, u64), u32> = HashMap::new();
        let mut classes = Vec::new();
        for (id, name) in (0..).zip(names) {
            let base = name.rsplit_once('/').map_or(name, |(_, base)| base);
            let stem = base.split('.').next().unwrap_or(base);
            let mut words =
                stem.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
            let folder = u64::from(kin.folder(id)) << 32 | u64::from(kin.kind(id));
            let parts = [folder, hash(words.next()), hash(words.next()), hash_but_digits(stem)];
            // The number of the class before is a part of the key, and no two are equal.
            let mut above = u32::MAX;
            classes.push(parts.map(|part| {
                let count = numbers.len() as u32;
                above = *numbers.entry((above, part)).or_insert(count);
                above
            }));
        }
        Self { classes, count: numbers.len() as u32, kin }
    }

    /// The classes of a file, the widest first. `None` if its name is not known.
    pub(super) fn of(&self, id: u32) -> Option<&[u32; LEVELS]> {
        self.classes.get(id as usize)
    }

    /// How many classes there are.
    pub(super) fn count(&self) -> usize {
        self.count as usize
    }

    /// Folders and kinds.
    pub(super) fn kin(&self) -> &Kin {
        &self.kin
    }
}

fn hash(word: Option<&str>) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}

/// The same for all names that differ in their numbers alone.
fn hash_but_digits(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.split(|c: char| c.is_ascii_digit()).filter(|part| !part.is_empty()).for_each(|part| {
        part.hash(&mut hasher);
    });
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many classes two files share, by their names.
    fn shared(one: &str, other: &str) -> usize {
        let alike = Alike::new([one, other, "x/goat_walk_01.dae"]);
        let (one, other) = (alike.of(0).unwrap(), alike.of(1).unwrap());
        one.iter().zip(other).filter(|(one, other)| one == other).count()
    }

    #[test]
    fn files_share_as_many_classes_as_their_names_are_alike() {
        assert_eq!(shared("lake/normal0001.png", "lake/normal0060.png"), 4);
        assert_eq!(shared("lake/oak_top_a.dds", "lake/oak_top_b.dds"), 3);
        assert_eq!(shared("lake/oak_top.dds", "lake/oak_low.dds"), 2);
        assert_eq!(shared("lake/oak.dds", "lake/elm.dds"), 1);
        assert_eq!(shared("lake/oak.dds", "lake/oak.png"), 0, "another kind");
        assert_eq!(shared("lake/oak.dds", "wood/oak.dds"), 0, "another folder");
    }

    #[test]
    fn a_name_that_is_not_known_has_no_classes() {
        let alike = Alike::new(["a/b.c"]);
        assert_eq!((alike.of(1), alike.count()), (None, LEVELS));
    }
}
