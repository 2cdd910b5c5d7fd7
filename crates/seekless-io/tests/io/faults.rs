//! Reads that fail, one at a time or by place. Each file is right, or is named in an error that
//! reads of its own bytes justify.

use crate::decisions::check_replay;
use crate::faulty::{Fault, Faulty};
use crate::support::Sample;
use crate::without_hang::without_hang;
use seekless_io::{Buffer, ErrorKind, Result, Store, StoreBuilder};
use seekless_pack::Codec;
use std::ops::Range;
use std::sync::Arc;

const PAGE: u64 = 4096;

/// Room for a third of the small files.
const CACHE_BYTES: u64 = 40_000;

struct Bench {
    sample: Arc<Sample>,
    engine: Arc<Faulty>,
    store: Store,
}

/// A way to load every file: calls back with each file's number and result.
type Way = fn(&Bench, &mut dyn FnMut(usize, Result<Buffer>));

const WAYS: [Way; 3] = [one_by_one, backwards, together];

fn one_by_one(bench: &Bench, each: &mut dyn FnMut(usize, Result<Buffer>)) {
    (0..bench.sample.files.len())
        .for_each(|number| each(number, bench.store.load(bench.sample.name(number))));
}

/// From what was read ahead of others, mostly.
fn backwards(bench: &Bench, each: &mut dyn FnMut(usize, Result<Buffer>)) {
    for number in (0..bench.sample.files.len()).rev() {
        each(number, bench.store.load(bench.sample.name(number)));
    }
}

fn together(bench: &Bench, each: &mut dyn FnMut(usize, Result<Buffer>)) {
    bench.store.load_many(bench.sample.names()).for_each(|(number, result)| each(number, result));
}

impl Bench {
    fn new(sample: &Arc<Sample>, builder: &StoreBuilder) -> Self {
        let engine = Arc::new(Faulty::new(Fault::None));
        let store = builder.clone().shared_engine(engine.clone()).open(&sample.path).unwrap();
        Self { sample: sample.clone(), engine, store }
    }

    /// The bytes of the file's own read, past the page cache at its largest.
    fn own_pages(&self, number: usize) -> Range<u64> {
        let span = self.span(number);
        span.start / PAGE * PAGE..span.end.next_multiple_of(PAGE)
    }

    fn span(&self, number: usize) -> Range<u64> {
        let entry = self.store.index().entry(number as u32);
        entry.header_offset..entry.header_offset + entry.extent_bytes
    }

    /// Loads all files one way and returns those that failed; what did not must be right.
    fn failed(&self, way: Way) -> Vec<usize> {
        let (mut seen, mut failed) = (vec![0; self.sample.files.len()], Vec::new());
        way(self, &mut |number, result| {
            seen[number] += 1;
            match result {
                Ok(buffer) => assert_eq!(&buffer[..], self.sample.bytes(number), "file {number}"),
                Err(error) => {
                    failed.push(number);
                    self.check_error(number, &error);
                }
            }
        });
        assert!(seen.iter().all(|&times| times == 1), "each is answered once: {seen:?}");
        failed.sort_unstable();
        failed
    }

    fn check_error(&self, number: usize, error: &seekless_io::Error) {
        let message = error.to_string();
        assert!(matches!(error.kind(), ErrorKind::Read | ErrorKind::Corrupt), "{message}");
        let offset = format!("offset {}", self.span(number).start);
        for part in [&self.sample.path.display().to_string(), self.sample.name(number), &offset] {
            assert!(message.contains(part), "{part:?} is missing in {message:?}");
        }
        let own = self.own_pages(number);
        let justifies = |read: &Range<u64>| own.start <= read.start && read.end <= own.end;
        assert!(self.engine.spoilt().iter().any(justifies), "no read of its own failed: {message}");
    }

    /// The device works again: every way of loading succeeds, and the cache has decided as if the
    /// failed files had just left it.
    fn check_healed(&self) {
        self.engine.set(Fault::None);
        for way in WAYS {
            assert_eq!(self.failed(way), Vec::<usize>::new());
        }
        check_replay(&self.store, "landlord", CACHE_BYTES);
    }
}

