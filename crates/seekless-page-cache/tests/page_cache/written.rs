//! Files written through the page cache: every read answers as a list of bytes does, whatever is
//! evicted, flushed, cut or closed meanwhile, and the files end as the lists do.

use crate::logged::Logged;
use crate::support::random;
use crate::without_hang::without_hang;
use seekless_engine::{Engine, EngineKind};
use seekless_page_cache::{File, PageCache, PageCacheBuilder};
use seekless_policy::cache::write_back::{Cluster, FlushRule};
use seekless_policy::readahead::{Options, named};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::TempDir;

const TIGHT: FlushRule = FlushRule {
    expire: Some(1_000_000),
    background: Some(0.1),
    limit: Some(0.3),
    cluster: Cluster::Pages(8),
};

fn folder() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn builder(bytes: u64) -> PageCacheBuilder {
    let readahead = named("linux", Options::with_max_bytes(64 << 10)).unwrap();
    PageCache::builder().bytes(bytes).readahead(readahead)
}

/// A file, and what it must have.
struct Model {
    path: PathBuf,
    file: Option<File>,
    bytes: Vec<u8>,
}

impl Model {
    fn file(&mut self, cache: &PageCache) -> &File {
        self.file.get_or_insert_with(|| cache.open_to_write(&self.path).unwrap())
    }

    /// One random act.
    fn act(&mut self, cache: &PageCache, seed: &mut u64, context: &str) {
        let offset = random(seed) % 200_000;
        let length = match random(seed) % 3 {
            0 => 4096,
            1 => 1 + random(seed) % 100,
            _ => 1 + random(seed) % 40_000,
        } as usize;
        let offset = if random(seed).is_multiple_of(2) { offset / 4096 * 4096 } else { offset };
        match random(seed) % 32 {
            0 => self.file = None,
            1 => self.file(cache).sync_data().unwrap(),
            2 => cache.flush_due(),
            3 => {
                self.file(cache).set_len(offset).unwrap();
                self.bytes.resize(offset as usize, 0);
            }
            4 => cache.clear(),
            5 => self.file(cache).wont_need(offset..offset + 50_000),
            6 => self.file(cache).will_need(offset..offset + 50_000),
            7 => assert_eq!(self.file(cache).size().unwrap(), self.bytes.len() as u64, "{context}"),
            8..20 => {
                let bytes: Vec<u8> = (0..length).map(|_| random(seed) as u8).collect();
                assert_eq!(self.file(cache).write_at(&bytes, offset).unwrap(), length, "{context}");
                let end = offset as usize + length;
                self.bytes.resize(self.bytes.len().max(end), 0);
                self.bytes[offset as usize..end].copy_from_slice(&bytes);
            }
            _ => {
                let mut buffer = vec![7; length];
                let read = self.file(cache).read_at(&mut buffer, offset).unwrap();
                let start = (offset as usize).min(self.bytes.len());
                let expected = &self.bytes[start..(start + length).min(self.bytes.len())];
                assert_eq!(read, expected.len(), "{context} at {offset} for {length}");
                assert!(buffer[..read] == *expected, "{context} at {offset} for {length}");
            }
        }
    }
}

#[test]
fn reads_answer_as_a_list_of_bytes_and_files_end_as_it_does() {
    without_hang(|| {
        let policies = ["lru", "arc", "sieve", "cflru", "w-tinylfu", "lirs", "fab"];
        let rules = [FlushRule::LINUX, FlushRule::default(), TIGHT];
        for (number, policy) in policies.into_iter().enumerate() {
            for (turn, rule) in rules.into_iter().enumerate() {
                for direct in [true, false] {
                    let engine: Option<Arc<dyn Engine>> = match (number + turn) % 3 {
                        0 => Some(Arc::new(Logged::holding_back(number as u64))),
                        1 => Some(Arc::new(Logged::new())),
                        _ => None,
                    };
                    let mut settings = builder(128 << 10).policy(policy).flush(rule);
                    settings = settings.wake_every(Duration::from_millis(1)).direct(direct);
                    if let Some(engine) = engine {
                        settings = settings.shared_engine(engine);
                    }
                    check_model(&settings.build().unwrap(), &format!("{policy} {rule:?} {direct}"));
                }
            }
        }
    });
}

