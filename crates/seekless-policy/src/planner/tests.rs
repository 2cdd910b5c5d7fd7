use super::*;
use crate::foresight::prediction::Model;
use crate::foresight::references::References;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A plain flash drive: a request costs as much as reading 125 KB, and many run at once.
const FLASH: Costs = Costs { request_ns: 100_000, bytes_per_second: 1_250_000_000, depth: 32 };

/// A volume of 500 requests and 150 MB a second.
const VOLUME: Costs = Costs { request_ns: 2_000_000, bytes_per_second: 150_000_000, depth: 1 };

const MEMORY: Memory = Memory { cache_bytes: 64 << 20, read_ahead_bytes: None, window_bytes: None };

fn extents(sizes: impl IntoIterator<Item = u64>) -> Arc<[Extent]> {
    let mut offset = 0;
    let place = |bytes| {
        let extent = Extent { offset, bytes };
        offset += bytes;
        extent
    };
    sizes.into_iter().map(place).collect()
}

/// One reader with a cache that keeps every file that it loaded.
struct Reader {
    planner: Planner,
    cached: BTreeSet<Id>,
    requests: u64,
    bytes: u64,
}

impl Reader {
    fn new(sizes: impl IntoIterator<Item = u64>, memory: Memory, costs: Costs) -> Self {
        let planner = Planner::new(extents(sizes), 1, memory, costs);
        Self { planner, cached: BTreeSet::new(), requests: 0, bytes: 0 }
    }

    fn load(&mut self, id: Id) {
        if self.cached.contains(&id) {
            return;
        }
        let cached = |id: Id| self.cached.contains(&id);
        match self.planner.demand(id, cached) {
            Answer::Kept(_) => {}
            Answer::Joined(start) => panic!("nothing is under way, yet {start:?} was joined"),
            Answer::Read(Start { tag, extent, .. }) => {
                self.requests += 1;
                self.bytes += extent.bytes;
                let mut ended = Ended::default();
                self.planner.ended(tag, extent.bytes, cached, &mut ended);
                assert_eq!(ended.arrived, [id]);
            }
        }
        self.cached.insert(id);
    }
}

#[test]
fn an_entry_is_sought_under_way_then_in_kept_reads_then_on_the_device() {
    let mut planner = Planner::new(extents([1000; 10]), 1, MEMORY, FLASH);
    let Answer::Read(start) = planner.demand(4, |_| false) else { panic!("nothing is there yet") };
    assert_eq!(start.extent, Extent { offset: 0, bytes: 10_000 });
    assert_eq!(planner.demand(5, |_| false), Answer::Joined(None));
    let mut ended = Ended::default();
    planner.ended(start.tag, 10_000, |_| false, &mut ended);
    assert_eq!((&ended.arrived[..], ended.kept), (&[4, 5][..], Some(0)));
    // It lies in one page with 7.
    let found = Found { slot: 0, freed: Extent { offset: 4096, bytes: 0 }, is_last: false };
    assert_eq!(planner.demand(6, |_| false), Answer::Kept(found));
    let pieces: Vec<Extent> = planner.pieces(0).collect();
    assert_eq!(pieces, [Extent { offset: 0, bytes: 10_000 }]);
    assert!(matches!(planner.demand(6, |_| false), Answer::Read(_)), "it was handed out");
}

#[test]
fn a_list_is_read_in_few_reads_and_what_is_at_hand_is_not_read() {
    let mut planner = Planner::new(extents([100_000; 40]), 1, MEMORY, FLASH);
    let Answer::Read(start) = planner.demand(0, |_| false) else { panic!("nothing is there yet") };
    planner.ended(start.tag, start.extent.bytes, |_| false, &mut Ended::default());
    let (mut ids, mut found, mut starts) = ((0..40).rev().collect(), Vec::new(), Vec::new());
    planner.plan(&mut ids, &mut found, &mut starts);
    assert_eq!(found, [], "100,000 bytes after the entry are more than two thirds of 125,000");
    assert_eq!(ids.len(), 40);
    assert_eq!(starts.iter().map(|start| start.extent.bytes).sum::<u64>(), 4_000_000);
    assert_eq!(starts.len(), 4, "of at most 1 MiB each");
}

