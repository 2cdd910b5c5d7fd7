//! Made-up traces of the shape of the published ones, for a machine that does not have these. No
//! figure of theirs is one of the published data, and the labs say so.

use seekless::policy::sample::Draws;
use std::collections::HashSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Files of the game, and how many a start loads.
const FILES: usize = 36_266;
const FOLDERS: usize = 700;
/// What every start loads, and what only some do.
const CORE: usize = 2_400;
const SPECIAL: usize = 650;
/// The chance in percent that an earlier file is loaded again after a load.
const AGAIN: usize = 35;
/// Files of a size from 4^n to 4^(n+1) bytes, of the game's: n from 3 to 10.
const SIZES: [usize; 8] = [1_621, 13_212, 6_510, 3_321, 3_968, 4_775, 2_265, 594];

/// Sectors of a page, and the files that are copied: some 600 MB.
const SECTORS: u64 = 8;
const COPIED: usize = 8_000;

/// Writes five made-up starts under the names of the real ones, and the list of all files, to
/// `folder`. Returns the paths of the starts, and that of the list.
///
/// # Errors
/// A file cannot be written.
pub(crate) fn starts(folder: &Path, names: &[&str]) -> anyhow::Result<(Vec<PathBuf>, PathBuf)> {
    let mut draws = Draws::new(2006);
    let sizes: Vec<u64> = (0..FILES).map(|_| size(&mut draws)).collect();
    let name = |file: usize| format!("made-up/{:03}/{file:05}.data", file * FOLDERS / FILES);
    let core = neighbours(&mut draws, CORE);
    let mut runs = Vec::new();
    for run in names {
        let mut order = core.clone();
        for first in neighbours(&mut draws, SPECIAL).chunks(25) {
            let at = draws.below(order.len());
            order.splice(at..at, first.iter().copied());
        }
        let mut seen = HashSet::new();
        order.retain(|&file| seen.insert(file));
        let mut rows = "time_s,path,size\n".to_owned();
        let mut load =
            |second: f64, file: usize| writeln!(rows, "{second:.6},{},{}", name(file), sizes[file]);
        for (at, &file) in order.iter().enumerate() {
            let second = at as f64 / 1000.0;
            load(second, file)?;
            while draws.below(100) < AGAIN {
                // What was loaded early is loaded again more often.
                let last = draws.below(at + 1);
                load(second, order[draws.below(last + 1)])?;
            }
        }
        runs.push(written(folder, run, &rows)?);
    }
    let mut list = "path,size\n".to_owned();
    (0..FILES).try_for_each(|file| writeln!(list, "{},{}", name(file), sizes[file]))?;
    Ok((runs, written(folder, "files", &list)?))
}

/// Files in groups of up to 40 that lie together.
fn neighbours(draws: &mut Draws, count: usize) -> Vec<usize> {
    let mut files = Vec::new();
    while files.len() < count {
        let first = draws.below(FILES);
        files.extend(first..(first + 1 + draws.below(40)).min(FILES));
    }
    files.truncate(count);
    files
}

fn size(draws: &mut Draws) -> u64 {
    let mut at = draws.below(FILES);
    let mut least = 1_usize << 6;
    for files in SIZES {
        if at < files {
            break;
        }
        at -= files;
        least *= 4;
    }
    (least + draws.below(3 * least)) as u64
}

fn written(folder: &Path, name: &str, rows: &str) -> anyhow::Result<PathBuf> {
    let path = folder.join(format!("{name}.csv"));
    std::fs::write(&path, rows)?;
    Ok(path)
}

/// Writes the sectors of a copy of some files and of three searches through the originals and the
/// copies to `folder`, as Ozen's collector does: nine lines a page.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn copy_and_search(folder: &Path) -> anyhow::Result<PathBuf> {
    let mut draws = Draws::new(2018);
    let files: Vec<u64> = (0..COPIED).map(|_| 1 + size(&mut draws).min(1 << 20) / 4096).collect();
    let mut lines = String::new();
    let mut page = |kind: char, page: u64| -> std::fmt::Result {
        (0..=SECTORS).try_for_each(|at| writeln!(lines, "{kind} {}", page * SECTORS + at))
    };
    // The copies lie behind the originals, with room between them.
    let all: u64 = files.iter().sum();
    let mut first = 1_000;
    for pages in &files {
        (first..first + pages).try_for_each(|at| page('r', at))?;
        (first..first + pages).try_for_each(|at| page('w', at + 2 * all))?;
        first += pages;
    }
    for copy in [0, 2 * all, 0] {
        (1_000..1_000 + all).try_for_each(|at| page('r', at + copy))?;
    }
    let path = folder.join("copy-and-search.txt");
    std::fs::write(&path, lines)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless::trace::{FileList, Loads};

    #[test]
    fn starts_have_the_shape_of_the_games() {
        let folder = tempfile::tempdir().unwrap();
        let (runs, files) = starts(folder.path(), &["a", "b"]).unwrap();
        let list = FileList::read(&files).unwrap();
        assert_eq!(list.paths.len(), FILES);
        let bytes: u64 = list.bytes.iter().flatten().sum();
        assert!((2 << 30..5 << 30).contains(&bytes), "3.3 GB in the game: {bytes}");
        let loads = Loads::read(&runs).unwrap();
        for run in &loads.runs {
            let files: HashSet<u32> = run.iter().map(|load| load.file).collect();
            assert!((3_000..7_000).contains(&run.len()), "4,600 to 6,400: {}", run.len());
            assert!((2_500..3_700).contains(&files.len()), "2,900 to 3,600: {}", files.len());
        }
    }

    #[test]
    fn a_copy_and_searches_are_of_sectors() {
        let folder = tempfile::tempdir().unwrap();
        let lines = std::fs::read_to_string(copy_and_search(folder.path()).unwrap()).unwrap();
        let count = lines.lines().count();
        assert!((2_000_000..12_000_000).contains(&count), "6.9 million: {count}");
        assert!(lines.starts_with("r 8000\nr 8001\n"));
        assert_eq!(lines.lines().filter(|line| line.starts_with('w')).count() * 5, count);
    }
}
