//! The tour's sample tree: the files of a made-up game, with the sizes of a real one's.
//!
//! The sizes follow the 36,051 files of 0 A.D.: a quarter below 550 bytes, half below 1.7 KB, three
//! quarters below 41 KB, and a long tail. They are cut at 2.5 MB, so that the whole tree stays near
//! 120 MB. A file's kind decides its quarter.
//!
//! So do the names. In five starts of 0 A.D., the files that a start loads lie in pieces of 1.7
//! files in the order of names. Of a folder that has a file that every start loads, every start
//! loads three fifths; the others are for other menus, languages and machines.

use super::dice::Dice;

/// About how many files the full sample has.
pub(crate) const FULL_FILES: usize = 3_000;

/// Files of the full sample that every run loads, and files that hardly any does.
const CORE_FILES: usize = 170;
const EXTRA_FILES: usize = 350;

/// The parts of the game, as indexes of files. A run loads some groups and not others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    /// Loaded at every start, in this order: shaders, interface, configuration.
    pub(crate) core: Vec<usize>,
    /// Units of each faction; a unit is the files that one thing on screen needs.
    pub(crate) factions: Vec<Vec<Vec<usize>>>,
    /// Terrain of each biome.
    pub(crate) biomes: Vec<Vec<usize>>,
    /// Files of each map that no other map has.
    pub(crate) maps: Vec<Vec<usize>>,
    /// Music, campaigns, credits: loaded at random.
    pub(crate) extras: Vec<usize>,
}

/// The files' names and sizes, and which belong together.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) paths: Vec<String>,
    pub(crate) bytes: Vec<u64>,
    pub(crate) groups: Groups,
}

impl Sample {
    /// Makes about `files` files, at least a few dozen. The same number gives the same files.
    pub(crate) fn new(files: usize) -> Self {
        let mut maker = Maker { paths: Vec::new(), bytes: Vec::new(), dice: Dice::new(0x5EED) };
        let scaled = |count: usize| (count * files / FULL_FILES).max(1);
        let groups = Groups {
            core: maker.core(scaled(CORE_FILES)),
            factions: (0..8).map(|faction| maker.faction(faction, scaled(30))).collect(),
            biomes: (0..6).map(|biome| maker.biome(biome, scaled(60))).collect(),
            maps: (0..scaled(40)).map(|map| maker.map(map)).collect(),
            extras: maker.extras(scaled(EXTRA_FILES), scaled(CORE_FILES)),
        };
        Sample { paths: maker.paths, bytes: maker.bytes, groups }
    }

    /// Bytes of all files.
    pub(crate) fn total_bytes(&self) -> u64 {
        self.bytes.iter().sum()
    }
}

/// The quarter of the sizes that a kind of file falls into.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Size {
    Tiny,
    Small,
    Medium,
    Large,
}

struct Maker {
    paths: Vec<String>,
    bytes: Vec<u64>,
    dice: Dice,
}

impl Maker {
    fn file(&mut self, path: String, size: Size) -> usize {
        let bytes = self.size(size);
        self.paths.push(path);
        self.bytes.push(bytes);
        self.paths.len() - 1
    }

    /// A random size within the quarter, with an evenly spread logarithm. One large file in 25
    /// belongs to the tail.
    fn size(&mut self, size: Size) -> u64 {
        let (low, high): (f64, f64) = match size {
            Size::Tiny => (60.0, 550.0),
            Size::Small => (550.0, 1_700.0),
            Size::Medium => (1_700.0, 41_000.0),
            Size::Large if self.dice.happens(0.04) => (300_000.0, 2_500_000.0),
            Size::Large => (41_000.0, 300_000.0),
        };
        (low * (high / low).powf(self.dice.share())) as u64
    }

    /// Mostly small files: in 0 A.D., the 1,735 files that every run loads have a mean of 14 KB.
    fn core(&mut self, count: usize) -> Vec<usize> {
        (0..count)
            .map(|index| {
                let (kind, before) = core_kind(index);
                self.file(kind.path(core_number(before)), kind.size)
            })
            .collect()
    }

    fn faction(&mut self, faction: usize, units: usize) -> Vec<Vec<usize>> {
        (0..units).map(|unit| self.unit(&format!("faction_{faction}/unit_{unit:02}"))).collect()
    }

    fn unit(&mut self, name: &str) -> Vec<usize> {
        vec![
            self.file(format!("simulation/templates/{name}.xml"), Size::Tiny),
            self.file(format!("art/variants/{name}.xml"), Size::Tiny),
            self.file(format!("art/actors/{name}.xml"), Size::Small),
            self.file(format!("art/materials/{name}.xml"), Size::Small),
            self.file(format!("art/meshes/{name}.pmd"), Size::Medium),
            self.file(format!("art/animation/{name}.psa"), Size::Medium),
            self.file(format!("art/textures/skins/{name}.dds"), Size::Large),
            self.file(format!("audio/voice/{name}.ogg"), Size::Large),
        ]
    }

