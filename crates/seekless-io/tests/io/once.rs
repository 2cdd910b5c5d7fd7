//! What lies in the sectors that neighbouring files share comes from the device once (Wassenberg
//! 2006, section 3.5: the block cache).

use crate::support::{Gate, Sample};
use seekless_device::Costs;
use seekless_io::Store;
use seekless_pack::Codec;
use std::sync::Arc;

const SECTOR_BYTES: u64 = 4096;

/// The sectors of each read, past the page cache.
fn sectors(sample: &Sample, gate: &Gate, act: impl FnOnce()) -> Vec<Vec<u64>> {
    gate.close();
    gate.open();
    act();
    let end = std::fs::metadata(&sample.path).unwrap().len();
    let of = |&(offset, bytes): &(u64, u64)| {
        let end = end.min(offset + bytes).div_ceil(SECTOR_BYTES);
        (offset / SECTOR_BYTES..end).collect()
    };
    gate.submitted().iter().map(of).collect()
}

fn open(sample: &Sample) -> Option<(Arc<Gate>, Store)> {
    let mut gate = Gate::new();
    gate.costs = Costs { request_ns: 200_000, bytes_per_second: 1_000_000_000, depth: 8 };
    let gate = Arc::new(gate);
    let store = Store::builder().shared_engine(gate.clone()).open(&sample.path).unwrap();
    if !store.is_direct() {
        println!("skipped: no O_DIRECT where the tests write: reads are not of whole sectors");
        return None;
    }
    Some((gate, store))
}

/// Sectors that were read more often than once.
fn again(reads: &[Vec<u64>]) -> usize {
    let mut all: Vec<u64> = reads.iter().flatten().copied().collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    count - all.len()
}

#[test]
fn small_files_that_share_sectors_are_read_with_them() {
    // Some ten files to a sector, loaded one by one from the front.
    let sample = Sample::of_sizes((0..2_000).map(|file| 150 + file * 37 % 500), Codec::Stored);
    let Some((gate, store)) = open(&sample) else { return };
    let load = |store: &Store| {
        let each = (0..2_000).map(|file| store.load(sample.name(file)).unwrap());
        each.zip(&sample.files).for_each(|(content, (_, bytes))| assert!(content[..] == bytes[..]));
    };
    let reads = sectors(&sample, &gate, || load(&store));
    assert!(reads.len() < 30, "{} reads of 2,000 files", reads.len());
    // A read ends in the middle of a sector, and the next begins there.
    assert!(
        again(&reads) < reads.len(),
        "{} sectors again in {} reads",
        again(&reads),
        reads.len()
    );
    assert!(sectors(&sample, &gate, || load(&store)).is_empty(), "the cache has all");
}

#[test]
fn neighbours_whose_cache_is_too_small_come_from_the_kept_read() {
    let sample = Sample::of_sizes([3_000; 16], Codec::Stored);
    let Some((gate, store)) = open(&sample) else { return };
    // The first load brings the others; they come in any order, and some sectors hold parts of two.
    let reads = sectors(&sample, &gate, || {
        for file in [7, 8, 6, 9, 0, 15, 3, 4, 5] {
            assert!(store.load(sample.name(file)).unwrap()[..] == *sample.bytes(file));
        }
    });
    assert_eq!((reads.len(), again(&reads)), (1, 0), "{reads:?}");
    let statistics = store.statistics();
    assert_eq!((statistics.misses, statistics.read_ahead_hits), (9, 8));
}

#[test]
fn a_list_reads_each_sector_once() {
    let sample = Sample::of_sizes((0..400).map(|file| 500 + file * 997 % 9_000), Codec::Stored);
    let Some((gate, store)) = open(&sample) else { return };
    let reads = sectors(&sample, &gate, || {
        let loaded = store.load_many(sample.names()).filter(|(_, loaded)| loaded.is_ok());
        assert_eq!(loaded.count(), 400);
    });
    assert!(
        again(&reads) < reads.len(),
        "{} sectors again in {} reads",
        again(&reads),
        reads.len()
    );
}
