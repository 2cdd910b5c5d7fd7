//! What holds whatever is read.

use super::super::table::LOOKED_AT_MAX;
use super::patterns;
use crate::readahead::{
    Ahead, Fate, Handle, Lead, Options, PageNo, Read, Readahead, Streams, Trigger, Window,
};
use proptest::prelude::*;
use seekless_device::{Costs, SplitMix64};

/// A file whose pages are never cached: every window counts.
#[derive(Debug)]
struct Nothing {
    pages: u64,
    costs: Costs,
    windows: Vec<Window>,
}

impl Ahead for Nothing {
    fn cached(&self, _page: PageNo) -> bool {
        false
    }

    fn pages(&self) -> u64 {
        self.pages
    }

    fn submit(&mut self, window: Window) -> u32 {
        self.windows.push(window);
        window.pages
    }

    fn congested(&self) -> bool {
        false
    }

    fn budget_pages(&self) -> u32 {
        10_000
    }

    fn costs(&self) -> Costs {
        self.costs
    }
}

fn costs() -> impl Strategy<Value = Costs> {
    let any = (0u64..10_000_000, 1u64..10_000_000_000, 0u32..100);
    prop_oneof![
        any.prop_map(|(request_ns, bytes_per_second, depth)| {
            Costs { request_ns, bytes_per_second, depth }
        }),
        Just(Costs { request_ns: 0, bytes_per_second: u64::MAX, depth: u32::MAX }),
        Just(Costs { request_ns: u64::MAX, bytes_per_second: 0, depth: 0 }),
    ]
}

#[derive(Clone, Debug)]
enum Call {
    Read {
        file: u32,
        offset: u64,
        bytes: u64,
    },
    Page {
        file: u32,
        page: PageNo,
        why: u8,
    },
    Fate {
        file: u32,
        page: PageNo,
        fate: u8,
    },
    Reopen(u32),
    /// Reads at a constant distance.
    Stride {
        offset: u64,
        step: i64,
        bytes: u64,
        count: u64,
    },
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let offset = prop_oneof![8 => 0u64..40_000_000, 1 => any::<u64>()];
    let bytes = prop_oneof![8 => 1u64..300_000, 1 => any::<u64>()];
    let page = || prop_oneof![8 => 0u64..10_000, 1 => 0..u64::MAX >> 12];
    let step = prop_oneof![(-70i64..70).prop_map(|pages| pages * 4096), -300_000i64..300_000];
    let size = prop_oneof![Just(4096u64), 1u64..70_000];
    let stride = (0u64..40_000_000, step, size, 1u64..30)
        .prop_map(|(offset, step, bytes, count)| Call::Stride { offset, step, bytes, count });
    let call = prop_oneof![
        4 => (0u32..3, offset, bytes).prop_map(|(file, offset, bytes)| {
            Call::Read { file, offset, bytes }
        }),
        4 => stride,
        2 => (0u32..4, page(), 0u8..3).prop_map(|(file, page, why)| Call::Page { file, page, why }),
        2 => (0u32..4, page(), 0u8..3).prop_map(|(file, page, fate)| {
            Call::Fate { file, page, fate }
        }),
        1 => (0u32..3).prop_map(Call::Reopen),
    ];
    prop::collection::vec(call, 1..120)
}

