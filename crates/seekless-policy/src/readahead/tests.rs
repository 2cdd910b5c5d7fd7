//! What every readahead must do, and the tables and page sequences of its source.

mod fixed;
mod legacy;
mod linux;
mod ondemand;
mod streams;

use super::host::Host;
use super::{Fate, Handle, Lead, NoReadahead, Options, PageNo, READAHEADS, Window, named};
use proptest::prelude::*;

/// A file of 4 GiB.
const PAGES: u64 = 1 << 20;

fn host(name: &str, max_pages: u32) -> Host {
    with_lead(name, max_pages, Lead::Auto)
}

fn with_lead(name: &str, max_pages: u32, lead: Lead) -> Host {
    Host::boxed(named(name, Options { max_pages, lead }).unwrap(), PAGES)
}

fn window(first: PageNo, pages: u32, marker: Option<PageNo>) -> Window {
    Window { first, pages, marker }
}

/// Windows as (first page, pages).
fn ranges(windows: &[Window]) -> Vec<(PageNo, u32)> {
    windows.iter().map(|window| (window.first, window.pages)).collect()
}

#[test]
fn none_fetches_what_is_asked_for_in_one_piece() {
    let mut host = Host::new(NoReadahead, PAGES);
    host.read(0, 16);
    host.read(8, 10);
    assert_eq!(host.file.windows, [window(0, 16, None), window(16, 2, None)]);
    assert_eq!(host.file.ios, [0..16, 16..18]);
    assert_eq!(host.file.unused(), 0);
}

#[test]
fn a_largest_window_of_nothing_fetches_nothing_ahead() {
    for about in READAHEADS {
        for budget in [false, true] {
            let mut host = host(about.name, if budget { 32 } else { 0 });
            host.file.budget_pages = if budget { 0 } else { u32::MAX };
            (0..20).for_each(|turn| host.read(3 * turn, 3));
            assert_eq!(host.file.unused(), 0, "{}", about.name);
        }
    }
}

/// One step of a made-up program.
#[derive(Clone, Debug)]
enum Step {
    Read { file: u32, page: PageNo, bytes_in: u64, bytes: u64 },
    Evict { page: PageNo, pages: u64 },
    Congest(bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let read = (0u32..3, 0u64..300, prop_oneof![Just(0u64), 0u64..4096], 1u64..400_000)
        .prop_map(|(file, page, bytes_in, bytes)| Step::Read { file, page, bytes_in, bytes });
    let follow = (0u32..3, 0u64..300, 1u64..40).prop_map(|(file, page, pages)| Step::Read {
        file,
        page,
        bytes_in: 0,
        bytes: pages * 4096,
    });
    let evict = (0u64..300, 1u64..60).prop_map(|(page, pages)| Step::Evict { page, pages });
    let step = prop_oneof![
        4 => read,
        4 => follow,
        1 => evict,
        1 => any::<bool>().prop_map(Step::Congest),
    ];
    prop::collection::vec(step, 1..80)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_window_has_one_marker_inside_it_and_no_page_is_fetched_twice(
        steps in steps(),
        pages in 1u64..310,
        max in 0u32..70,
        lead in prop_oneof![Just(Lead::Auto), Just(Lead::Off), (0u32..80).prop_map(Lead::Pages)],
        name in prop::sample::select(READAHEADS),
    ) {
        let mut host = with_lead(name.name, max, lead);
        host.file.pages = pages;
        (1..3).for_each(|file| host.readahead.open(Handle(file)));
        let mut fetched = std::collections::BTreeSet::new();
        for step in steps {
            match step {
                Step::Read { file, page, bytes_in, bytes } => {
                    host.read_bytes(Handle(file), page * 4096 + bytes_in, bytes);
                }
                Step::Evict { page, pages } => {
                    host.evict(page..page + pages);
                    (page..page + pages).for_each(|page| { fetched.remove(&page); });
                }
                Step::Congest(congested) => host.file.congested = congested,
            }
            let (windows, ios) = host.take();
            for window in windows {
                let inside = window.first..window.first + u64::from(window.pages);
                prop_assert!(window.marker.is_none_or(|page| inside.contains(&page)), "{window:?}");
                prop_assert!(window.marker.is_none() || lead != Lead::Off || name.name == "legacy");
            }
            for page in ios.into_iter().flatten() {
                prop_assert!(page < pages && fetched.insert(page), "{} fetched twice", page);
            }
        }
        prop_assert!(host.file.markers().len() as u64 <= pages);
    }

    /// Wu 2010, section 2.4.2: whatever the reads, each trigger is a page that is used, and brings
    /// at most the largest window. So one page of every `max` fetched is used, apart from those of
    /// windows that wait for their reader.
    #[test]
    fn the_hit_rate_is_at_least_one_page_of_the_largest_window(
        pages in prop::collection::vec(0u64..3000, 1..300),
        max in 1u32..64,
        name in prop::sample::select(READAHEADS),
    ) {
        let mut host = host(name.name, max);
        let mut used = std::collections::BTreeSet::new();
        for page in pages {
            host.read(page, 1);
            used.insert(page);
        }
        let fetched: u64 = host.file.ios.iter().map(|io| io.end - io.start).sum();
        // Legacy has two windows for a trigger.
        let windows = if name.name == "legacy" { 2 } else { 1 };
        // A page can trigger twice, by its miss and by its marker.
        prop_assert!(fetched <= used.len() as u64 * 2 * windows * u64::from(max));
    }
}

#[test]
fn fates_and_unknown_files_are_no_trouble() {
    for about in READAHEADS {
        let mut host = host(about.name, 32);
        host.fate_of_use = Fate::Late;
        host.read_each(0..100);
        host.evict(0..200);
        host.readahead.close(Handle(0));
        host.readahead.close(Handle(7));
        host.read_each(100..110);
        // McCarthy's rule keeps nothing of a file, so it cannot know.
        let fetches_ahead = host.file.unused() > 0;
        assert_eq!(
            fetches_ahead,
            about.name.starts_with("ahead-15"),
            "{}: it is closed",
            about.name
        );
        host.readahead.open(Handle(0));
        host.read_each(0..10);
    }
}

/// The largest windows that these reads start.
fn largest(host: &mut Host, pages: std::ops::Range<PageNo>) -> u32 {
    host.take();
    host.read_each(pages);
    host.take().0.iter().map(|window| window.pages).max().unwrap_or(0)
}

#[test]
fn memory_pressure_shrinks_windows_and_they_grow_again() {
    for name in ["legacy", "ondemand", "linux", "streams"] {
        let mut host = host(name, 256);
        assert_eq!(largest(&mut host, 0..4000), 256, "{name}");
        host.file.budget_pages = 64;
        host.read_each(4000..4600);
        let under_pressure = largest(&mut host, 4600..6000);
        assert!((1..=64).contains(&under_pressure), "{name}: {under_pressure}");
        host.file.budget_pages = u32::MAX;
        assert_eq!(largest(&mut host, 6000..10_000), 256, "{name}");
    }
}

#[test]
fn a_stream_whose_window_was_evicted_begins_again_and_reaches_the_largest() {
    for name in ["legacy", "ondemand", "linux", "streams"] {
        let mut host = host(name, 256);
        host.read_each(0..4000);
        host.take();
        host.evict(4000..PAGES.min(10_000));
        host.read(4000, 1);
        let first = host.take().0.iter().map(|window| window.pages).max();
        assert!(first.is_none_or(|pages| pages < 256), "{name}: {first:?}");
        assert_eq!(largest(&mut host, 4001..10_000), 256, "{name}");
    }
}
