//! What is safe when the power is cut, as the docs of `files` state it. A program writes, reads and
//! syncs through the cache; the engine logs what the device is asked for. We cut the log anywhere.
//! The device then has all that ended before its last sync began, and of what began later whatever
//! it likes: each page of a write by itself, and writes that were under way together in any order.
//!
//! - **Sync.** What was written before a sync that returned is there, or something newer.
//! - **Order of one page.** A page on the device never becomes older.
//! - **Cuts.** What was cut off never comes back, once a sync has returned.
//! - **No other order.** Without a sync, a later write may be there and an earlier one not.

use crate::logged::{Event, Logged};
use crate::support::random;
use proptest::prelude::*;
use seekless_page_cache::{File, PageCache};
use seekless_policy::cache::write_back::{Cluster, FlushRule};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

const PAGE: u64 = 4096;
/// Bytes that one version number covers: a write begins and ends between two of them.
const CELL: u64 = 1024;
const PAGES: u64 = 40;

#[derive(Clone, Debug)]
enum Act {
    Write { file: usize, cell: u64, cells: u64 },
    Read { file: usize, page: u64 },
    SetLen { file: usize, cell: u64 },
    Sync { file: usize },
    Wake { after: u64 },
}

fn act() -> impl Strategy<Value = Act> {
    let file = 0..2_usize;
    prop_oneof![
        6 => (file.clone(), 0..PAGES * 4, 1..12_u64)
            .prop_map(|(file, cell, cells)| Act::Write { file, cell, cells }),
        3 => (file.clone(), 0..PAGES).prop_map(|(file, page)| Act::Read { file, page }),
        1 => (file.clone(), 0..PAGES * 4).prop_map(|(file, cell)| Act::SetLen { file, cell }),
        1 => file.prop_map(|file| Act::Sync { file }),
        1 => (1..20_u64).prop_map(|after| Act::Wake { after }),
    ]
}

fn rule() -> impl Strategy<Value = FlushRule> {
    let tight = FlushRule {
        expire: Some(15),
        background: Some(0.2),
        limit: Some(0.5),
        cluster: Cluster::Pages(4),
    };
    prop::sample::select(vec![
        FlushRule::default(),
        tight,
        FlushRule { cluster: Cluster::File, ..tight },
        FlushRule { limit: Some(0.1), cluster: Cluster::None, ..tight },
    ])
}

/// What a cell has: the version that was written last, or 0 since the cut with this version.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Cell {
    version: u32,
    cut: u32,
}

impl Cell {
    /// Whether the device may have this version, after a sync: the same, or a newer one.
    fn allows(self, found: u32) -> bool {
        match self.version {
            0 => found == 0 || found > self.cut,
            version => found >= version,
        }
    }
}

/// What a sync promised: this many events had been logged, and the file had these cells.
struct Promise {
    position: usize,
    inode: u64,
    cells: Vec<Cell>,
}