#[test]
fn what_a_read_of_several_did_not_bring_is_read_alone_and_then_lost() {
    let mut planner = Planner::new(extents([1000; 3]), 1, MEMORY, FLASH);
    let (mut ids, mut starts, mut ended) = (vec![0, 1, 2], Vec::new(), Ended::default());
    planner.plan(&mut ids, &mut Vec::new(), &mut starts);
    planner.ended(starts[0].tag, 1500, |_| false, &mut ended);
    assert_eq!((&ended.arrived[..], &ended.lost[..]), (&[0][..], &[][..]));
    let alone: Vec<Extent> = ended.starts.iter().map(|start| start.extent).collect();
    assert_eq!(alone, [1, 2].map(|n| Extent { offset: n * 1000, bytes: 1000 }));
    let tag = ended.starts[0].tag;
    planner.ended(tag, 0, |_| false, &mut ended);
    assert_eq!((&ended.arrived[..], &ended.lost[..]), (&[][..], &[1][..]));
}

#[test]
fn without_room_for_kept_reads_nothing_is_read_ahead() {
    for memory in
        [Memory { cache_bytes: 0, ..MEMORY }, Memory { read_ahead_bytes: Some(0), ..MEMORY }]
    {
        for costs in [FLASH, VOLUME] {
            let mut reader = Reader::new([5_000; 200], memory, costs);
            (0..200).for_each(|id| reader.load(id));
            assert_eq!((reader.requests, reader.bytes), (200, 1_000_000));
        }
    }
    let asked = Memory { cache_bytes: 0, read_ahead_bytes: Some(1 << 20), window_bytes: None };
    let mut reader = Reader::new([5_000; 200], asked, FLASH);
    (0..200).for_each(|id| reader.load(id));
    assert!(reader.requests < 20, "the program asked for it: {}", reader.requests);
}

/// What the device's time for a reader's requests is, in nanoseconds.
fn device_ns(requests: u64, bytes: u64, costs: Costs) -> u64 {
    requests * costs.request_ns + bytes * 1000 / (costs.bytes_per_second / 1_000_000)
}

#[test]
fn what_is_thrown_away_unused_is_read_no_more() {
    // 10.8 MB of 54 MB. The next file lies farther away than a window reaches.
    let mut reader = Reader::new([20_000; 2700], MEMORY, FLASH);
    (0..2700).step_by(5).for_each(|id| reader.load(id));
    let needed = 540 * 20_000;
    assert_eq!(reader.requests, 540);
    // The first dozen windows, of 100 KB each, show it.
    assert!(reader.bytes <= needed + 12 * 100_000, "{} bytes read for {needed}", reader.bytes);
}

#[test]
fn what_is_passed_over_is_read_where_it_takes_less_time_than_requests() {
    // A request costs as much as reading 300 KB, and only 80 KB lie between the files.
    let mut reader = Reader::new([20_000; 2700], MEMORY, VOLUME);
    (0..2700).step_by(5).for_each(|id| reader.load(id));
    let took = device_ns(reader.requests, reader.bytes, VOLUME);
    let alone = device_ns(540, 540 * 20_000, VOLUME);
    assert!(took * 10 < alone * 6, "{took} ns in {} requests, {alone} ns alone", reader.requests);
    // What lies before a file is never used in this order, so it is read no more.
    let after = 540 / 3 * 11 * 20_000;
    assert!(reader.bytes <= after + 12 * 100_000, "{} bytes", reader.bytes);
}

#[test]
fn requests_that_others_overlap_are_worth_less() {
    let read = |in_flight: u32| {
        let sizes = [20_000; 4000];
        let mut planner = Planner::new(extents(sizes), 1, MEMORY, FLASH);
        for id in 0..in_flight {
            assert!(matches!(planner.demand(100 * id, |_| false), Answer::Read(_)));
        }
        let (mut bytes, mut seen) = (0, BTreeSet::new());
        // Of what a window brings, one file in five is used.
        for id in (3500..3998).filter(|id| [0, 2].contains(&(id % 12))) {
            if let Answer::Read(start) = planner.demand(id, |id| seen.contains(&id)) {
                bytes += start.extent.bytes;
                let mut ended = Ended::default();
                planner.ended(start.tag, start.extent.bytes, |id| seen.contains(&id), &mut ended);
            }
            seen.insert(id);
        }
        bytes
    };
    assert!(read(16) < read(0), "{} {}", read(16), read(0));
}

#[test]
fn what_would_have_been_used_is_read_again() {
    let mut reader = Reader::new([20_000; 12_000], MEMORY, FLASH);
    (0..4000).step_by(5).for_each(|id| reader.load(id));
    let (requests, bytes) = (reader.requests, reader.bytes);
    (4000..8000).for_each(|id| reader.load(id));
    let (grown, read) = (reader.requests - requests, reader.bytes - bytes);
    assert!(grown < 4000 / 2, "it was {grown} requests for 4000 files in sequence");
    assert!(read < 4001 * 20_000 + 125_000, "{read}");
    let requests = reader.requests;
    (8000..12_000).for_each(|id| reader.load(id));
    let grown = reader.requests - requests;
    assert!(grown <= 4000 / 4 + 1, "four files fit: {grown}");
}

