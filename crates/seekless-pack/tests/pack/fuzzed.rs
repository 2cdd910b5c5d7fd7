//! The fuzz target's body over its seeds and their mutations, in memory that their size justifies.

use crate::harness::check;
use crate::memory::bounded;
use crate::samples::hostile;

#[path = "../../../../fuzz/src/lib.rs"]
#[allow(unreachable_pub, reason = "the fuzz targets' library")]
mod inputs;

const MUTATIONS: usize = 40_000;
const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/zip");

#[test]
fn mutated_seeds_are_read_or_refused() {
    let mut right = 0;
    inputs::mutate(&inputs::seeds(SEEDS), MUTATIONS, |archive| {
        bounded(archive.len(), || check(archive));
        right += usize::from(seekless_pack::Index::open(archive, archive.len() as u64).is_ok());
    });
    assert!(right > MUTATIONS / 50, "too few come past the directory: {right}");
}

#[test]
fn hostile_archives_are_read_or_refused() {
    hostile()
        .iter()
        .for_each(|sample| bounded(sample.archive.len() + sample.right_bytes, || check(&sample.archive)));
}
