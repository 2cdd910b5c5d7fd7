//! What is safe when the power is cut, in a model. A run leaves a log of the device's writes. We
//! cut it anywhere, and look at what the device holds then:
//!
//! - **Sync.** If a sync of a file had returned, each page of the file is at least as new as it was
//!   then, whatever the rule of write-back and the policy.
//! - **Order of one page.** A page on the device never becomes older.
//! - **No other order.** Without a sync, a later write may reach the device before an earlier one.

use super::DeviceAccess;
use crate::{Case, Options, Requests, WriteBack, run::run};
use proptest::prelude::*;
use std::ops::Range;

const PAGES: u32 = 20;
/// Files of five pages.
const FILE: u64 = 5;

/// A program: writes and reads of pages, and syncs of files.
#[derive(Clone, Debug)]
enum Act {
    Read(u32),
    Write(u32),
    Sync(u64),
}

/// A program's requests, which of them write, and its syncs.
struct Program {
    requests: Vec<(u32, bool)>,
    /// The number of requests before each, and the keys of the file.
    syncs: Vec<(u64, Range<u64>)>,
}

impl Program {
    fn new(acts: &[Act]) -> Self {
        let (mut requests, mut syncs) = (Vec::new(), Vec::new());
        for act in acts {
            match *act {
                Act::Read(page) => requests.push((page, false)),
                Act::Write(page) => requests.push((page, true)),
                Act::Sync(file) => {
                    syncs.push((requests.len() as u64, file * FILE..(file + 1) * FILE));
                }
            }
        }
        Self { requests, syncs }
    }

    /// The device's writes in order: the page, and the number of requests that had been made.
    fn log(&self, case: &Case, write_back: WriteBack) -> Vec<(u32, u64)> {
        let ids = self.requests.iter().map(|request| request.0).collect();
        let writes =
            self.requests.iter().enumerate().filter(|(_, request)| request.1).map(|(at, _)| at);
        let requests = Requests::from_pages(ids).with_writes(writes).with_syncs(self.syncs.clone());
        let mut log = Vec::new();
        let device = |access: DeviceAccess| {
            if access.write {
                log.push((access.id, access.position as u64 + 1));
            }
        };
        let options = Options { write_back, ..Options::default() };
        run(&requests, case, &options, Some(Box::new(device))).expect("it runs");
        log
    }

    /// The version of a page after this many requests: the number of its last write, from 1; 0 for
    /// none.
    fn version(&self, page: u32, made: u64) -> u64 {
        let last = self.requests[..made as usize].iter().rposition(|it| *it == (page, true));
        last.map_or(0, |at| at as u64 + 1)
    }
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (0..PAGES).prop_map(Act::Write),
        3 => (0..PAGES).prop_map(Act::Read),
        1 => (0..u64::from(PAGES) / FILE).prop_map(Act::Sync),
    ]
}

proptest! {
    #[test]
    fn what_was_synced_survives_a_cut_at_any_time(
        acts in prop::collection::vec(act(), 1..120),
        pages in 2u64..12,
        policy in prop::sample::select(vec!["lru", "2q", "arc", "cflru", "sieve", "fab"]),
        rule in prop::sample::select(vec![
            "sync", "sync,every=9", "sync,expire=6,wake=2", "sync,background=20%,limit=50%",
            "sync,expire=9,cluster=4pages", "sync,limit=30%,cluster=file", "sync,shrink=40%@10..50",
        ]),
    ) {
        let program = Program::new(&acts);
        let case = Case { policy: policy.into(), capacity: pages * 4096 };
        let log = program.log(&case, rule.parse().unwrap());
        let mut device = [0; PAGES as usize];
        for cut in 0..=log.len() {
            // By the next write of the device, or the end, the program had come so far.
            let made = log.get(cut).map_or(program.requests.len() as u64, |next| next.1 - 1);
            for (position, keys) in &program.syncs {
                if *position > made {
                    continue; // it may not have returned yet
                }
                for key in keys.clone() {
                    let synced = program.version(key as u32, *position);
                    prop_assert!(device[key as usize] >= synced, "page {key} of the sync at {position}, cut at {cut}");
                }
            }
            if let Some(&(page, made)) = log.get(cut) {
                let version = program.version(page, made);
                prop_assert!(version >= device[page as usize], "page {page} became older");
                device[page as usize] = version;
            }
        }
    }
}

#[test]
fn without_a_sync_a_later_write_may_come_first() {
    let acts = [Act::Write(0), Act::Write(1), Act::Write(0), Act::Read(2)];
    let program = Program::new(&acts);
    let case = Case { policy: "lru".into(), capacity: 2 * 4096 };
    assert_eq!(program.log(&case, WriteBack::default()), [(1, 4)], "page 0, written first, waits");
    let synced = Program::new(&[&acts[..1], &[Act::Sync(0)], &acts[1..]].concat());
    let log = synced.log(&case, "sync".parse().unwrap());
    assert_eq!(log.first(), Some(&(0, 1)), "a sync is how to order them");
}