#[test]
fn where_requests_are_dear_a_fifth_that_is_used_pays() {
    let mut reader = Reader::new([20_000; 2700], MEMORY, VOLUME);
    (0..2700).step_by(5).for_each(|id| reader.load(id));
    assert!(reader.requests < 540 / 2, "{}", reader.requests);
}

#[test]
fn costs_that_change_change_the_reads() {
    let read = |planner: &mut Planner, id| match planner.demand(id, |_| false) {
        Answer::Read(start) => start.extent.bytes,
        other => panic!("{other:?}"),
    };
    let mut planner = Planner::new(extents([1000; 3000]), 1, MEMORY, FLASH);
    assert_eq!(read(&mut planner, 500), 83_000 + 41_000 + 1000);
    assert_eq!(planner.window_bytes(), 64 << 20);
    planner.set_costs(VOLUME);
    assert_eq!(read(&mut planner, 1500), 200_000 + 100_000 + 1000);
    assert_eq!(planner.window_bytes(), 256 << 20);
}

proptest! {
    /// Every entry that was asked for arrives once, whatever the order of demands, lists and ends.
    #[test]
    fn what_is_asked_for_arrives_once(
        sizes in prop::collection::vec(0u64..60_000, 1..80),
        alignment in prop::sample::select(vec![1u64, 512, 4096]),
        steps in prop::collection::vec((0u8..4, any::<u32>(), 0u64..200_000), 1..150),
        read_ahead in prop::option::of(0u64..300_000),
    ) {
        let count = sizes.len() as u32;
        let memory = Memory { read_ahead_bytes: read_ahead, ..MEMORY };
        let entries = extents(sizes);
        let mut planner = Planner::new(entries.clone(), alignment, memory, VOLUME);
        let (mut waiting, mut starts) = (BTreeSet::new(), Vec::new());
        let mut ended = Ended::default();
        for (what, number, bytes) in steps {
            let id = number % count;
            match what {
                0 if !waiting.contains(&id) => match planner.demand(id, |_| false) {
                    Answer::Kept(_) => {}
                    Answer::Joined(start) => {
                        waiting.insert(id);
                        starts.extend(start);
                    }
                    Answer::Read(start) => {
                        prop_assert!(start.extent.covers(entries[id as usize]));
                        waiting.insert(id);
                        starts.push(start);
                    }
                },
                1 => {
                    let mut ids: Vec<Id> = (id..count).step_by(3).filter(|id| !waiting.contains(id)).collect();
                    let (asked, mut found) = (ids.clone(), Vec::new());
                    planner.plan(&mut ids, &mut found, &mut starts);
                    waiting.extend(asked);
                    for (id, _) in found {
                        prop_assert!(waiting.remove(&id));
                    }
                }
                2 => planner.cancel(|id| id % 7 == 0 && waiting.remove(&id)),
                _ => {
                    if starts.is_empty() { continue; }
                    let start: Start = starts.swap_remove(number as usize % starts.len());
                    // Now and then a read fails or is short.
                    let brought = if bytes < 150_000 { start.extent.bytes } else { bytes.min(start.extent.bytes) };
                    planner.ended(start.tag, brought, |_| false, &mut ended);
                    for id in ended.arrived.iter().chain(&ended.lost) {
                        prop_assert!(waiting.remove(id), "{} came unasked", id);
                    }
                    starts.extend(&ended.starts);
                }
            }
        }
        while let Some(start) = starts.pop() {
            planner.ended(start.tag, start.extent.bytes, |_| false, &mut ended);
            for id in ended.arrived.iter().chain(&ended.lost) {
                prop_assert!(waiting.remove(id));
            }
            starts.extend(&ended.starts);
        }
        prop_assert!(waiting.is_empty(), "{:?} never came", waiting);
    }
}

/// A planner of `count` files of 20,000 bytes; the runs loaded one in `every`.
fn predicting(count: u32, every: usize, costs: Costs) -> Planner {
    let entries = extents((0..count).map(|_| 20_000));
    let mut planner = Planner::new(entries.clone(), 1, MEMORY, costs);
    let run: Vec<Id> = (0..count).step_by(every).collect();
    let model = Model::train(count, &[run.clone(), run]);
    planner.set_prediction(Prediction::new(model, entries));
    planner
}

