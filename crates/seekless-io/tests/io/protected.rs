//! Buffers whose pages the processor protects, as the kernel shows it.

use crate::support::Sample;
use seekless_engine::EngineKind;
use seekless_io::{Buffer, Store};
use seekless_pack::Codec;

const PAGE_BYTES: usize = 4096;

fn store(sample: &Sample, protect: bool, cache_bytes: u64) -> Store {
    let builder = Store::builder().engine(EngineKind::Threads).direct(false).protect(protect);
    builder.cache(cache_bytes).open(&sample.path).unwrap()
}

/// Whether this process may write to each page that lies wholly in the buffer.
fn writable(buffer: &Buffer) -> Vec<bool> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let may_write = |page: usize| {
        let line = maps.lines().find(|line| {
            let range = line.split(' ').next().unwrap();
            let (start, end) = range.split_once('-').unwrap();
            let at = |text| usize::from_str_radix(text, 16).unwrap();
            (at(start)..at(end)).contains(&page)
        });
        line.expect("the page is mapped").split(' ').nth(1).unwrap().contains('w')
    };
    let start = buffer.as_ptr() as usize;
    let (first, end) = (start.next_multiple_of(PAGE_BYTES), start + buffer.len());
    (first..end.saturating_sub(PAGE_BYTES - 1)).step_by(PAGE_BYTES).map(may_write).collect()
}

#[test]
fn content_is_read_only_for_the_processor_if_that_was_asked_for() {
    // Small and large, stored and deflated, one of them in chunks.
    for (codec, sizes) in
        [(Codec::Stored, [9_000, 50_000, 100_000]), (Codec::Deflate, [9_000, 300_000, 6_000_000])]
    {
        let sample = Sample::of_sizes(sizes, codec);
        for protect in [true, false] {
            let store = store(&sample, protect, 64 << 20);
            let listed = store.load_many(sample.names()).map(|(at, loaded)| (at, loaded.unwrap()));
            for (number, buffer) in listed {
                assert!(buffer[..] == *sample.bytes(number));
                let pages = writable(&buffer);
                assert!(!pages.is_empty());
                assert!(pages.iter().all(|&may| may != protect), "{codec:?}, file {number}");
            }
        }
    }
}

#[test]
fn memory_that_was_protected_is_used_again() {
    let sample = Sample::of_sizes(vec![60_000; 40], Codec::Deflate);
    let store = store(&sample, true, 256 << 10);
    for _ in 0..3 {
        for number in 0..40 {
            let buffer = store.load(sample.name(number)).unwrap();
            assert!(buffer[..] == *sample.bytes(number));
            assert!(writable(&buffer).iter().all(|&may| !may));
        }
    }
    assert!(store.statistics().misses > 40, "the cache is too small for all");
}

#[test]
fn a_part_of_protected_content_is_protected() {
    let sample = Sample::of_sizes([90_000, 6_000_000], Codec::Deflate);
    let store = store(&sample, true, 64 << 20);
    for (number, range) in [(0, 10_000..50_000), (1, 2_000_000..2_900_000)] {
        let part = store.read_range(sample.name(number), range.clone()).unwrap();
        assert!(part[..] == sample.bytes(number)[range.start as usize..range.end as usize]);
        assert!(writable(&part).iter().all(|&may| !may));
    }
}
