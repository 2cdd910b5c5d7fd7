//! What a store knows of its device, and what follows from it for its reads.

use crate::support::{Gate, Sample};
use seekless_device::Nanos;
use seekless_engine::{Completion, Counters, Engine, EngineKind, Read, build};
use seekless_io::{Costs, CostsSource, Statistics, Store};
use seekless_pack::Codec;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

const DEAR: Costs = Costs { request_ns: 10_000_000, bytes_per_second: 100_000_000, depth: 1 };

/// A device whose costs are unknown. It serves one read after another, on a clock of its own.
struct Unknown {
    inner: Arc<dyn Engine>,
    costs: Costs,
    now: AtomicU64,
}

impl Unknown {
    fn new(costs: Costs) -> Self {
        let inner = build(EngineKind::Threads).unwrap();
        Unknown { inner, costs, now: AtomicU64::new(1) }
    }
}

impl Engine for Unknown {
    fn submit(&self, reads: Vec<Read>) {
        for mut read in reads {
            let bytes = read.buffer.capacity() as u64;
            let took = self.costs.request_ns + bytes * 1_000_000_000 / self.costs.bytes_per_second;
            let (done, completed) = mpsc::channel();
            let answer = std::mem::replace(&mut read.done, done.into());
            self.inner.submit(vec![read]);
            let completion: Completion = completed.recv().unwrap();
            self.now.fetch_add(took, Ordering::SeqCst);
            answer.send(completion);
        }
    }

    fn counters(&self) -> Counters {
        self.inner.counters()
    }

    fn name(&self) -> &'static str {
        "unknown"
    }

    fn costs(&self) -> Costs {
        Costs::ASSUMED
    }

    fn knows_costs(&self) -> bool {
        false
    }

    fn now(&self) -> Nanos {
        self.now.load(Ordering::SeqCst)
    }
}

fn load_every(store: &Store, sample: &Sample, step: usize) {
    for number in (0..sample.files.len()).step_by(step) {
        assert_eq!(&store.load(sample.name(number)).unwrap()[..], sample.bytes(number));
    }
}

#[test]
fn a_store_says_how_it_knows_its_device() {
    let sample = Sample::of_sizes([1_000], Codec::Stored);
    let known = |store: Store| (store.statistics().costs, store.statistics().costs_source);
    let unknown =
        || Store::builder().look_up_costs(false).shared_engine(Arc::new(Unknown::new(DEAR)));
    let gate = Arc::new(Gate::new());
    let of_the_engine = gate.costs;
    let open = |builder: seekless_io::StoreBuilder| known(builder.open(&sample.path).unwrap());
    assert_eq!(open(unknown()), (Costs::ASSUMED, CostsSource::Assumed));
    assert_eq!(open(unknown().probed(DEAR)), (DEAR, CostsSource::Probed));
    assert_eq!(
        open(unknown().probed(DEAR).costs(of_the_engine)),
        (of_the_engine, CostsSource::Given)
    );
    let engine = Store::builder().shared_engine(gate);
    assert_eq!(open(engine.clone().probed(DEAR)), (of_the_engine, CostsSource::Given));
    assert_eq!(open(engine.costs(DEAR)), (DEAR, CostsSource::Given));
}

#[test]
fn a_store_that_was_not_told_finds_out_and_reads_accordingly() {
    let sample =
        Sample::of_sizes((0..1500).map(|number| 2_000 + number % 7 * 2_000), Codec::Stored);
    let requests = |costs: Option<Costs>| {
        let mut builder =
            Store::builder().look_up_costs(false).shared_engine(Arc::new(Unknown::new(DEAR)));
        if let Some(costs) = costs {
            builder = builder.costs(costs);
        }
        let store = builder.open(&sample.path).unwrap();
        load_every(&store, &sample, 1);
        (store.counters().requests, store.statistics())
    };
    let (told, _) = requests(Some(DEAR));
    let (never, _) = requests(Some(Costs::ASSUMED));
    // The device is real time: while other programs keep the machine busy it seems slower, and by
    // no constant amount. So there are three turns.
    let turn = || {
        let (untold, statistics) = requests(None);
        assert_eq!(statistics.costs_source, CostsSource::Estimated);
        let error_ns = statistics.costs.request_ns.abs_diff(DEAR.request_ns);
        // Eight reads of at most 125 KB go by before it knows.
        let is_right = error_ns < DEAR.request_ns / 5 && untold <= told + 9 && untold + 9 < never;
        (is_right, format!("{untold} requests; {:?}", statistics.costs))
    };
    let mut turns = Vec::new();
    let is_right = (0..3).any(|_| {
        let (is_right, said) = turn();
        turns.push(said);
        is_right
    });
    assert!(is_right, "{turns:?}; {told} requests if told, {never} with what is assumed");
}

#[test]
fn a_cache_of_nothing_reads_nothing_ahead() {
    let sample = Sample::of_sizes([20_000; 200], Codec::Stored);
    for builder in [Store::builder().cache(0), Store::builder().read_ahead_cache(0)] {
        let store = builder.shared_engine(Arc::new(Gate::new())).open(&sample.path).unwrap();
        load_every(&store, &sample, 1);
        let Statistics { read_bytes, read_ahead_hits, .. } = store.statistics();
        assert_eq!(read_ahead_hits, 0);
        // An entry of 20 KB and its header lies on at most six pages of 4 KiB.
        assert!(read_bytes <= 200 * 6 * 4096, "{read_bytes}");
    }
}

#[test]
fn every_fifth_file_is_not_read_with_the_four_between() {
    // Reading over 120 KB takes about as long as a request, and no window reaches that far.
    let sample = Sample::of_sizes([30_000; 2000], Codec::Stored);
    let store = Store::builder()
        .look_up_costs(false)
        .shared_engine(Arc::new(Unknown::new(Costs::ASSUMED)))
        .open(&sample.path);
    let store = store.unwrap();
    load_every(&store, &sample, 5);
    let (read, needed) = (store.statistics().read_bytes, 400 * 30_000);
    // Each read is rounded to pages, and the first dozen windows are whole.
    assert!(read < 3 * needed / 2, "{read} bytes read for {needed}");
}
