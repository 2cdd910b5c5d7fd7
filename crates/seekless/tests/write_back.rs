//! What you simulate is what you run, for writes too. A program reads, writes and syncs pages of
//! two files, on one thread and with a clock of its own. The page cache and the simulator must ask
//! the device for the same pages in the same order.

use seekless::device::{Costs, Nanos};
use seekless::engine::{
    AlignedBuf, BufferAndResult, Completion, Counters, Engine, Read, Write as EngineWrite,
};
use seekless::page_cache::PageCache;
use seekless::policy::cache::write_back::FlushRule;
use seekless::sim::post_cache::{self, Format};
use seekless::sim::{Case, Cluster, Options, Period, Reading, Unit, WriteBack};
use seekless::trace::{Access, Metadata, Op, Trace, Writer};
use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

const PAGE: u64 = 4096;
const PAGES: u64 = 60;
/// The memory of a cache that keeps 24 pages: a quarter is for reads under way.
const CACHE_BYTES: u64 = 32 * PAGE;
const KEPT_BYTES: u64 = 24 * PAGE;
const WAKE: u64 = 70;

/// A read or write of a page: the file, the page, and whether it is written.
type DeviceAccess = (u64, u64, bool);

/// Reads and writes at once, and lists the pages. Its clock is the test's.
#[derive(Default)]
struct Device {
    now: Mutex<Nanos>,
    accesses: Mutex<Vec<DeviceAccess>>,
}

impl Device {
    fn note(&self, file: &File, offset: u64, bytes: usize, write: bool) {
        let inode = file.metadata().unwrap().ino();
        let pages = offset / PAGE..(offset + bytes as u64).div_ceil(PAGE);
        self.accesses.lock().unwrap().extend(pages.map(|page| (inode, page, write)));
    }
}

impl Engine for Device {
    fn submit(&self, reads: Vec<Read>) {
        for Read { file, offset, buffer, tag, done } in reads {
            let (buffer, result) = self.read_now(file, offset, buffer);
            done.send(Completion { tag, buffer, result, cached: false });
        }
    }

    fn read_now(&self, file: Arc<File>, offset: u64, mut buffer: AlignedBuf) -> BufferAndResult {
        self.note(&file, offset, buffer.capacity(), false);
        let result = file.read_at(buffer.whole_mut(), offset);
        buffer.set_len(*result.as_ref().unwrap_or(&0));
        (buffer, result)
    }

    fn write(&self, writes: Vec<EngineWrite>) {
        for write in writes {
            self.note(&write.file, write.offset, write.bytes, true);
            write.run();
        }
    }

    fn counters(&self) -> Counters {
        Counters::default()
    }

    fn name(&self) -> &'static str {
        "listed"
    }

    fn costs(&self) -> Costs {
        Costs { request_ns: 100_000, bytes_per_second: 1_000_000_000, depth: 8 }
    }

    fn now(&self) -> Nanos {
        *self.now.lock().unwrap()
    }
}

/// What the program does, and when.
#[derive(Clone, Copy)]
struct Act {
    time_ns: u64,
    op: Op,
    file: usize,
    page: u64,
}

