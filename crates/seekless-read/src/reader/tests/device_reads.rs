//! The ways past the page cache read what the file holds, and leave the cache as it was.

use super::super::threads::{Delivered, Job, Threads};
use super::*;
use crate::bypass::Way;
use seekless_engine::AlignedBuf;
use seekless_sys::residency;
use std::os::fd::AsFd;

/// A file that is not cached; `None` where that cannot be had.
fn uncached(bytes: usize) -> Option<NamedTempFile> {
    let file = written(bytes);
    file.as_file().sync_data().unwrap();
    residency::drop_cached(file.as_file().as_fd()).unwrap();
    if residency::resident_bytes(file.as_file().as_fd()).unwrap() != Some(0) {
        eprintln!("skipped: the file stays in the page cache");
        return None;
    }
    Some(file)
}

#[test]
fn every_way_reads_the_same() {
    let Some(file) = uncached(1_000_001) else { return };
    let mut opened = Opened::new(File::open(file.path()).unwrap());
    opened.advise_random();
    for way in [Way::Direct, Way::Leave, Way::Exact] {
        for range in [0..4096, 5..6, 4_095..70_001, 900_000..1_000_001] {
            let before = residency::resident_bytes(file.as_file().as_fd()).unwrap();
            let job = Job {
                file: 0,
                life: 0,
                range: range.clone(),
                way: Some(way),
                sliver: false,
                folio: false,
                in_turn: false,
                buffered: opened.buffered.clone(),
                direct: opened.direct(),
                buffer: AlignedBuf::with_capacity(1 << 20),
            };
            let mut device = Threads::new(Arc::new(Linux::default()));
            device.submit(job);
            let done = device.wait().unwrap();
            let Ok(Delivered::Read(found)) = done.result else { panic!("{:?}", done.result) };
            assert_eq!(
                done.job.buffer[found],
                text(1_000_001)[range.start as usize..range.end as usize]
            );
            if done.job.way == Some(way) && way != Way::Exact {
                let after = residency::resident_bytes(file.as_file().as_fd()).unwrap();
                assert_eq!(after, before, "{way:?}");
            }
        }
    }
}

#[test]
fn jobs_come_back_in_their_order() {
    let file = written(400_000);
    let open = Arc::new(File::open(file.path()).unwrap());
    let mut device = Threads::new(Arc::new(Linux::default()));
    for number in 0..40 {
        device.submit(Job {
            file: number,
            life: 0,
            range: number as u64 * 10_000..(number as u64 + 1) * 10_000,
            way: None,
            sliver: false,
            folio: false,
            in_turn: false,
            buffered: Arc::clone(&open),
            direct: None,
            buffer: AlignedBuf::with_capacity(10_000),
        });
    }
    let files: Vec<_> = std::iter::from_fn(|| device.wait()).map(|done| done.job.file).collect();
    assert_eq!(files, (0..40).collect::<Vec<_>>());
}

#[test]
fn a_file_is_brought_into_the_cache_by_folios_and_what_ends_off_the_grain_too() {
    let Some(file) = uncached((5 << 20) + 77) else { return };
    let made = Arc::new(Folios::default());
    let mut reader = Reader::over(Options::default(), Arc::clone(&made) as Arc<dyn Kernel>);
    let number = reader.add_path(file.path());
    assert_eq!(all(&mut reader).content(number), text((5 << 20) + 77));
    let asked = made.asked.lock().unwrap().clone();
    assert_eq!(asked, [0..2 << 20, 2 << 20..4 << 20, 4 << 20..(5 << 20) + 77]);
    let cached = residency::resident_bytes(file.as_file().as_fd()).unwrap();
    assert_eq!(cached, Some((5 << 20) + 77), "all of it is kept");
}

/// Linux, with a cache that is never known to have room for all.
#[derive(Debug, Default)]
struct Folios {
    asked: Mutex<Vec<Range<u64>>>,
}

impl Kernel for Folios {
    fn headroom(&self) -> Option<Headroom> {
        None
    }

    fn bring_in(&self, file: &File, folio: Range<u64>) -> Option<GuardedMap> {
        self.asked.lock().unwrap().push(folio.clone());
        Linux::default().bring_in(file, folio)
    }
}

#[test]
fn a_pinned_hit_is_cached_for_the_next_pass() {
    let Some(file) = uncached(1 << 20) else { return };
    let mut reader = Reader::new(Options { overlap: false, ..Options::default() });
    reader.add_path(file.path());
    reader.pin(0, 700_000, 10);
    let grain = 10 * GRAIN_BYTES..11 * GRAIN_BYTES;
    let cached =
        || residency::count(file.as_file().as_fd(), grain.start, GRAIN_BYTES).unwrap().cached;
    for _ in 0..1_000 {
        if cached() * PAGE == GRAIN_BYTES {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(cached() * PAGE, GRAIN_BYTES);
    let mut first = None;
    while let Some(event) = reader.next() {
        if let Event::Chunk(chunk) = event {
            first = first.or(Some(chunk.offset));
        }
    }
    assert!(grain.contains(&first.unwrap()), "{first:?}");
}

#[test]
fn a_hit_that_is_cached_brings_nothing_in_when_pinned() {
    let Some(file) = uncached(1 << 20) else { return };
    rustix::fs::fadvise(file.as_file(), 0, None, rustix::fs::Advice::Random).unwrap();
    Linux::default().read_at(file.as_file(), &mut [0; 10], 700_000, Caching::Usual).unwrap();
    let cached = || residency::resident_bytes(file.as_file().as_fd()).unwrap();
    let before = cached();
    let mut reader = Reader::new(Options { overlap: false, ..Options::default() });
    reader.add_path(file.path());
    reader.pin(0, 700_000, 10);
    std::thread::sleep(Duration::from_millis(20)); // what WILLNEED starts is seen at once, in flight or not
    assert_eq!(cached(), before);
    assert!(before < Some(GRAIN_BYTES), "the grain is not whole: {before:?}");
}

#[test]
fn what_is_held_is_still_cached_when_its_turn_comes() {
    let file = written(4 << 20);
    file.as_file().sync_data().unwrap();
    let whole = residency::resident_bytes(file.as_file().as_fd()).unwrap();
    if whole != Some(4 << 20) {
        return eprintln!("skipped: the file is not cached whole: {whole:?}");
    }
    let options = Options {
        hold_bytes: 1 << 20,
        overlap: false,
        chunk_bytes: 64 << 10,
        ..Options::default()
    };
    let mut reader = Reader::new(options);
    reader.add_path(file.path());
    assert!(matches!(reader.next(), Some(Event::Chunk(Chunk { offset: 0, .. }))));
    residency::drop_cached(file.as_file().as_fd()).unwrap();
    let received = all(&mut reader);
    assert_eq!(received.ends[&0], (4 << 20, 0));
    let done = reader.statistics();
    assert_eq!(done.held_bytes, 1 << 20);
    assert!(done.device_bytes <= 3 << 20, "what was held came from the cache: {done:?}");
}
