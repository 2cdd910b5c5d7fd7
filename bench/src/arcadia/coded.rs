//! What the files take in a pack: what deflate leaves of the game's own, and a share of the others.

use crate::game::Files;
use anyhow::{Context, anyhow};
use seekless::device::units::{format_bytes, format_count};
use seekless::pack::{About, Codec, prepare};
use seekless::trace::FileList;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Coded bytes of made content, in percent.
const CODED_PERCENT: u64 = 55;

/// Sizes in a pack, by name, in bytes.
#[derive(Debug, Default)]
pub(super) struct Coded(HashMap<String, u64>);

/// A file of the game to be coded.
struct Own {
    name: String,
    path: PathBuf,
}

impl Coded {
    /// Codes the game's own files, on all cores. Without any it does nothing.
    ///
    /// # Errors
    /// A file cannot be read, or has another size than the list says.
    pub(super) fn of_all(files: &Files, list: &FileList) -> anyhow::Result<Self> {
        let (mut own, mut total) = (Vec::new(), 0);
        for (name, bytes) in list.paths.iter().zip(&list.bytes) {
            let bytes = bytes.unwrap_or(0);
            if let Some(path) = files.own(name, bytes)? {
                own.push(Own { name: name.clone(), path });
                total += bytes;
            }
        }
        if own.is_empty() {
            return Ok(Self::default());
        }
        let count = format_count(own.len() as u64);
        eprintln!("bench: codes {count} files of the game ({})", format_bytes(total));
        let coded = code(own)?;
        let sum = coded.values().sum();
        eprintln!("bench: they come to {}", format_bytes(sum));
        Ok(Self(coded))
    }

    /// What a file of this many bytes takes in a pack, in bytes, without its header.
    pub(super) fn bytes(&self, name: &str, content_bytes: u64) -> u64 {
        self.0.get(name).copied().unwrap_or(content_bytes * CODED_PERCENT / 100)
    }
}

/// Each thread takes the next file that none has taken.
fn code(own: Vec<Own>) -> anyhow::Result<HashMap<String, u64>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let work = || -> anyhow::Result<Vec<(String, u64)>> {
        let mut coded = Vec::new();
        while let Some(file) = own.get(next.fetch_add(1, Ordering::Relaxed)) {
            coded.push((file.name.clone(), coded_bytes(file)?));
        }
        Ok(coded)
    };
    let parts: Vec<anyhow::Result<_>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let ended = threads.into_iter().map(|thread| thread.join());
        ended.map(|part| part.unwrap_or_else(|_| Err(anyhow!("a thread died")))).collect()
    });
    let mut sizes = HashMap::with_capacity(own.len());
    for part in parts {
        sizes.extend(part?);
    }
    Ok(sizes)
}

/// As a pack codes it: deflated, or stored where that gains little.
fn coded_bytes(file: &Own) -> anyhow::Result<u64> {
    let content = std::fs::read(&file.path).with_context(|| file.path.display().to_string())?;
    Ok(prepare(About::named(file.name.as_str()), content, Codec::default())?.coded_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_games_own_files_take_what_deflate_leaves_and_others_a_share() {
        let game = tempfile::tempdir().expect("a folder");
        for folder in ["public", "mod"] {
            fs::create_dir(game.path().join(folder)).expect("a folder");
        }
        fs::write(game.path().join("public/plain.xml"), "<a/>".repeat(1000)).expect("a file");
        fs::write(game.path().join("mod/dense.png"), [1, 77, 3, 200]).expect("a file");
        let names = ["public/plain.xml", "mod/dense.png", "mod/made.cached.xmb"];
        let list = FileList {
            paths: names.map(str::to_owned).into(),
            bytes: vec![Some(4000), Some(4), Some(1000)],
        };
        let files = Files::new(Some(game.path())).expect("a folder of the game");
        let coded = Coded::of_all(&files, &list).expect("readable files");
        assert!(coded.bytes(names[0], 4000) < 100, "{coded:?}");
        assert_eq!(coded.bytes(names[1], 4), 4);
        assert_eq!(coded.bytes(names[2], 1000), 550);
        let made = Coded::of_all(&Files::Synthesised, &list).expect("nothing to read");
        assert_eq!(names.map(|name| made.bytes(name, 1000)), [550; 3]);
    }
}
