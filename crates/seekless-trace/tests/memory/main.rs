//! A trace of few bytes cannot ask for much memory: every byte that is allocated is counted while hostile files are read.

mod bare_parquet;
mod hostile_files;

use seekless_sys::output::Destination;
use seekless_trace::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Memory for each byte of the file, and besides.
const BYTES_PER_FILE_BYTE: usize = 16;
const BYTES_BASE: usize = 64 << 20;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
/// One test counts at a time.
static COUNTING: Mutex<()> = Mutex::new(());

struct Counting;

impl Counting {
    fn change(from: usize, to: usize) {
        let now = NOW.fetch_add(to, Ordering::Relaxed) + to;
        MOST.fetch_max(now, Ordering::Relaxed);
        NOW.fetch_sub(from, Ordering::Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator as it is; the counts are atomics, which allocate nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::change(0, layout.size());
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::change(0, layout.size());
        // SAFETY: as above. Zeroed by the system, so that what is never touched takes no memory, counted all the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        Self::change(layout.size(), 0);
        // SAFETY: as above; `at` came from the system's allocator.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::change(layout.size(), size);
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Opens and reads a file in every way there is; what comes out does not matter.
fn read_everything(path: &Path) {
    let files = [path.to_owned()];
    let out = Destination::new(path.with_extension("out")).replacing(true);
    let quiet: import::Progress<'_> = &mut |_, _| {};
    let within = Some((BYTES_BASE / 2) as u64);
    let _ = FileList::read(path);
    let _ = Loads::read_within(&files, within);
    let _ = import::csv(&files, &out, &import::Options::default(), quiet);
    let _ = import::ids(&files, &out, &import::Options::default(), &mut |_, _| {});
    let _ = recover::recover(path, &out);
    let Ok(trace) = open_any(path) else { return };
    let _ = trace.file_names();
    let _ = trace.accesses().map(|rows| rows.take_while(Result::is_ok).count());
    let _ = summary::summarise(&trace, &mut |_, _| {});
    for format in [export::Format::Csv, export::Format::Ozen] {
        let _ = format.write(&trace, &mut std::io::sink(), &mut |_, _| {});
    }
    let _ = merge::merge(&files, &out, &mut |_, _| {});
}

#[test]
fn hostile_files_take_little_memory() {
    let _one = COUNTING.lock().unwrap();
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let mut wrong = Vec::new();
    for (name, bytes) in hostile_files::all() {
        let path = folder.path().join(name);
        std::fs::write(&path, &bytes).unwrap();
        let file_bytes = bytes.len();
        drop(bytes);
        let before = NOW.load(Ordering::Relaxed);
        MOST.store(before, Ordering::Relaxed);
        read_everything(&path);
        let taken = MOST.load(Ordering::Relaxed).saturating_sub(before);
        println!("{name}: {file_bytes} bytes take {:.1} MB", taken as f64 / 1e6);
        if taken > BYTES_PER_FILE_BYTE * file_bytes + BYTES_BASE {
            wrong.push(format!("{name}: {file_bytes} bytes take {taken} bytes of memory"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
