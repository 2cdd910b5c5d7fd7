//! Times how long an archive's index takes to open:
//! `cargo run --release --example open_index -- data.zip`. With a number behind it, such an archive
//! is only made, of this many files of a byte: `... -- data.zip 1000000`.

use seekless_pack::{About, Codec, Index, PackWriter, prepare};
use std::fs::File;
use std::io::BufWriter;
use std::time::Instant;

const ROUNDS: usize = 51;

/// Names as a game has them.
fn make(path: &str, files: u32) -> Result<(), Box<dyn std::error::Error>> {
    let mut pack = PackWriter::new(BufWriter::new(File::create_new(path)?));
    for file in 0..files {
        let name = format!("art/textures/set_{:04}/file_{file:07}.dds", file / 250);
        pack.add(prepare(About::named(name), vec![file as u8], Codec::Stored)?)?;
    }
    pack.finish()?;
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("name an archive")?;
    if let Some(files) = std::env::args().nth(2) {
        return make(&path, files.parse()?);
    }
    let file = File::open(&path)?;
    let bytes = file.metadata()?.len();
    let mut times = Vec::new();
    let mut entries = 0;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        entries = Index::open(&file, bytes)?.len();
        times.push(start.elapsed());
    }
    times.sort_unstable();
    println!(
        "{path}: {entries} entries, median of {ROUNDS}: {:?}, worst {:?}",
        times[ROUNDS / 2],
        times[ROUNDS - 1]
    );
    Ok(())
}
