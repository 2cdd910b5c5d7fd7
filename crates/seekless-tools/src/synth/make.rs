//! Writes the planned files on all cores.

use super::content::{BLOCK_BYTES, Content};
use super::place::{Plan, Target, failed};
use seekless_job::crew;
use seekless_job::{Error, ErrorKind, Result};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};

/// Blocks that are made and written at a time.
const CHUNK_BLOCKS: usize = 16;
const THREADS_MAX: usize = 32;

/// Makes folders, then files. Stops at the first error or when `cancel` is set.
pub(super) fn make(
    plan: &Plan<'_>,
    cancel: &AtomicBool,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<()> {
    fs::create_dir_all(&plan.dir).map_err(|error| failed(&plan.dir, error))?;
    for folder in &plan.folders {
        make_folder(&plan.dir.join(folder))?;
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
    let (next, stop) = (AtomicUsize::new(0), Stop { failed: AtomicBool::new(false), cancel });
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        let (next, told) = (&next, &stop);
        crew::start(scope, threads, move || work(plan, next, told, &sender))?;
        let mut done = 0;
        let mut result = Ok(());
        for part in receiver {
            match part {
                Ok(bytes) => done += bytes,
                Err(error) => {
                    stop.failed.store(true, Ordering::Relaxed);
                    result = result.and(Err(error));
                }
            }
            progress(done, plan.summary.made_bytes);
        }
        result
    })?;
    if cancel.load(Ordering::Relaxed) {
        return Err(interrupted());
    }
    Ok(())
}

fn interrupted() -> Error {
    Error::new(
        ErrorKind::Interrupted,
        "interrupted; the files made so far are whole, and the same command goes on from there",
    )
}

/// Like `create_dir`, but accepts a folder that exists. The plan has already refused anything else
/// at this path.
fn make_folder(path: &Path) -> Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other.map_err(|error| failed(path, error)),
    }
}

struct Stop<'a> {
    failed: AtomicBool,
    cancel: &'a AtomicBool,
}

impl Stop<'_> {
    fn is_set(&self) -> bool {
        self.failed.load(Ordering::Relaxed) || self.cancel.load(Ordering::Relaxed)
    }
}

fn work(plan: &Plan<'_>, next: &AtomicUsize, stop: &Stop<'_>, sender: &Sender<Result<u64>>) {
    let mut buffer = Vec::new();
    while let Some(file) = plan.files.get(next.fetch_add(1, Ordering::Relaxed)) {
        if stop.is_set() {
            return;
        }
        let path = plan.dir.join(&file.path);
        if let Err(error) = make_file(&path, file, &mut buffer, stop, sender) {
            let _ = sender.send(Err(failed(&path, error))); // the receiver outlives the workers
        }
    }
}

/// Makes one file; removes it again if it cannot be written whole.
fn make_file(
    path: &Path,
    file: &Target<'_>,
    buffer: &mut Vec<u8>,
    stop: &Stop<'_>,
    sender: &Sender<Result<u64>>,
) -> io::Result<()> {
    if file.replaces {
        fs::remove_file(path)?; // not truncated: another name of the same file keeps its content
    }
    let mut out = OpenOptions::new().write(true).create_new(true).open(path)?;
    let written = write(&mut out, file, buffer, stop, sender);
    if !matches!(written, Ok(true)) {
        fs::remove_file(path)?;
    }
    written.map(drop)
}

/// Writes a file's content; returns whether all of it was written.
fn write(
    out: &mut fs::File,
    file: &Target<'_>,
    buffer: &mut Vec<u8>,
    stop: &Stop<'_>,
    sender: &Sender<Result<u64>>,
) -> io::Result<bool> {
    let content = Content::of(file.name);
    let mut left = file.bytes;
    let mut block = 0;
    while left > 0 {
        if stop.is_set() {
            return Ok(false);
        }
        let length = left.min((CHUNK_BLOCKS * BLOCK_BYTES) as u64);
        buffer.resize(length as usize, 0);
        content.fill(block, buffer);
        out.write_all(buffer)?;
        left -= length;
        block += CHUNK_BLOCKS as u64;
        let _ = sender.send(Ok(length));
    }
    Ok(true)
}