    fn biome(&mut self, biome: usize, count: usize) -> Vec<usize> {
        (0..count)
            .map(|index| match index % 3 {
                0 => {
                    self.file(format!("art/terrains/biome_{biome}/type_{index:02}.xml"), Size::Tiny)
                }
                1 => {
                    self.file(format!("art/props/biome_{biome}/prop_{index:02}.pmd"), Size::Medium)
                }
                _ => self.file(
                    format!("art/textures/terrain/biome_{biome}_{index:02}.dds"),
                    Size::Large,
                ),
            })
            .collect()
    }

    fn map(&mut self, map: usize) -> Vec<usize> {
        vec![
            self.file(format!("maps/map_{map:02}/script.js"), Size::Small),
            self.file(format!("maps/map_{map:02}/entities.xml"), Size::Medium),
            self.file(format!("maps/map_{map:02}/heights.pmp"), Size::Large),
            self.file(format!("maps/map_{map:02}/preview.dds"), Size::Medium),
        ]
    }

    /// Files of other menus, languages and machines, as many as fit between those of the core; and
    /// files of other parts of the game.
    fn extras(&mut self, count: usize, core: usize) -> Vec<usize> {
        let of_core = [0, 1, 2, 3].map(|kind| {
            (0..core).filter(|&index| core_kind(index).0.size == KINDS[kind].size).count()
        });
        let mut made = [0; KINDS.len()];
        (0..count)
            .map(|index| {
                let kind = [0, 0, 1, 1, 1, 2, 2, 3][index % 8];
                let number = extra_number(made[kind]);
                made[kind] += 1;
                match number < core_number(of_core[kind]) {
                    true => self.file(KINDS[kind].path(number), KINDS[kind].size),
                    false => self.file(OTHERS[kind].path(index), OTHERS[kind].size),
                }
            })
            .collect()
    }
}

/// Files of one folder, named by number.
struct Kind {
    size: Size,
    stem: &'static str,
    extension: &'static str,
}

impl Kind {
    fn path(&self, number: usize) -> String {
        let Kind { stem, extension, .. } = self;
        format!("{stem}_{number:03}.{extension}")
    }
}

/// Where the core lies.
const KINDS: [Kind; 4] = [
    Kind { size: Size::Tiny, stem: "shaders/effect", extension: "glsl" },
    Kind { size: Size::Small, stem: "gui/page", extension: "xml" },
    Kind { size: Size::Medium, stem: "fonts/face", extension: "fnt" },
    Kind { size: Size::Large, stem: "art/textures/ui/panel", extension: "dds" },
];

/// Where other parts of the game lie.
const OTHERS: [Kind; 4] = [
    Kind { size: Size::Tiny, stem: "simulation/data/entry", extension: "json" },
    Kind { size: Size::Small, stem: "campaigns/chapter", extension: "xml" },
    Kind { size: Size::Medium, stem: "art/particles/effect", extension: "bin" },
    Kind { size: Size::Large, stem: "audio/music/theme", extension: "ogg" },
];

/// The kind of a file of the core, and how many of that kind come before it.
fn core_kind(index: usize) -> (&'static Kind, usize) {
    let (round, place) = (index / 20, index % 20);
    let (kind, first, each) = match place {
        0..=6 => (0, 0, 7),
        7..=14 => (1, 7, 8),
        15..=18 => (2, 15, 4),
        _ => (3, 19, 1),
    };
    (&KINDS[kind], round * each + place - first)
}

/// The numbers of the core in a folder: three of five, 0, 1, 2, 5, 6, 7 and so on.
fn core_number(before: usize) -> usize {
    before / 3 * 5 + before % 3
}

/// The numbers between them: 3, 4, 8, 9 and so on.
fn extra_number(before: usize) -> usize {
    before / 2 * 5 + 3 + before % 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_full_sample_has_the_sizes_of_a_game() {
        let sample = Sample::new(FULL_FILES);
        let mut sizes = sample.bytes.clone();
        sizes.sort_unstable();
        let at = |share: usize| sizes[sizes.len() * share / 100];
        assert!((2_900..3_100).contains(&sizes.len()), "{} files", sizes.len());
        assert!((400..700).contains(&at(25)), "a quarter below {}", at(25));
        assert!((1_300..2_200).contains(&at(50)), "half below {}", at(50));
        assert!((30_000..55_000).contains(&at(75)), "three quarters below {}", at(75));
        assert!(
            (100_000_000..150_000_000).contains(&sample.total_bytes()),
            "{} bytes",
            sample.total_bytes()
        );
        assert!(*sizes.last().unwrap() > 1_500_000, "a tail");
    }

    #[test]
    fn names_are_unique_and_the_same_each_time() {
        let sample = Sample::new(300);
        let names: HashSet<&String> = sample.paths.iter().collect();
        assert_eq!(names.len(), sample.paths.len());
        let again = Sample::new(300);
        assert_eq!((again.paths, again.bytes), (sample.paths, sample.bytes));
    }
}
