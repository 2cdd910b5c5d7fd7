//! What recorded runs load lies in the kernel's page cache before a program asks the mount for it,
//! and what is not expected, or not allowed, does not.

use seekless::io::Store;
use seekless::mount::{ErrorKind, Mounted, Options, mount};
use seekless::pack::{About, Codec, PackWriter, prepare};
use seekless::policy::foresight::prediction::Model;
use seekless::sys::residency::resident_bytes;
use std::fs::{self, File};
use std::io::BufWriter;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// In the order of the pack.
const NAMES: [&str; 5] = ["a/first", "a/second", "b/deep/third", "large", "other"];
const LARGE: u32 = 3;
const OTHER: u32 = 4;

fn content(number: usize) -> Vec<u8> {
    let bytes = [200_000, 3_000_001, 77, 70 << 20, 50_000][number];
    (0..bytes as u32).map(|at| ((at / 9 * (number as u32 + 3)) >> 3) as u8).collect()
}

struct Room {
    folder: tempfile::TempDir,
}

impl Room {
    fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let file = File::create(folder.path().join("data.zip")).unwrap();
        let mut pack = PackWriter::new(BufWriter::new(file));
        for (number, name) in NAMES.into_iter().enumerate() {
            pack.add(prepare(About::named(name), content(number), Codec::Auto).unwrap()).unwrap();
        }
        pack.finish().unwrap().0.into_inner().unwrap().sync_all().unwrap();
        fs::create_dir(folder.path().join("at")).unwrap();
        Self { folder }
    }

    /// The pack, with a model of these runs.
    fn store(&self, runs: &[Vec<u32>]) -> Store {
        let model = Model::train(NAMES.len() as u32, runs);
        Store::builder().prediction(model).open(self.folder.path().join("data.zip")).unwrap()
    }

    fn at(&self, number: usize) -> PathBuf {
        self.folder.path().join("at").join(NAMES[number])
    }

    /// `None`, said so, where packs cannot be mounted.
    fn mount(&self, store: &Store, options: Options) -> Option<Mounted> {
        match mount(store.clone(), &self.folder.path().join("at"), options) {
            Err(error) if error.kind() == ErrorKind::System => {
                println!("skipped: FUSE is not to be had here: {error}");
                None
            }
            other => Some(other.unwrap()),
        }
    }

    /// Bytes of the file that lie in the page cache, as far as the kernel says: that of a file
    /// over FUSE nothing is cached it never says for certain.
    fn resident(&self, number: usize) -> Option<u64> {
        resident_bytes(File::open(self.at(number)).unwrap().as_fd()).unwrap()
    }

    /// Waits until a file lies in the page cache; false, said so, if the kernel does not say.
    fn await_cached(&self, number: usize) -> bool {
        let (bytes, started) = (content(number).len() as u64, Instant::now());
        let mut resident = None;
        while started.elapsed() < Duration::from_secs(30) {
            resident = self.resident(number);
            if resident.is_some_and(|resident| resident >= bytes) {
                return true;
            }
            sleep(Duration::from_millis(5));
        }
        assert!(resident.is_none(), "{resident:?} of {bytes} bytes");
        println!("skipped: the kernel does not tell what is cached");
        false
    }

    /// Waits until the store has delivered this many bytes.
    fn await_delivered(&self, store: &Store, bytes: u64) {
        let started = Instant::now();
        while store.statistics().delivered_bytes < bytes {
            assert!(started.elapsed() < Duration::from_secs(30), "{:?}", store.statistics());
            sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn what_most_runs_load_is_cached_before_it_is_read() {
    let room = Room::new();
    let store = room.store(&[vec![0, 1, 2], vec![0, 1, 2, OTHER], vec![2, 1, 0]]);
    let Some(mounted) = room.mount(&store, Options::default()) else { return };
    // A file of one read is left to the program once it has opened it, so only others are looked at
    // before.
    if !room.await_cached(1) {
        return;
    }
    let usual: u64 = (0..3).map(|number| content(number).len() as u64).sum();
    room.await_delivered(&store, usual);
    assert!(fs::read(room.at(1)).unwrap() == content(1));
    assert_eq!(store.statistics().delivered_bytes, usual, "asked for again, or one run's file");
    assert_eq!(room.resident(OTHER as usize).unwrap_or(0), 0);
    for number in [0, 2, 4] {
        assert!(fs::read(room.at(number)).unwrap() == content(number), "{}", NAMES[number]);
    }
    mounted.unmount().unwrap();
}

#[test]
fn without_a_budget_nothing_is_loaded_unasked() {
    let room = Room::new();
    let store = room.store(&[vec![0, 1, 2]]);
    let options = Options { ahead_bytes: 0, ..Options::default() };
    let Some(mounted) = room.mount(&store, options) else { return };
    sleep(Duration::from_millis(50));
    assert_eq!((room.resident(1).unwrap_or(0), store.statistics().delivered_bytes), (0, 0));
    assert!(fs::read(room.at(1)).unwrap() == content(1));
    mounted.unmount().unwrap();
}

#[test]
fn a_file_that_is_read_in_parts_is_not_brought_in() {
    let room = Room::new();
    let store = room.store(&[vec![LARGE, 0, 1]]);
    let Some(_mounted) = room.mount(&store, Options::default()) else { return };
    if room.await_cached(1) {
        assert_eq!(room.resident(LARGE as usize).unwrap_or(0), 0);
    }
}

#[test]
fn it_can_be_unmounted_at_any_time() {
    let room = Room::new();
    for round in 0..20 {
        let store = room.store(&[vec![1, 0, 2, OTHER]]);
        let Some(mounted) = room.mount(&store, Options::default()) else { return };
        if round % 3 == 1 {
            assert_eq!(fs::read(room.at(2)).unwrap(), content(2));
        }
        match round % 2 {
            0 => mounted.unmount().unwrap(),
            _ => drop(mounted),
        }
        assert!(!room.at(0).exists(), "round {round}");
    }
}

#[test]
fn a_damaged_file_is_an_error_only_once_it_is_read() {
    let room = Room::new();
    let pack = room.folder.path().join("data.zip");
    let (mut bytes, store) = (fs::read(&pack).unwrap(), room.store(&[]));
    let entry = store.index().entry(1);
    bytes[(entry.header_offset + entry.extent_bytes / 2) as usize] ^= 0x55;
    fs::write(&pack, &bytes).unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let failed = {
        let told = told.clone();
        Box::new(move |words: &str| told.lock().unwrap().push(words.to_owned()))
    };
    let model = Model::train(NAMES.len() as u32, &[vec![1, 2, 0]]);
    let store = Store::builder().direct(false).prediction(model).open(&pack).unwrap();
    let Some(_mounted) = room.mount(&store, Options { failed, ..Options::default() }) else {
        return;
    };
    if !room.await_cached(0) {
        return;
    }
    assert!(told.lock().unwrap().is_empty(), "the program has read nothing");
    assert_eq!(fs::read(room.at(1)).unwrap_err().raw_os_error(), Some(5));
    assert!(told.lock().unwrap()[0].contains("a/second"), "{told:?}");
}
