//! Files of one unit of the archive leave the cache together, if that was asked for.

use crate::support::Sample;
use seekless_engine::EngineKind;
use seekless_io::Store;
use seekless_pack::Codec;

#[test]
fn the_files_of_a_unit_leave_with_the_first_of_them() {
    let sample = Sample::of_sizes(vec![3_000; 40], Codec::Stored);
    // Ten files fit, and five lie in a unit.
    let hits_of = |together: bool| {
        let builder = Store::builder().engine(EngineKind::Threads).direct(false).policy("lru");
        let builder = builder.cache(30_000).read_ahead_cache(0);
        let builder = if together { builder.leave_together(16 << 10) } else { builder };
        let store = builder.open(&sample.path).unwrap();
        let load = |file: usize| {
            let content = store.load(sample.name(file)).unwrap();
            assert!(content[..] == *sample.bytes(file));
        };
        (0..10).for_each(load);
        load(30); // evicts the first
        let before = store.statistics().hits;
        [9, 8, 7, 6, 5].into_iter().for_each(load);
        let second_unit = store.statistics().hits - before;
        [4, 3, 2, 1].into_iter().for_each(load);
        (second_unit, store.statistics().hits - before - second_unit)
    };
    assert_eq!(hits_of(false), (5, 4));
    assert_eq!(hits_of(true), (5, 0));
}