/// Makes the calls, whatever a cache would have called.
fn make(streams: &mut Streams, calls: &[Call], ahead: &mut Nothing) {
    (0..3).for_each(|file| streams.open(Handle(file)));
    for call in calls {
        match *call {
            Call::Read { file, offset, bytes } => {
                streams.on_read(Read { file: Handle(file), offset, bytes }, ahead);
            }
            Call::Page { file, page, why } => {
                let why = [Trigger::Miss, Trigger::Marker, Trigger::Fault][usize::from(why)];
                let offset = page.saturating_mul(4096);
                let read = Read { file: Handle(file), offset, bytes: 5000 };
                streams.on_page(read, page, why, ahead);
            }
            Call::Fate { file, page, fate } => {
                let fate = [Fate::InTime, Fate::Late, Fate::Wasted][usize::from(fate)];
                streams.on_fate(Handle(file), page, fate);
            }
            Call::Reopen(file) => {
                streams.close(Handle(file));
                streams.open(Handle(file));
            }
            Call::Stride { offset, step, bytes, count } => {
                for turn in 0..count as i64 {
                    let offset = (offset as i64 + step * turn).max(0) as u64;
                    let read = Read { file: Handle(0), offset, bytes };
                    streams.on_read(read, ahead);
                    streams.on_page(read, offset / 4096, Trigger::Miss, ahead);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn windows_keep_to_the_largest_and_have_one_marker_inside(
        calls in calls(),
        costs in costs(),
        max_pages in 0u32..600,
        pages in prop_oneof![0u64..20_000, Just(u64::MAX)],
        streams_max in 2usize..40,
    ) {
        let options = Options { max_pages, lead: Lead::Auto };
        let mut ahead = Nothing { pages, costs, windows: Vec::new() };
        make(&mut Streams::with_streams(options, streams_max), &calls, &mut ahead);
        for window in &ahead.windows {
            let range = window.first..window.first + u64::from(window.pages);
            prop_assert!(window.pages > 0, "{window:?}");
            prop_assert!(max_pages == 0 || window.pages <= max_pages, "{window:?}");
            prop_assert!(window.marker.is_none_or(|page| range.contains(&page)), "{window:?}");
        }
    }

    #[test]
    fn the_same_calls_give_the_same_windows(calls in calls(), costs in costs()) {
        let windows = || {
            let mut ahead = Nothing { pages: 10_000, costs, windows: Vec::new() };
            make(&mut Streams::with_streams(Options::default(), 16), &calls, &mut ahead);
            ahead.windows
        };
        prop_assert_eq!(windows(), windows());
    }
}

/// 100,000 streams in a table of 4096, page by page in a random order: the oldest make room, and no
/// read compares more streams than the buckets hold.
#[test]
fn any_number_of_streams_keeps_the_memory_and_the_cost_of_a_read_bounded() {
    let costs = Costs { request_ns: 100_000, bytes_per_second: 1_000_000_000, depth: 8 };
    let mut streams = Streams::with_streams(Options::default(), 4096);
    let mut ahead = Nothing { pages: 100_000 * 64, costs, windows: Vec::new() };
    streams.open(Handle(0));
    let mut random = SplitMix64::new(1);
    let mut done = vec![0u64; 100_000];
    let mut most = 0;
    for _ in 0..300_000 {
        let stream = random.below(100_000);
        let page = stream * 64 + done[stream as usize];
        done[stream as usize] += 1;
        streams.on_read(Read { file: Handle(0), offset: page * 4096, bytes: 4096 }, &mut ahead);
        most = most.max(streams.table.looked_at.get());
        ahead.windows.clear();
    }
    let len = streams.table.len();
    assert!((2048..=4096).contains(&len), "{len}");
    assert!(most <= LOOKED_AT_MAX, "{most}");
}

/// Streams whose number is far below what the table holds are all found, and a read of one compares
/// few others.
#[test]
fn a_read_of_one_of_a_thousand_streams_compares_few_others() {
    let costs = Costs { request_ns: 100_000, bytes_per_second: 1_000_000_000, depth: 8 };
    let mut streams = Streams::new(Options::default());
    let mut ahead = Nothing { pages: patterns::PAGES, costs, windows: Vec::new() };
    streams.open(Handle(0));
    let reads = patterns::streams(1000, 1, 1, 50);
    let (mut looked_at, mut reads_seen) = (0, 0);
    for (page, _) in &reads[10_000..] {
        streams.on_read(Read { file: Handle(0), offset: page * 4096, bytes: 4096 }, &mut ahead);
        looked_at += streams.table.looked_at.get();
        reads_seen += 1;
    }
    assert!(looked_at < 8 * reads_seen, "{looked_at} streams for {reads_seen} reads");
}

/// The head of `Streams` says how much a stream and a file take.
#[test]
fn a_stream_and_a_file_take_the_memory_that_the_documentation_says() {
    use super::super::{file::File, stream::Stream};
    // A stream also has 8 bytes in its list, and 32 in each of the two indexes.
    assert!(size_of::<Stream>() + 8 + 2 * 32 <= 330, "{}", size_of::<Stream>());
    assert!(size_of::<File>() <= 300, "{}", size_of::<File>());
}
