//! A kept read takes the memory of the pages whose files nothing has loaded, and no more.

use crate::support::{Gate, Sample, random};
use seekless_device::Costs;
use seekless_io::{Buffer, Store};
use seekless_pack::Codec;
use std::collections::BTreeSet;
use std::sync::Arc;

const PAGE_BYTES: u64 = 4096;

/// Requests are dear, so that many files come with each.
const VOLUME: Costs = Costs { request_ns: 5_000_000, bytes_per_second: 150_000_000, depth: 4 };

fn gate() -> Arc<Gate> {
    let mut gate = Gate::new();
    gate.costs = VOLUME;
    Arc::new(gate)
}

/// Bytes of the pages of a read, counted from its offset, that hold a byte of these files.
fn kept_bytes(store: &Store, read: (u64, u64), files: &BTreeSet<usize>) -> u64 {
    let (offset, bytes) = read;
    let pages = files.iter().flat_map(|&file| {
        let entry = store.index().entry(file as u32);
        let begin = entry.header_offset - offset;
        begin / PAGE_BYTES..(begin + entry.extent_bytes).div_ceil(PAGE_BYTES)
    });
    let pages: BTreeSet<u64> = pages.collect();
    let of = |page: u64| ((page + 1) * PAGE_BYTES).min(bytes) - page * PAGE_BYTES;
    pages.into_iter().map(of).sum()
}

#[test]
fn the_memory_of_a_kept_read_goes_page_by_page_as_its_files_are_loaded() {
    // Small ones that share pages, and ones of many pages, of which the largest is handed out where
    // it lies.
    let sizes = [900, 20_000, 300, 700, 150_000, 5_000, 4_000, 60_000, 100, 9_000, 2_000, 40_000];
    let sample = Sample::of_sizes(sizes, Codec::Stored);
    let gate = gate();
    let builder = Store::builder().shared_engine(gate.clone());
    let store = builder.cache(0).read_ahead_cache(1 << 20).open(&sample.path).unwrap();
    let load = |file: usize| {
        let content = store.load(sample.name(file)).unwrap();
        assert!(content[..] == *sample.bytes(file));
        content
    };
    gate.close();
    gate.open();
    drop(load(5));
    let &[read] = &gate.submitted()[..] else { panic!("all come with one read") };
    let mut left: BTreeSet<usize> = (0..12).filter(|&file| file != 5).collect();
    for file in [6, 4, 1, 11, 9, 10, 0, 7, 3, 2, 8] {
        let kept = kept_bytes(&store, read, &left);
        assert_eq!(store.statistics().held_bytes, kept.next_multiple_of(64), "before {file}");
        let content = load(file);
        left.remove(&file);
        let kept = kept_bytes(&store, read, &left);
        // A large file stays where the device put it, in whole pages.
        assert!(store.statistics().held_bytes >= kept + content.len() as u64, "with {file}");
        drop(content);
    }
    assert_eq!(store.statistics().held_bytes, 0);
    assert_eq!((gate.submitted().len(), store.statistics().read_ahead_hits), (1, 11));
    let copied = sizes.iter().filter(|&&bytes| bytes < 128 << 10).sum::<usize>() as u64;
    assert_eq!(store.statistics().copied_bytes, copied, "the large one lies where it came");
}

#[test]
fn what_is_given_back_changes_no_byte_that_was_handed_out() {
    let mut seed = 3;
    let sizes: Vec<usize> = (0..500)
        .map(|number| match number % 10 {
            0 => 100_000 + (random(&mut seed) % 200_000) as usize,
            _ => 50 + (random(&mut seed) % 15_000) as usize,
        })
        .collect();
    let (cache, ahead) = (1 << 20, 2 << 20);
    for codec in [Codec::Stored, Codec::Auto] {
        let sample = Sample::of_sizes(sizes.clone(), codec);
        let builder = Store::builder().shared_engine(gate()).cache(cache).read_ahead_cache(ahead);
        let store = builder.open(&sample.path).unwrap();
        let turns = |mut seed: u64| {
            let mut held: Vec<(usize, Buffer)> = Vec::new();
            for turn in 0..1500 {
                // Mostly near the file before, so that kept reads have it.
                let file = match turn % 8 {
                    0 => (random(&mut seed) % 500) as usize,
                    _ => {
                        (held.last().map_or(0, |held| held.0)
                            + 1
                            + (random(&mut seed) % 4) as usize)
                            % 500
                    }
                };
                let content = store.load(sample.name(file)).unwrap();
                assert!(content[..] == *sample.bytes(file), "file {file}");
                held.push((file, content));
                if held.len() == 40 {
                    let right =
                        |(file, content): &(usize, Buffer)| content[..] == *sample.bytes(*file);
                    assert!(held.iter().all(right));
                    held.drain(..(random(&mut seed) % 40) as usize);
                }
            }
        };
        std::thread::scope(|scope| {
            (1..=3u64).for_each(|seed| {
                scope.spawn(move || turns(seed * 77));
            });
        });
        let told = store.statistics();
        assert!(told.read_ahead_hits > 200, "{told:?}");
        assert!(told.held_bytes <= cache + ahead + (64 << 10), "{told:?}");
    }
}