fn check_model(cache: &PageCache, context: &str) {
    let folder = folder();
    let model = |number: usize| {
        let path = folder.path().join(format!("{number}"));
        let bytes: Vec<u8> = (0..number * 50_001).map(|at| at as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        Model { path, file: None, bytes }
    };
    let mut models: Vec<Model> = (0..3).map(model).collect();
    let mut seed = 17;
    for turn in 0..600 {
        let which = random(&mut seed) as usize % models.len();
        models[which].act(cache, &mut seed, &format!("{context} turn {turn}"));
    }
    cache.clone().close().unwrap();
    for model in &models {
        assert!(std::fs::read(&model.path).unwrap() == model.bytes, "{context}");
    }
}

#[test]
fn dropping_everything_writes_back_what_is_dirty() {
    for kind in [EngineKind::Auto, EngineKind::Threads] {
        let folder = folder();
        let cache = builder(1 << 20).engine(kind).build().unwrap();
        for number in 0..200 {
            let file = cache.open_to_write(folder.path().join(format!("{number}"))).unwrap();
            assert_eq!(file.write_at(&[number as u8; 5000], 3).unwrap(), 5000);
        }
        drop(cache);
        for number in 0..200 {
            let found = std::fs::read(folder.path().join(format!("{number}"))).unwrap();
            assert!(found[..3] == [0; 3] && found[3..] == [number as u8; 5000]);
        }
    }
}

#[test]
fn it_writes_and_seeks_as_a_file_of_std_does() {
    let folder = folder();
    let cache = builder(1 << 20).build().unwrap();
    let mut ours = cache.open_to_write(folder.path().join("ours")).unwrap();
    let mut std = std::fs::File::create_new(folder.path().join("std")).unwrap();
    let mut seed = 3;
    for _ in 0..300 {
        let to = SeekFrom::Start(random(&mut seed) % 100_000);
        assert_eq!(ours.seek(to).unwrap(), std.seek(to).unwrap());
        let bytes = vec![random(&mut seed) as u8; (random(&mut seed) % 3000) as usize];
        ours.write_all(&bytes).unwrap();
        std.write_all(&bytes).unwrap();
    }
    ours.sync_all().unwrap();
    let read = |name| std::fs::read(folder.path().join(name)).unwrap();
    assert!(read("ours") == read("std"));
    let mut text = Vec::new();
    ours.seek(SeekFrom::Start(0)).unwrap();
    ours.read_to_end(&mut text).unwrap();
    assert!(text == read("std"));
}

#[test]
fn a_handle_for_reading_sees_what_another_has_written_and_may_not_write() {
    let folder = folder();
    let path = folder.path().join("a");
    std::fs::write(&path, [1; 10_000]).unwrap();
    let cache = builder(1 << 20).build().unwrap();
    let before = cache.open(&path).unwrap();
    let writer = cache.open_to_write(&path).unwrap();
    let after = cache.open(&path).unwrap();
    writer.write_at(&[2; 5000], 8000).unwrap();
    for reader in [&before, &after, &writer] {
        let mut buffer = vec![0; 20_000];
        assert_eq!(reader.read_at(&mut buffer, 0).unwrap(), 13_000);
        assert!(buffer[..8000] == [1; 8000] && buffer[8000..13_000] == [2; 5000]);
        assert_eq!(reader.size().unwrap(), 13_000);
    }
    assert_eq!(std::fs::read(&path).unwrap(), [1; 10_000], "the device lacks it");
    let error = before.write_at(&[3], 0).unwrap_err();
    assert!(error.to_string().contains("open_to_write"), "{error}");
    assert!(after.set_len(0).is_err());
    before.sync_data().unwrap();
    assert_eq!(std::fs::read(&path).unwrap().len(), 13_000);
}

#[test]
fn memory_stays_within_its_bound_whatever_is_dirty() {
    for rule in [FlushRule::LINUX, FlushRule::default()] {
        let folder = folder();
        let engine = Arc::new(Logged::holding_back(9));
        let cache = builder(1 << 20).flush(rule).shared_engine(engine).build().unwrap();
        let file = cache.open_to_write(folder.path().join("a")).unwrap();
        for page in 0..4000_u64 {
            file.write_at(&[page as u8; 4096], page * 4096 * 3 % (4000 * 4096)).unwrap();
            let bytes = cache.memory_bytes();
            assert!(bytes <= (1 << 20) + (256 << 10), "{rule:?}: {bytes}");
        }
    }
}

#[test]
fn threads_see_each_page_before_or_after_a_write() {
    without_hang(|| {
        for (kind, rule) in [(EngineKind::Auto, TIGHT), (EngineKind::Threads, FlushRule::default())]
        {
            let folder = folder();
            let settings = builder(256 << 10).engine(kind).flush(rule);
            let cache = settings.wake_every(Duration::from_millis(1)).build().unwrap();
            let shared = cache.open_to_write(folder.path().join("a")).unwrap();
            let is_over = AtomicBool::new(false);
            std::thread::scope(|scope| {
                let writers: Vec<_> = (1..5_u64)
                    .map(|number| {
                        let shared = &shared;
                        scope.spawn(move || write_pages(shared, number))
                    })
                    .collect();
                for number in 5..8 {
                    let (shared, is_over) = (&shared, &is_over);
                    scope.spawn(move || read_pages(shared, number, is_over));
                }
                writers.into_iter().for_each(|writer| writer.join().unwrap());
                is_over.store(true, Ordering::Relaxed);
            });
            shared.sync_data().unwrap();
            let found = std::fs::read(folder.path().join("a")).unwrap();
            found.chunks(4096).for_each(check_page);
        }
    });
}

/// Fills pages with one byte each; now and then only a part of a page of its own, which keeps two.
fn write_pages(file: &File, number: u64) {
    let mut seed = number;
    for _ in 0..2000 {
        let page = random(&mut seed) % 200;
        let byte = random(&mut seed) as u8;
        file.write_at(&[byte; 4096], page * 4096).unwrap();
        if random(&mut seed).is_multiple_of(200) {
            file.sync_data().unwrap();
        }
    }
}

fn read_pages(file: &File, number: u64, is_over: &AtomicBool) {
    let mut seed = number;
    while !is_over.load(Ordering::Relaxed) {
        let mut buffer = vec![0; 3 * 4096];
        let read = file.read_at(&mut buffer, random(&mut seed) % 200 * 4096).unwrap();
        buffer[..read].chunks(4096).for_each(check_page);
    }
}

fn check_page(page: &[u8]) {
    assert!(page.iter().all(|byte| byte == &page[0]), "a torn page");
}

#[test]
fn threads_that_write_parts_of_the_same_pages_lose_nothing() {
    without_hang(|| {
        let folder = folder();
        let path = folder.path().join("a");
        std::fs::write(&path, vec![0; 400_000]).unwrap();
        let settings = builder(128 << 10).flush(TIGHT);
        let cache = settings.wake_every(Duration::from_millis(1)).build().unwrap();
        let models: Vec<Vec<u8>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..5_u64)
                .map(|number| {
                    scope.spawn({
                        let (cache, path) = (&cache, &path);
                        move || write_stripes(cache, path, number)
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        cache.close().unwrap();
        let found = std::fs::read(&path).unwrap();
        for (at, byte) in found.iter().enumerate() {
            assert_eq!(*byte, models[at / 100 % 5][at], "byte {at}");
        }
    });
}

/// Writes to each fifth stripe of 100 bytes, and checks what it reads there.
fn write_stripes(cache: &PageCache, path: &Path, number: u64) -> Vec<u8> {
    let file = cache.open_to_write(path).unwrap();
    let mut model = vec![0; 400_000];
    let mut seed = number + 1;
    for turn in 0..3000 {
        let start = ((random(&mut seed) % 800 * 5 + number) * 100) as usize;
        if turn % 3 == 0 {
            let mut buffer = [0; 100];
            file.read_at(&mut buffer, start as u64).unwrap();
            assert!(buffer == model[start..start + 100], "{start}");
            continue;
        }
        let bytes = [random(&mut seed) as u8; 100];
        file.write_at(&bytes, start as u64).unwrap();
        model[start..start + 100].copy_from_slice(&bytes);
    }
    model
}