#[test]
fn a_demand_takes_along_what_is_likely_to_follow() {
    let read = |planner: &mut Planner| {
        planner.loaded(1000);
        planner.foresee(|_| false, &mut Vec::new());
        let Answer::Read(start) = planner.demand(1000, |_| false) else { panic!("no read") };
        start.extent
    };
    // A request costs as much as reading 300 KB: gaps of 580 KB behind the window are too
    // long, those of 80 KB not.
    let mut planner = predicting(2000, 40, VOLUME);
    let alone = read(&mut Planner::new(extents((0..2000).map(|_| 20_000)), 1, MEMORY, VOLUME));
    assert_eq!(read(&mut planner), alone);
    assert!(read(&mut predicting(2000, 5, VOLUME)).bytes > READ_BYTES_MAX - 100_000);
    let entries = extents((0..2000).map(|_| 20_000));
    let run: Vec<Id> = (1000..1100).collect();
    let model = Model::train(2000, &[run.clone(), run]);
    let mut planner = Planner::new(entries.clone(), 1, MEMORY, VOLUME);
    planner.set_prediction(Prediction::new(model, entries));
    let along = read(&mut planner);
    assert!(along.bytes > READ_BYTES_MAX - 20_000 && along.bytes <= READ_BYTES_MAX, "{along:?}");
}

/// Bytes that a program reads, which loads three of 20 files, if it is known to or not.
fn bytes_read(is_known: bool) -> u64 {
    let run: Vec<Id> = (0..8000).filter(|id| id % 20 < 3).collect();
    let entries = extents((0..8000).map(|_| 20_000));
    let mut planner = Planner::new(entries.clone(), 1, MEMORY, VOLUME);
    if is_known {
        let model = Model::train(8000, &[run.clone(), run.clone()]);
        planner.set_prediction(Prediction::new(model, entries));
    }
    let (mut bytes, mut ended) = (0, Ended::default());
    for &id in &run {
        planner.loaded(id);
        if let Answer::Read(start) = planner.demand(id, |_| false) {
            bytes += start.extent.bytes;
            planner.ended(start.tag, start.extent.bytes, |_| false, &mut ended);
        }
    }
    bytes
}

#[test]
fn around_a_demand_only_that_is_read_which_a_followed_run_announces() {
    // Two files that come with the first are worth a window of 300 KB to who does not know them.
    let needed = 400 * 60_000;
    assert!(bytes_read(false) > needed * 3, "{}", bytes_read(false));
    assert!(bytes_read(true) < needed * 3 / 2, "{}", bytes_read(true));
}

#[test]
fn a_read_grows_to_what_comes_some_day_only_by_what_that_saves() {
    // The run loads the files from 300 on, and then those before.
    let entries = extents((0..600).map(|_| 20_000));
    let run: Vec<Id> = (300..600).chain((0..290).step_by(10)).collect();
    let model = Model::train(600, &[run.clone(), run]);
    let read = |id| {
        let mut planner = Planner::new(entries.clone(), 1, MEMORY, VOLUME);
        planner.set_prediction(Prediction::new(model.clone(), entries.clone()));
        planner.guess_anew();
        planner.with_guesses(entries[id], &|_| false)
    };
    assert_eq!(read(145), entries[145], "each lies 180 KB behind the one before");
    let last = read(599);
    assert!(last.bytes > READ_BYTES_MAX - 20_000, "those before it lie side by side: {last:?}");
}

#[test]
fn what_a_new_file_names_gets_reads_of_its_own_where_requests_are_cheap() {
    // A request of the store in the cloud costs as much as reading 10 MB.
    let cloud = Costs { request_ns: 100_000_000, bytes_per_second: 100_000_000, depth: 32 };
    let reads = |costs| {
        let entries = extents((0..4000).map(|_| 20_000));
        let named = (0..20).map(|number| (3000, 1000 + number, 255)).collect();
        let references = References::new(4000, named);
        let model = Model::train(4000, &[]).with_references(references);
        let mut planner = Planner::new(entries.clone(), 1, MEMORY, costs);
        planner.set_prediction(Prediction::new(model, entries));
        planner.loaded(3000);
        let _ = planner.demand(3000, |_| false);
        let mut starts = Vec::new();
        planner.foresee(|_| false, &mut starts);
        starts.len()
    };
    assert_eq!((reads(FLASH), reads(cloud)), (1, 0));
}