/// Runs the program; returns the log and what its syncs promised.
fn run(acts: &[Act], rule: FlushRule, policy: &str, seed: u64) -> (Vec<Event>, Vec<Promise>) {
    let folder = tempfile::tempdir().unwrap();
    let engine = Arc::new(Logged::holding_back(seed));
    let cache = PageCache::builder()
        .bytes(96 << 10)
        .policy(policy)
        .flush(rule)
        .wake_every(None)
        .shared_engine(engine.clone())
        .build()
        .unwrap();
    let open = |name: &str| cache.open_to_write(folder.path().join(name)).unwrap();
    let files = [open("a"), open("b")];
    let inode = |name: &str| folder.path().join(name).metadata().unwrap().ino();
    let inodes = [inode("a"), inode("b")];
    let mut model = [(); 2].map(|()| vec![Cell::default(); (PAGES * 4 + 12) as usize]);
    let (mut now, mut promises) = (0, Vec::new());
    for (version, act) in (1_u32..).zip(acts) {
        match *act {
            Act::Write { file, cell, cells } => {
                let bytes = version.to_le_bytes().repeat((cells * CELL / 4) as usize);
                write(&files[file], &bytes, cell * CELL);
                let written = Cell { version, cut: 0 };
                model[file][cell as usize..(cell + cells) as usize].fill(written);
            }
            Act::SetLen { file, cell } => {
                files[file].set_len(cell * CELL).unwrap();
                model[file][cell as usize..].fill(Cell { version: 0, cut: version });
            }
            Act::Read { file, page } => {
                let mut buffer = vec![0; PAGE as usize];
                let read = files[file].read_at(&mut buffer, page * PAGE).unwrap();
                let cells = cells_of(&buffer[..read]);
                let first = (page * 4) as usize;
                let of = &model[file][first..first + cells.len()];
                let expected: Vec<u32> = of.iter().map(|cell| cell.version).collect();
                assert_eq!(cells, expected, "page {page}");
            }
            Act::Sync { file } => {
                files[file].sync_data().unwrap();
                let (position, cells) = (engine.position(), model[file].clone());
                promises.push(Promise { position, inode: inodes[file], cells });
            }
            Act::Wake { after } => {
                now += after;
                engine.set_now(now);
                cache.flush_due();
            }
        }
    }
    (engine.log(), promises)
}

fn write(file: &File, bytes: &[u8], offset: u64) {
    assert_eq!(file.write_at(bytes, offset).unwrap(), bytes.len());
}

/// The versions in some bytes, of which each cell has one.
fn cells_of(bytes: &[u8]) -> Vec<u32> {
    let version = |cell: &[u8]| {
        let version = u32::from_le_bytes(cell[..4].try_into().unwrap());
        assert!(cell.chunks(4).all(|part| part == version.to_le_bytes()), "a torn cell");
        version
    };
    bytes.chunks(CELL as usize).map(version).collect()
}

/// A write of a page that the device may or must have carried out.
struct PageWrite {
    inode: u64,
    page: u64,
    cells: Vec<u32>,
    began: usize,
    ended: Option<usize>,
}

fn page_writes(log: &[Event]) -> Vec<PageWrite> {
    let mut writes = Vec::new();
    let mut of_number: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, event) in log.iter().enumerate() {
        match event {
            Event::Began { number, inode, offset, bytes } => {
                for (part, page) in bytes.chunks(PAGE as usize).zip(offset / PAGE..) {
                    of_number.entry(*number).or_default().push(writes.len());
                    let (inode, cells) = (*inode, cells_of(part));
                    writes.push(PageWrite { inode, page, cells, began: at, ended: None });
                }
            }
            Event::Ended { number } => {
                of_number[number].iter().for_each(|&write| writes[write].ended = Some(at));
            }
            Event::Synced { .. } | Event::Resized { .. } => {}
        }
    }
    writes
}

/// A file was given this end, in cells; the position of it in the log.
struct Resize {
    at: usize,
    inode: u64,
    end: u64,
}

fn resizes(log: &[Event]) -> Vec<Resize> {
    let resize = |(at, event): (usize, &Event)| match *event {
        Event::Resized { inode, bytes } => Some(Resize { at, inode, end: bytes / CELL }),
        _ => None,
    };
    log.iter().enumerate().filter_map(resize).collect()
}

