//! A file whose size decides a test of cost is not opened, and the answer is that of a look.

use super::costs::beside_the_test;
use super::{ours, words};
use crate::find::Unknown;
use crate::find::compare::Bound;
use crate::find::cost::{Cost, CostTest};
use crate::find::entry::Entry;
use crate::find::latency::{Prices, Unpriced};
use proptest::prelude::*;
use rustix::fs::inotify;
use rustix::fs::{FallocateFlags, FileType, Mode, OFlags, fallocate, openat, stat};
use seekless_sled::{Level, Surveyor};
use seekless_sys::residency;
use std::collections::BTreeSet;
use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::Write;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::rc::Rc;

/// Enough files for helper threads to start.
const FILES: usize = 600;
/// The walk and its helpers each look at one file, to learn whether the kernel shows what is
/// cached.
const LOOKERS_MAX: usize = 4;

/// Why a file in this folder may have to be opened for each answer.
fn obstacle(folder: &Path) -> Option<&'static str> {
    let file = tempfile::tempfile_in(folder).expect("room");
    file.write_all_at(b"x", 0).expect("written");
    let about = rustix::fs::fstat(&file).expect("answered");
    let plain = Surveyor::new().expect("a configuration").is_plain(folder, &about);
    match () {
        () if !plain => Some("the file system here is not plain, or there are rules for mounts"),
        () if residency::all_or_nothing(file.as_fd(), 1).is_none() => {
            Some("the kernel does not show what is cached here")
        }
        () => None,
    }
}

/// The names of the files in `folder` that find opens.
fn opened_by(folder: &Path, expression: &str) -> BTreeSet<String> {
    let flags = inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC;
    let watch = inotify::init(flags).expect("inotify");
    inotify::add_watch(&watch, folder, inotify::WatchFlags::OPEN).expect("watched");
    let mut arguments: Vec<OsString> = vec![folder.into()];
    arguments.extend(words(expression));
    let (_, messages, well) = ours(&arguments);
    assert!(well, "{messages}");
    let mut buffer = vec![MaybeUninit::<u8>::uninit(); 64 << 10];
    let mut events = inotify::Reader::new(&watch, &mut buffer);
    let mut names = BTreeSet::new();
    while let Ok(event) = events.next() {
        let lost = event.events().contains(inotify::ReadFlags::QUEUE_OVERFLOW);
        assert!(!lost, "the queue of events is too short");
        names.extend(event.file_name().map(|name| name.to_string_lossy().into_owned()));
    }
    names
}

#[test]
fn a_file_is_opened_only_if_its_size_does_not_decide() {
    let place = beside_the_test();
    if let Some(why) = obstacle(place.path()) {
        return eprintln!("skipped: {why}");
    }
    for number in 0..FILES {
        std::fs::write(place.path().join(number.to_string()), vec![b'x'; number]).expect("room");
    }
    // Reading a few hundred bytes takes no year, whatever the device.
    for never in ["-latency +31536000", "-cost +31536000", "-latency 31536000", "-cached +100"] {
        assert_eq!(opened_by(place.path(), never), BTreeSet::new(), "{never}");
    }
    for always in ["-latency -31536000", "-cost -31536000", "-cached -101"] {
        let opened = opened_by(place.path(), always);
        assert!(opened.len() <= LOOKERS_MAX, "{always}: {opened:?}");
    }
    // Whether a file takes any time depends on its state: a reserved file takes none.
    for depends in ["-latency +0", "-cost 0", "-cached"] {
        assert!(opened_by(place.path(), depends).len() > FILES / 2, "{depends}");
    }
}

/// Makes a file that is partly data, partly a hole or reserved, and partly not in memory.
fn make(path: &Path, bytes: u64, state: u8) {
    let file = File::create(path).expect("made");
    file.set_len(bytes).expect("a hole");
    let reserved = fallocate(&file, FallocateFlags::empty(), 0, bytes);
    if state & 1 == 0 || reserved.is_err() {
        let half = bytes / 2 * u64::from(state >> 1 & 1);
        file.write_all_at(&vec![b'x'; (bytes - half) as usize], half).expect("room");
    }
    if state & 4 != 0 {
        (&file).flush().and_then(|()| file.sync_all()).expect("synced");
        residency::drop_cached(file.as_fd()).expect("dropped");
        let tail = vec![b'y'; (bytes / 3) as usize];
        file.write_all_at(&tail, bytes - tail.len() as u64).expect("room");
    }
}

fn bound() -> impl Strategy<Value = Bound<u64>> {
    (0..3_u8, 0..60_u64).prop_map(|(kind, value)| match kind {
        0 => Bound::More(value),
        1 => Bound::Exactly(value),
        _ => Bound::Less(value),
    })
}

fn test() -> impl Strategy<Value = CostTest> {
    let unit = prop::sample::select(vec![1_000, 1_000_000, 10_000_000, 1_000_000_000_u64]);
    let level =
        prop::sample::select(vec![Level::Hole, Level::Memory, Level::Device, Level::Network]);
    (0..4_u8, unit, bound(), level).prop_map(|(kind, unit_ns, bound, level)| match kind {
        0 => CostTest::Latency { unit_ns, bound },
        1 => CostTest::Cost { unit_ns, bound },
        2 => CostTest::Cached(bound.map(|value| value * 2)),
        _ => CostTest::Level(level),
    })
}

/// A file in an open folder, still unknown.
fn unseen<'a>(path: &'a CString, name_at: usize, folder: &Rc<OwnedFd>) -> Entry<'a> {
    let mut entry = Entry::new(path, name_at, 0, 1);
    entry.folder = Some(folder.clone());
    entry.listed = Some(FileType::RegularFile);
    entry
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, rng_seed: super::fixed_seed(), ..ProptestConfig::default() })]

    #[test]
    fn what_the_size_decides_a_look_decides_too(
        files in prop::collection::vec((1_u64..200_000, 0..8_u8), 1..6),
        tests in prop::collection::vec(test(), 40),
    ) {
        let place = beside_the_test();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let folder = openat(rustix::fs::CWD, place.path(), flags, Mode::empty()).expect("open");
        let folder = Rc::new(folder);
        let mut prices = Prices::default();
        for (number, (bytes, state)) in files.iter().enumerate() {
            let path = place.path().join(number.to_string());
            make(&path, *bytes, *state);
            prop_assert_eq!(stat(&path).expect("there").st_size as u64, *bytes);
            let name_at = path.as_os_str().len() - number.to_string().len();
            let path = CString::new(path.into_os_string().into_encoded_bytes()).expect("no NUL");
            for test in &tests {
                let entry = unseen(&path, name_at, &folder);
                let unlooked = |_: &mut Prices, _: &Entry<'_>| -> Result<&Cost, Unpriced> {
                    Err(Unpriced::Other(rustix::io::Errno::AGAIN))
                };
                let by_size = prices.passes(test, &entry, Unknown::Skip, unlooked);
                let looked = unseen(&path, name_at, &folder);
                let cost = prices.ask(&looked).expect("looked at");
                if let Ok(by_size) = by_size {
                    let by_look = test.passes(cost, Unknown::Skip);
                    prop_assert_eq!(by_size, by_look, "{:?} of {:?} in state {}", test, cost, state);
                }
            }
        }
    }
}
