//! Times how long an archive's index takes to open:
//! `cargo run --release --example open_index -- data.zip`.

use seekless_pack::Index;
use std::fs::File;
use std::time::Instant;

const ROUNDS: usize = 51;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("name an archive")?;
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