/// xorshift, so that every run of the test is the same.
fn random(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

fn program(mut seed: u64) -> Vec<Act> {
    let mut time_ns = 0;
    let act = |_| {
        time_ns += random(&mut seed) % 20;
        let op = match random(&mut seed) % 40 {
            0 => Op::Sync,
            1..20 => Op::Write,
            _ => Op::Read,
        };
        let spread = if random(&mut seed).is_multiple_of(3) { PAGES } else { PAGES / 4 };
        let (file, page) = (random(&mut seed) as usize % 2, random(&mut seed) % spread);
        Act { time_ns, op, file, page }
    };
    // Traces number files as they come: the first access is of the first file.
    let first = Act { time_ns: 0, op: Op::Read, file: 0, page: 0 };
    std::iter::once(first).chain((0..3000).map(act)).collect()
}

/// The pages that the live cache asks its device for.
fn live(acts: &[Act], paths: &[PathBuf; 2], policy: &str, rule: FlushRule) -> Vec<DeviceAccess> {
    paths.iter().for_each(|path| std::fs::write(path, vec![0; (PAGES * PAGE) as usize]).unwrap());
    let device = Arc::new(Device::default());
    let cache = PageCache::builder().bytes(CACHE_BYTES).policy(policy).flush(rule);
    let cache = cache.wake_every(None).shared_engine(device.clone()).build().unwrap();
    let files = paths.each_ref().map(|path| cache.open_to_write(path).unwrap());
    let (mut next_wake, mut buffer) = (WAKE, vec![0; PAGE as usize]);
    for act in acts {
        let (file, offset) = (&files[act.file], act.page * PAGE);
        if act.op == Op::Sync {
            file.sync_data().unwrap();
            continue;
        }
        *device.now.lock().unwrap() = act.time_ns;
        if act.time_ns >= next_wake {
            next_wake = act.time_ns - act.time_ns % WAKE + WAKE;
            cache.flush_due();
        }
        match act.op {
            Op::Write => assert_eq!(file.write_at(&buffer, offset).unwrap(), buffer.len()),
            _ => assert_eq!(file.read_at(&mut buffer, offset).unwrap(), buffer.len()),
        }
    }
    let inode = std::fs::metadata(&paths[0]).unwrap().ino();
    let accesses = device.accesses.lock().unwrap();
    accesses.iter().map(|&(of, page, write)| (u64::from(of != inode), page, write)).collect()
}

/// The same of the simulator, through traces.
fn simulated(
    acts: &[Act],
    folder: &Path,
    policy: &str,
    write_back: WriteBack,
) -> Vec<DeviceAccess> {
    let (path, below) = (folder.join("run.parquet"), folder.join("below.parquet"));
    let _ = (std::fs::remove_file(&path), std::fs::remove_file(&below));
    let mut writer = Writer::create(&path, Metadata::default()).unwrap();
    let files = ["a", "b"].map(|name| writer.file(name));
    for act in acts {
        let bytes = if act.op == Op::Sync { 0 } else { PAGE };
        let access = Access::new(act.op, files[act.file]);
        let offset = (act.page * PAGE) as i64;
        writer.push(Access { time_ns: act.time_ns, offset, bytes, ..access }).unwrap();
    }
    writer.finish().unwrap();
    let reading =
        Reading { unit: Some(Unit::Page), times: true, names: true, ..Reading::default() };
    let requests = reading.read(&[path], &mut |_, _| ()).unwrap();
    let case = Case { policy: policy.to_owned(), capacity: KEPT_BYTES };
    let options = Options { write_back, ..Options::default() };
    post_cache::write(&requests, &case, &options, &below, Format::Parquet).unwrap();
    let trace = Trace::open(&below).unwrap();
    let names = trace.file_names().unwrap();
    let access = |access: Access| {
        let file = u64::from(names[access.file as usize] == "b");
        (file, access.offset as u64 / PAGE, access.op == Op::Write)
    };
    trace.accesses().unwrap().map(|row| access(row.unwrap())).collect()
}

#[test]
fn the_device_gets_the_same_pages_in_the_same_order_live_and_simulated() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let paths = ["a", "b"].map(|name| folder.path().join(name));
    let tight = FlushRule {
        expire: Some(300),
        background: Some(0.2),
        limit: Some(0.5),
        cluster: Cluster::File,
    };
    let rules = [
        FlushRule::default(),
        tight,
        FlushRule { cluster: Cluster::Pages(4), ..tight },
        FlushRule { limit: Some(0.1), background: None, cluster: Cluster::None, ..tight },
    ];
    let policies = ["lru", "arc", "2q", "cflru", "sieve", "fab", "w-tinylfu", "w-tinylfu@fixed"];
    for (number, policy) in policies.iter().enumerate() {
        for rule in rules {
            let acts = program(number as u64 + 1);
            let wakes = rule.expire.is_some() || rule.background.is_some();
            let write_back = WriteBack {
                on_sync: true,
                expire: rule.expire.map(Period::Time),
                wake: wakes.then_some(Period::Time(WAKE)),
                background: rule.background,
                limit: rule.limit,
                cluster: rule.cluster,
                ..WriteBack::default()
            };
            let expected = simulated(&acts, folder.path(), policy, write_back);
            let found = live(&acts, &paths, policy, rule);
            let written = found.iter().filter(|access| access.2).count();
            assert!(written > 300, "{policy} {rule:?}: only {written} pages were written");
            let differs =
                expected.iter().zip(&found).position(|(expected, found)| expected != found);
            assert_eq!(differs, None, "{policy} {rule:?}");
            assert_eq!(expected.len(), found.len(), "{policy} {rule:?}");
        }
    }
}

#[test]
fn both_have_the_same_defaults_of_linux() {
    let (live, simulated) = (FlushRule::LINUX, WriteBack::LINUX);
    assert_eq!(live.expire.map(Period::Time), simulated.expire);
    assert_eq!((live.background, live.limit), (simulated.background, simulated.limit));
    assert_eq!(live.cluster, simulated.cluster);
}