/// Small files with a large one among them, so that reads of one file and of many take place.
fn small_and_large() -> Arc<Sample> {
    let size = |number: usize| if number == 20 { 1_300_000 } else { 900 + number * 61 };
    Arc::new(Sample::of_sizes((0..48).map(size), Codec::Auto))
}

fn builders() -> [StoreBuilder; 3] {
    let builder = || {
        let builder = Store::builder().cache(CACHE_BYTES).read_ahead_cache(16 << 20);
        builder.policy("landlord").record_decisions(true)
    };
    let buffered = || builder().direct(false);
    [buffered(), buffered().read_ahead_cache(0).window(30_000), builder().workers(1)]
}

#[test]
fn any_one_read_that_fails_or_is_short_costs_at_most_the_file_that_it_was_for() {
    without_hang(|| {
        for (builder, way) in builders().iter().flat_map(|builder| WAYS.map(|way| (builder, way))) {
            let sample = small_and_large();
            let sound = Bench::new(&sample, builder);
            sound.engine.set(Fault::None);
            assert_eq!(sound.failed(way), Vec::<usize>::new());
            for fault in
                (0..sound.engine.reads()).flat_map(|nth| [Fault::Nth(nth), Fault::ShortNth(nth)])
            {
                let bench = Bench::new(&sample, builder);
                bench.engine.set(fault.clone());
                let failed = bench.failed(way);
                assert!(failed.len() <= 1, "{fault:?}: {failed:?}");
                assert_eq!(bench.store.statistics().failed, failed.len() as u64);
                bench.check_healed();
            }
        }
    });
}

#[test]
fn a_bad_page_fails_the_files_that_lie_on_it_and_no_others() {
    without_hang(|| {
        let sizes = (0..400).map(|number| 700 + number * 7 % 2_500);
        let sample = Arc::new(Sample::of_sizes(sizes, Codec::Stored));
        for (builder, way) in builders().iter().flat_map(|builder| WAYS.map(|way| (builder, way))) {
            let bench = Bench::new(&sample, builder);
            let end = bench.span(399).end;
            for page in (0..end / PAGE).step_by(23) {
                let bad = page * PAGE..(page + 1) * PAGE;
                let touches = |&number: &usize| {
                    let span = bench.span(number);
                    span.start < bad.end && bad.start < span.end
                };
                let expected: Vec<usize> = (0..400).filter(touches).collect();
                assert!(!expected.is_empty());
                let bench = Bench::new(&sample, builder);
                bench.engine.set(Fault::Bad(bad.clone()));
                assert_eq!(bench.failed(way), expected, "page {page}");
                bench.check_healed();
            }
        }
    });
}

#[test]
fn failures_without_number_leave_nothing_behind() {
    without_hang(|| {
        for builder in builders() {
            let bench = Bench::new(&small_and_large(), &builder);
            let whole = 0..bench.span(47).end;
            // This repeats more often than the number of reads in flight allows. A read that never
            // counts as ended would block the last.
            for way in [one_by_one as Way, together].into_iter().cycle().take(40) {
                bench.engine.set(Fault::Bad(whole.clone()));
                assert_eq!(bench.failed(way), Vec::from_iter(0..48));
            }
            bench.check_healed();
        }
    });
}

#[test]
fn a_file_that_was_cut_gives_what_lies_before_the_cut() {
    without_hang(|| {
        for (builder, way) in builders().iter().flat_map(|builder| WAYS.map(|way| (builder, way))) {
            let bench = Bench::new(&small_and_large(), builder);
            let cut = bench.span(30).start + 500;
            bench.engine.set(Fault::Cut(cut));
            assert_eq!(bench.failed(way), Vec::from_iter(30..48));
            bench.check_healed();
        }
    });
}

#[test]
fn a_fault_while_opening_is_an_error_that_names_the_archive_or_does_no_harm() {
    let sample = small_and_large();
    for builder in builders() {
        for fault in (0..4).flat_map(|nth| [Fault::Nth(nth), Fault::ShortNth(nth)]) {
            let engine = Arc::new(Faulty::new(fault.clone()));
            match builder.clone().shared_engine(engine.clone()).open(&sample.path) {
                Ok(store) => Bench { sample: sample.clone(), engine, store }.check_healed(),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Open, "{fault:?}");
                    assert!(error.to_string().contains("sample.zip"), "{error}");
                }
            }
        }
    }
}