/// What changes a device, at a moment of the log.
enum Change<'a> {
    Page(&'a PageWrite),
    End(&'a Resize),
}

/// The device after a cut: the cells of each page. Fails if a page became older on the way.
fn device_after(
    log: &[Event],
    (writes, resizes): (&[PageWrite], &[Resize]),
    cut: usize,
    seed: &mut u64,
) -> Result<BTreeMap<(u64, u64), Vec<u32>>, TestCaseError> {
    let last_sync = |inode: u64| {
        let synced = |event: &Event| matches!(event, Event::Synced { inode: of } if *of == inode);
        log[..cut].iter().rposition(synced).unwrap_or(0)
    };
    let mut chosen: Vec<(usize, Change<'_>)> = Vec::new();
    for write in writes.iter().filter(|write| write.began < cut) {
        let is_safe = write.ended.is_some_and(|ended| ended < last_sync(write.inode));
        if is_safe || random(seed).is_multiple_of(2) {
            // Its place in the device's order: any moment at which it was under way.
            let ended = write.ended.unwrap_or(cut).min(cut).max(write.began + 1);
            let place = write.began + random(seed) as usize % (ended - write.began);
            chosen.push((place, Change::Page(write)));
        }
    }
    // A file system's journal has changes of an end in order: those up to some moment.
    let until = random(seed) as usize % (cut + 1);
    for resize in resizes.iter().filter(|resize| resize.at < cut) {
        if resize.at < last_sync(resize.inode).max(until) {
            chosen.push((resize.at, Change::End(resize)));
        }
    }
    chosen.sort_by_key(|(place, _)| *place);
    let mut device: BTreeMap<(u64, u64), Vec<u32>> = BTreeMap::new();
    for (_, change) in chosen {
        match change {
            Change::Page(write) => {
                let page = device.entry((write.inode, write.page)).or_default();
                page.resize(page.len().max(write.cells.len()), 0);
                for (old, &new) in page.iter_mut().zip(&write.cells) {
                    let is_older = new < *old && new > 0;
                    prop_assert!(!is_older, "page {} became older: {old} to {new}", write.page);
                    *old = new;
                }
            }
            Change::End(&Resize { inode, end, .. }) => {
                for (&(_, page), cells) in device.range_mut((inode, 0)..(inode + 1, 0)) {
                    cells.truncate(end.saturating_sub(page * 4).min(4) as usize);
                }
            }
        }
    }
    Ok(device)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn what_was_synced_survives_a_cut_at_any_time(
        acts in prop::collection::vec(act(), 1..150),
        rule in rule(),
        policy in prop::sample::select(vec!["lru", "2q", "arc", "cflru", "sieve", "w-tinylfu"]),
        mut seed in 1_u64..u64::MAX,
    ) {
        let (log, promises) = run(&acts, rule, policy, seed);
        let (writes, resizes) = (page_writes(&log), resizes(&log));
        for _ in 0..40 {
            let cut = random(&mut seed) as usize % (log.len() + 1);
            let device = device_after(&log, (&writes, &resizes), cut, &mut seed)?;
            for promise in promises.iter().filter(|promise| promise.position <= cut) {
                let is_kept = |cell: u64, promised: Cell, found: u32| {
                    // A later cut may have taken it away.
                    let of_cell = |resize: &&Resize| {
                        resize.inode == promise.inode && resize.end <= cell
                    };
                    let is_cut = resizes.iter().filter(of_cell).any(|resize| {
                        (promise.position..cut).contains(&resize.at)
                    });
                    promised.allows(found) || found == 0 && is_cut
                };
                for (cell, &promised) in (0_u64..).zip(&promise.cells) {
                    let page = device.get(&(promise.inode, cell / 4));
                    let found = page.and_then(|page| page.get(cell as usize % 4)).copied();
                    prop_assert!(
                        is_kept(cell, promised, found.unwrap_or(0)),
                        "cell {cell}: {found:?} in place of {promised:?}, cut at {cut}"
                    );
                }
            }
        }
    }
}

#[test]
fn without_a_sync_a_later_write_may_come_first() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Arc::new(Logged::new());
    let rule = FlushRule::default();
    let builder = PageCache::builder().bytes(64 << 10).flush(rule).wake_every(None);
    let cache = builder.shared_engine(engine.clone()).build().unwrap();
    let file = cache.open_to_write(folder.path().join("a")).unwrap();
    write(&file, &[1; 4096], 0);
    write(&file, &[2; 4096], 4096);
    write(&file, &[3; 4096], 0);
    for page in 2..13 {
        write(&file, &[4; 4096], page * PAGE);
    }
    let first = engine.log().into_iter().find_map(|event| match event {
        Event::Began { offset, .. } => Some(offset),
        _ => None,
    });
    assert_eq!(first, Some(PAGE), "page 0, written first, waits");
}