#[test]
fn guesses_get_reads_of_their_own_only_where_no_demand_waits_for_them() {
    let begun = |costs| {
        let mut starts = Vec::new();
        predicting(20_000, 5, costs).foresee(|_| false, &mut starts);
        starts
    };
    assert_eq!(begun(VOLUME), []);
    let starts = begun(FLASH);
    assert!(!starts.is_empty());
    let bytes: u64 = starts.iter().map(|start| start.extent.bytes).sum();
    assert!(bytes <= (16 << 20) / 4, "a quarter of the kept reads: {bytes}");
    let none = Memory { cache_bytes: 0, ..MEMORY };
    let entries = extents((0..100).map(|_| 20_000));
    let mut planner = Planner::new(entries.clone(), 1, none, FLASH);
    let model = Model::train(100, &[(0..100).collect()]);
    planner.set_prediction(Prediction::new(model, entries));
    let mut starts = Vec::new();
    planner.foresee(|_| false, &mut starts);
    assert_eq!(starts, [], "there is no room to keep them");
}

#[test]
fn what_was_guessed_and_dropped_unused_is_counted_as_wasted_and_not_read_again() {
    let entries = extents((0..300).map(|_| 10_000));
    let memory = Memory { read_ahead_bytes: Some(400_000), ..MEMORY };
    let mut planner = Planner::new(entries.clone(), 1, memory, FLASH);
    let run: Vec<Id> = (0..10).collect();
    let model = Model::train(300, &[run.clone(), run]);
    planner.set_prediction(Prediction::new(model, entries));
    let (mut starts, mut ended) = (Vec::new(), Ended::default());
    planner.foresee(|_| false, &mut starts);
    assert_eq!(starts.len(), 1);
    assert_eq!((planner.score().files, planner.score().bytes), (10, 100_000));
    planner.ended(starts[0].tag, 100_000, |_| false, &mut ended);
    // Other demands push it out. The prediction does not learn of them: it would guess their
    // neighbours.
    for id in (20..300).step_by(3) {
        if let Answer::Read(Start { tag, extent, .. }) = planner.demand(id, |_| false) {
            planner.ended(tag, extent.bytes, |_| false, &mut ended);
        }
    }
    let score = planner.score();
    assert_eq!((score.used, score.wasted_bytes), (0, score.bytes));
    starts.clear();
    planner.foresee(|_| false, &mut starts);
    assert_eq!(starts, []);
}

#[test]
fn a_large_file_is_not_read_ahead_for_a_guess() {
    let large = READ_BYTES_MAX + 1;
    let entries = extents((0..20).map(|number| if number == 10 { large } else { 100_000 }));
    let mut planner = Planner::new(entries.clone(), 1, MEMORY, FLASH);
    let run: Vec<Id> = (0..20).collect();
    let model = Model::train(20, &[run.clone(), run]);
    planner.set_prediction(Prediction::new(model, entries.clone()));
    let mut starts = Vec::new();
    planner.foresee(|_| false, &mut starts);
    assert!(!starts.is_empty());
    assert!(starts.iter().all(|start| !start.extent.covers(entries[10])), "{starts:?}");
    let files = planner.score().files;
    planner.loaded(10);
    let Answer::Read(start) = planner.demand(10, |_| false) else { panic!("nothing is there yet") };
    assert_eq!((start.extent, start.alone), (entries[10], Some(10)));
    assert_eq!(planner.score().files, files, "nothing else comes with it");
}

#[test]
fn without_room_to_keep_them_no_guesses_come_with_a_demand() {
    let none = Memory { cache_bytes: 0, ..MEMORY };
    let entries = extents((0..100).map(|_| 20_000));
    let mut planner = Planner::new(entries.clone(), 1, none, VOLUME);
    let model = Model::train(100, &[(0..100).collect()]);
    planner.set_prediction(Prediction::new(model, entries.clone()));
    planner.loaded(50);
    planner.foresee(|_| false, &mut Vec::new());
    let Answer::Read(start) = planner.demand(50, |_| false) else { panic!("no read") };
    assert_eq!(start.extent, entries[50]);
}

#[test]
fn with_a_prediction_more_of_a_cache_is_for_reads_where_requests_are_dear() {
    let memory = Memory { cache_bytes: 64 << 20, read_ahead_bytes: None, ..MEMORY };
    let files = |costs, predicts: bool| {
        let mut planner = Planner::new(extents([10]), 1, memory, costs);
        if predicts {
            let model = Model::train(1, &[vec![0]]);
            planner.set_prediction(Prediction::new(model, extents([10])));
        }
        planner.files_bytes() >> 20
    };
    assert_eq!([files(VOLUME, false), files(VOLUME, true)], [32, 16]);
    assert_eq!([files(FLASH, false), files(FLASH, true)], [48, 48]);
}
