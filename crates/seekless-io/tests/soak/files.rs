//! What is packed: a pack that knows its program, a patch of it, and a folder of loose files. Later
//! ones override earlier ones.

use crate::draws::Draws;
use seekless_io::PredictionModel;
use seekless_pack::{About, Codec, PREDICTION, PackWriter, prepare};
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

pub(crate) const FILES: u64 = 600;

/// Loads of each run that the pack knows.
pub(crate) const RUN: u64 = 60;
const RUNS: u64 = 4;

pub(crate) struct Files {
    pub(crate) pack: PathBuf,
    pub(crate) patch: PathBuf,
    pub(crate) folder: PathBuf,
    /// Of each file, as the last source that has it says.
    pub(crate) contents: Vec<Vec<u8>>,
}

pub(crate) fn name(file: u64) -> String {
    format!("dir{}/{file:04}.bin", file % 7)
}

fn is_patched(file: u64) -> bool {
    file % 11 == 3
}

fn is_loose(file: u64) -> bool {
    file % 13 == 5
}

/// Whether the content of a part of a file is checked by its reader, or cannot be spoilt: the
/// engine flips bits in packs only, and a part of a stored entry has no checksum.
pub(crate) fn may_be_read_in_part(file: u64) -> bool {
    is_loose(file) || (!file.is_multiple_of(2) && file % 100 != 25)
}

/// The loads of a run, as the program repeats them.
pub(crate) fn run(number: u64) -> impl Iterator<Item = u64> {
    let step = [7, 11, 13, 17][(number % RUNS) as usize];
    (0..RUN).map(move |turn| (number * 50 + turn * step) % FILES)
}

/// Mostly small files, some empty, a few over a read's size or half of the cache, some so large
/// that they are deflated in chunks. Each version has other bytes.
fn content(file: u64, version: u64) -> Vec<u8> {
    let mut draws = Draws::new(file * 2_654_435_761 + version * 97 + 1);
    let bytes = match file % 100 {
        0 => 0,
        25 => 4_500_000,
        50 => 1_500_000,
        75 => 200_000,
        _ => 200 + draws.below(12_000),
    };
    let noise = file.is_multiple_of(2);
    (0..bytes)
        .map(|at| match file % 100 {
            25 => draws.below(16) as u8,
            _ if noise => draws.below(256) as u8,
            _ => (at / 64 + file + version) as u8,
        })
        .collect()
}

impl Files {
    pub(crate) fn make(room: &Path) -> Self {
        let runs: Vec<Vec<u32>> =
            (0..RUNS).map(|number| run(number).map(|file| file as u32).collect()).collect();
        let model = PredictionModel::train(FILES as u32, &runs).to_bytes();
        let (pack, patch) = (room.join("soak.zip"), room.join("patch.zip"));
        let folder = room.join("folder");
        write_pack(&pack, (0..FILES).map(|file| (name(file), content(file, 0))), Some(model));
        let patched = (0..FILES).filter(|&file| is_patched(file));
        write_pack(&patch, patched.map(|file| (name(file), content(file, 1))), None);
        for file in (0..FILES).filter(|&file| is_loose(file)) {
            let path = folder.join(name(file));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content(file, 2)).unwrap();
        }
        let version = |file| match (is_loose(file), is_patched(file)) {
            (true, _) => 2,
            (_, true) => 1,
            _ => 0,
        };
        let contents = (0..FILES).map(|file| content(file, version(file))).collect();
        Self { pack, patch, folder, contents }
    }
}

fn write_pack(
    path: &Path,
    files: impl Iterator<Item = (String, Vec<u8>)>,
    prediction: Option<Vec<u8>>,
) {
    let mut pack = PackWriter::new(BufWriter::new(File::create(path).unwrap()));
    for (name, content) in files {
        pack.add(prepare(About::named(name), content, Codec::Auto).unwrap()).unwrap();
    }
    if let Some(model) = prediction {
        pack.add(prepare(About::named(PREDICTION), model, Codec::Stored).unwrap()).unwrap();
    }
    pack.finish().unwrap().0.into_inner().unwrap();
}
