//! Sample archives, and engines that a test can hold up or make fail.

use seekless_device::Costs;
use seekless_engine::{Completion, Counters, Engine, EngineKind, Read, build};
use seekless_pack::{About, Codec, PackWriter, prepare};
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use tempfile::TempDir;

/// An archive and what is in it, in archive order.
pub(crate) struct Sample {
    pub(crate) path: PathBuf,
    pub(crate) files: Vec<(String, Vec<u8>)>,
    _directory: TempDir,
}

impl Sample {
    /// Files of these sizes, every other one compressible.
    pub(crate) fn of_sizes(sizes: impl IntoIterator<Item = usize>, codec: Codec) -> Self {
        let contents =
            sizes.into_iter().enumerate().map(|(number, bytes)| content(number as u64, bytes));
        let files =
            contents.enumerate().map(|(number, bytes)| (format!("dir/{number:04}.bin"), bytes));
        Self::of_files(files.collect(), codec)
    }

    /// Some hundred files as a game has them: mostly small, a few over a read's size.
    pub(crate) fn mixed() -> Self {
        let mut seed = 7;
        let sizes = (0..300).map(|number| match number % 100 {
            0 => 0,
            50 => 1_500_000,
            _ => 200 + (random(&mut seed) % 12_000) as usize,
        });
        Self::of_sizes(sizes.collect::<Vec<_>>(), Codec::Auto)
    }

    pub(crate) fn of_files(files: Vec<(String, Vec<u8>)>, codec: Codec) -> Self {
        Self::with_entry(files, codec, None)
    }

    /// The same, and one entry more of this name and content.
    pub(crate) fn with_entry(
        files: Vec<(String, Vec<u8>)>,
        codec: Codec,
        last: Option<(&str, Vec<u8>)>,
    ) -> Self {
        // Not in /tmp, which may be a file system without O_DIRECT.
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let path = directory.path().join("sample.zip");
        let mut pack = PackWriter::new(BufWriter::new(File::create(&path).unwrap()));
        for (name, bytes) in &files {
            pack.add(prepare(About::named(name), bytes.clone(), codec).unwrap()).unwrap();
        }
        if let Some((name, bytes)) = last {
            pack.add(prepare(About::named(name), bytes, Codec::Stored).unwrap()).unwrap();
        }
        pack.finish().unwrap().0.into_inner().unwrap().sync_all().unwrap();
        Self { path, files, _directory: directory }
    }

    pub(crate) fn name(&self, number: usize) -> &str {
        &self.files[number].0
    }

    pub(crate) fn bytes(&self, number: usize) -> &[u8] {
        &self.files[number].1
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.files.iter().map(|(name, _)| name.clone()).collect()
    }
}

/// xorshift: no two runs differ.
pub(crate) fn random(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

pub(crate) fn content(number: u64, bytes: usize) -> Vec<u8> {
    let mut seed = number * 2_654_435_761 + 1;
    match number % 2 {
        0 => (0..bytes).map(|_| random(&mut seed) as u8).collect(),
        _ => format!("file {number} says {seed}. ")
            .into_bytes()
            .into_iter()
            .cycle()
            .take(bytes)
            .collect(),
    }
}

/// Reads with threads, but only when the test lets it; notes every read.
pub(crate) struct Gate {
    inner: Arc<dyn Engine>,
    state: Mutex<GateState>,
    changed: Condvar,
    /// Reads that cover this offset fail with EIO.
    pub(crate) broken_offset: Option<u64>,
    pub(crate) costs: Costs,
}

#[derive(Default)]
struct GateState {
    open: bool,
    held: Vec<Read>,
    submitted: Vec<(u64, u64)>,
}

impl Gate {
    pub(crate) fn new() -> Self {
        Self {
            inner: build(EngineKind::Threads).unwrap(),
            state: Mutex::new(GateState { open: true, ..GateState::default() }),
            changed: Condvar::new(),
            broken_offset: None,
            costs: Costs { request_ns: 0, bytes_per_second: 1_000_000_000, depth: 8 },
        }
    }

    pub(crate) fn broken_at(offset: u64) -> Self {
        Self { broken_offset: Some(offset), ..Self::new() }
    }

    /// From now on reads wait.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock().unwrap();
        state.open = false;
        state.submitted.clear();
    }

    /// Lets all that wait go, and those after them.
    pub(crate) fn open(&self) {
        let held = {
            let mut state = self.state.lock().unwrap();
            state.open = true;
            std::mem::take(&mut state.held)
        };
        self.pass(held);
    }

    /// Lets one read go of those that wait.
    pub(crate) fn release_one(&self) {
        self.release_at(0);
    }

    /// Lets the read at this place in the line go.
    pub(crate) fn release_at(&self, at: usize) {
        let read = self.state.lock().unwrap().held.remove(at);
        self.pass(vec![read]);
    }

    /// Lets one read go of those that wait, if there is one: the one at `at`, counted around.
    pub(crate) fn release_any(&self, at: usize) {
        let read = {
            let held = &mut self.state.lock().unwrap().held;
            (!held.is_empty()).then(|| held.remove(at % held.len()))
        };
        self.pass(read.into_iter().collect());
    }

    /// Whether a read that covers this offset waits.
    pub(crate) fn holds(&self, offset: u64) -> bool {
        let covers = |read: &Read| {
            (read.offset..read.offset + read.buffer.capacity() as u64).contains(&offset)
        };
        self.state.lock().unwrap().held.iter().any(covers)
    }

    /// Reads `(offset, bytes)` since the gate was closed.
    pub(crate) fn submitted(&self) -> Vec<(u64, u64)> {
        self.state.lock().unwrap().submitted.clone()
    }

    /// Waits until this many reads have come since the gate was closed.
    pub(crate) fn wait_for(&self, reads: usize) {
        let state = self.state.lock().unwrap();
        drop(self.changed.wait_while(state, |state| state.submitted.len() < reads).unwrap());
    }

    fn pass(&self, reads: Vec<Read>) {
        let (broken, sound): (Vec<_>, Vec<_>) = reads.into_iter().partition(|read| {
            let end = read.offset + read.buffer.capacity() as u64;
            self.broken_offset.is_some_and(|offset| (read.offset..end).contains(&offset))
        });
        self.inner.submit(sound);
        for Read { buffer, tag, done, .. } in broken {
            let eio = std::io::Error::from_raw_os_error(5);
            done.send(Completion { tag, buffer, result: Err(eio), cached: false });
        }
    }
}

impl Engine for Gate {
    fn submit(&self, reads: Vec<Read>) {
        let pass = {
            let mut state = self.state.lock().unwrap();
            let asked = reads.iter().map(|read| (read.offset, read.buffer.capacity() as u64));
            state.submitted.extend(asked);
            self.changed.notify_all();
            match state.open {
                true => reads,
                false => {
                    state.held.extend(reads);
                    return;
                }
            }
        };
        self.pass(pass);
    }

    fn counters(&self) -> Counters {
        self.inner.counters()
    }

    fn name(&self) -> &'static str {
        "gate"
    }

    fn costs(&self) -> Costs {
        self.costs
    }
}
