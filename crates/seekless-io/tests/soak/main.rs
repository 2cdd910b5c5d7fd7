//! Soaks a store: several threads load, hold, release, hint, foresee and give up, while the device
//! fails, stops short, flips bits and delays. A few seconds here; `./test soak MINUTES` lets it run
//! longer. A binary of its own, since it counts the memory, threads and descriptors of the whole
//! process.

#[path = "../../../../tests/allocations.rs"]
mod allocations;
mod draws;
mod files;
mod holdings;
mod troubled;
mod user;

use allocations::turn;
use draws::Draws;
use files::Files;
use holdings::{Holdings, stand_still};
use seekless_io::Store;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use troubled::{Trouble, Troubled};
use user::{Done, User};

/// How long it runs, in seconds, and how long where nothing is said.
const SECONDS: &str = "SEEKLESS_SOAK_SECONDS";
const SECONDS_USUAL: u64 = 4;

/// After each round all threads stand still, and what the process holds is counted.
const ROUNDS_MIN: u32 = 8;
const ROUND_MAX: Duration = Duration::from_secs(10);

/// Rounds in which caches and logs fill.
const ROUNDS_TO_FILL: u32 = 3;

/// What may be added later: lists that grow to the longest use of them.
const SLACK_BYTES: usize = 4 << 20;

/// The C library maps an arena for a thread that finds all others in use: 64 MiB of addresses each.
const MAPPED_SLACK_BYTES: usize = 160 << 20;

const THREADS: u64 = 4;
const CACHE_BYTES: u64 = 2 << 20;

/// When no user holds a buffer, the store's are those of the cache and of kept reads. These take
/// whole sectors and pages: up to an eighth more.
const BUFFERS_AT_REST: u64 = 2 * CACHE_BYTES * 9 / 8;

/// Actions in the life of a store that is closed again.
const ACTIONS_OF_A_SHORT_LIFE: usize = 40;

struct Soak {
    files: Files,
    engine: Arc<Troubled>,
    done: Done,
}

impl Soak {
    fn open(&self) -> seekless_io::Result<Store> {
        let Files { pack, patch, folder, .. } = &self.files;
        Store::builder()
            .archive(pack)
            .archive(patch)
            .folder(folder)
            .cache(CACHE_BYTES)
            .read_ahead_cache(CACHE_BYTES)
            .window(CACHE_BYTES)
            .direct(false)
            .shared_engine(self.engine.clone())
            .open_all()
    }

    fn user<'a>(&'a self, store: &'a Store, seed: u64) -> User<'a> {
        User::new(store, &self.files.contents, Draws::new(seed * 0x9E37_79B9), &self.done)
    }

    /// All users at once.
    fn round(&self, store: &Store, number: u32, length: Duration) {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            for user in 0..THREADS {
                let mut user = self.user(store, u64::from(number) * THREADS + user + 1);
                let over = &over;
                scope.spawn(move || {
                    while !over.load(Ordering::Relaxed) {
                        user.act();
                    }
                    user.end();
                });
            }
            thread::sleep(length);
            over.store(true, Ordering::Relaxed);
        });
    }

    /// A store beside the other that is closed while reads are under way. The trouble may keep it
    /// from opening.
    fn short_life(&self, number: u32) {
        let Ok(store) = self.open() else { return };
        let mut user = self.user(&store, u64::from(number) + 1_000_003);
        (0..ACTIONS_OF_A_SHORT_LIFE).for_each(|_| user.act());
        drop(store.load_async(&files::name(u64::from(number) % files::FILES)));
        drop(user);
    }

    fn report(&self, store: &Store, rounds: u32) {
        let Trouble { failed, short, flipped, .. } = &*self.engine.trouble;
        eprintln!(
            "{rounds} rounds, {:?}; reads that failed {failed:?}, stopped short {short:?}, had another bit \
             {flipped:?}; {:?}",
            self.done,
            store.statistics()
        );
    }
}

#[test]
fn a_store_in_trouble_answers_rightly_and_keeps_nothing() {
    let _turn = turn();
    let length = Duration::from_secs(seconds());
    let room = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (begun, files) = (Instant::now(), Files::make(room.path()));
    let at_first = stand_still(None);
    let engine = Arc::new(Troubled::new(&[&files.pack, &files.patch]));
    let soak = Soak { files, engine, done: Done::default() };
    let store = soak.open().unwrap();
    soak.engine.trouble.begun.store(true, Ordering::Relaxed);

    let (mut number, mut filled) = (0, Holdings::default());
    while number < ROUNDS_MIN || begun.elapsed() < length {
        soak.round(&store, number, (length / ROUNDS_MIN).min(ROUND_MAX));
        soak.short_life(number);
        let now = stand_still(Some(&store));
        eprintln!("round {number}, at rest: {now:?}");
        assert!(now.buffer_bytes <= BUFFERS_AT_REST, "round {number}: {now:?}");
        if number < ROUNDS_TO_FILL {
            let Holdings { bytes, mapped_bytes, .. } = filled;
            filled = Holdings {
                bytes: now.bytes.max(bytes),
                mapped_bytes: now.mapped_bytes.max(mapped_bytes),
                ..now
            };
        } else {
            nothing_was_added(number, now, filled);
        }
        number += 1;
    }
    soak.report(&store, number);
    all_of_it_happened(&soak, &store);
    drop(store);
    // The contents were there at first too.
    let Soak { files: _contents, engine, .. } = soak;
    drop(engine);
    let at_last = stand_still(None);
    assert_eq!(
        (at_last.threads, at_last.descriptors),
        (at_first.threads, at_first.descriptors),
        "threads and descriptors are left"
    );
    // The harness and the C library keep what a thread's first use of them allocates.
    assert!(at_last.bytes <= at_first.bytes + (64 << 10), "{at_first:?}, then {at_last:?}");
}

fn seconds() -> u64 {
    match std::env::var(SECONDS) {
        Ok(said) => said.parse().unwrap_or_else(|_| panic!("{SECONDS} is no number: {said:?}")),
        Err(_) => SECONDS_USUAL,
    }
}

fn nothing_was_added(round: u32, now: Holdings, filled: Holdings) {
    assert!(now.bytes <= filled.bytes + SLACK_BYTES, "round {round}: {now:?}, {filled:?}");
    let mapped_bytes_max = filled.mapped_bytes + MAPPED_SLACK_BYTES;
    assert!(now.mapped_bytes <= mapped_bytes_max, "round {round}: {now:?}, {filled:?}");
    assert_eq!((now.threads, now.descriptors), (filled.threads, filled.descriptors));
}

/// A soak in which something did not happen shows nothing of it.
fn all_of_it_happened(soak: &Soak, store: &Store) {
    let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    let (Done { loads, failed, cancelled, parts }, statistics) = (&soak.done, store.statistics());
    let Trouble { failed: reads_failed, short, flipped, .. } = &*soak.engine.trouble;
    let all = [loads, failed, cancelled, parts, reads_failed, short, flipped].map(count);
    assert!(all.iter().all(|&count| count > 0), "{all:?}");
    assert!(count(failed) * 4 < count(loads), "{all:?}");
    assert!(statistics.hits > 0 && statistics.revived > 0, "{statistics:?}");
    assert!(statistics.predicted.used_bytes > 0, "{statistics:?}");
    let sources = store.sources();
    assert!(sources.iter().all(|source| source.loaded > 0), "{sources:?}");
}
