//! Records the calls on a store's file. This program runs itself again under the recorder, as the
//! player of the workload, and keeps every read and write call with its offset and size.
//!
//! His SystemTap script logged the same calls of the same file, and FIEMAP gave the disk sectors,
//! as it does here ([`Laid`]). SQLite's cache is turned off as in his tests, by `cache_size` 0.
//! SQLite then reads every page of the path from the root, and the recorder costs some ten
//! microseconds a call.

use super::laid::Laid;
use super::{ApplicationCache, Kind, LedgerArgs, StoreArgs, hash, tree};
use anyhow::{Context, Result, ensure};
use seekless::record::{Options, Status, record};
use seekless::trace::{Columns, Op, Trace};
use seekless_terminal::{interrupt, progress};
use std::ffi::OsString;
use std::path::Path;

/// The hidden experiment that the recorder runs.
pub(crate) const PLAYER: &str = "__ozen2018-ledger";

/// A read or write call on the store's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) offset: u64,
    pub(super) bytes: u32,
    pub(super) write: bool,
}

/// The calls, the size of the file, and where it lies.
#[derive(Debug, Default)]
pub(super) struct Captured {
    pub(super) calls: Vec<Call>,
    pub(super) file_bytes: u64,
    pub(super) laid: Laid,
}

/// Plays the workload in the recorded process.
pub(crate) fn play(args: &LedgerArgs) -> Result<()> {
    interrupt::end_when_interrupted()?;
    let mut bar = progress(args.label());
    match args.store.kind {
        Kind::BTree => tree::play(&args.store, &args.workload, &mut bar),
        Kind::Hash => hash::play(&args.store, &args.workload, &mut bar),
    }
}

/// Records the player. The trace is written to `folder` and removed again.
pub(super) fn capture(args: &LedgerArgs, folder: &Path) -> Result<Captured> {
    let program =
        std::env::current_exe().context("cannot find the running command, which is recorded")?;
    let trace = folder.join("calls.parquet");
    let recorded = record(program.as_os_str(), &args.words(), &trace, &Options::default())?;
    recorded.unfinished.map_or(Ok(()), Err)?;
    ensure!(
        recorded.status == Status::Exited(0),
        "the recorded workload failed ({:?})",
        recorded.status
    );
    ensure!(recorded.summary.lost == 0, "the recorder lost {} calls", recorded.summary.lost);
    let captured = read(&trace, &args.store.path)?;
    std::fs::remove_file(&trace).with_context(|| format!("cannot remove {}", trace.display()))?;
    ensure!(
        !captured.calls.is_empty(),
        "the recorder saw no call on {}",
        args.store.path.display()
    );
    Ok(captured)
}

fn read(trace: &Path, store: &Path) -> Result<Captured> {
    let trace = Trace::open(trace)?;
    let name = seekless::trace::escape_path(store.as_os_str().as_encoded_bytes());
    let file = trace.file_names()?.iter().position(|file| *file == name);
    let file =
        file.with_context(|| format!("the recorder saw nothing of {}", store.display()))? as u32;
    let mut calls = Vec::new();
    let columns = Columns::OP | Columns::FILE | Columns::OFFSET | Columns::BYTES;
    for batch in trace.scan(columns)? {
        let batch = batch?;
        for row in
            (0..batch.rows()).filter(|&row| batch.file()[row] == file && batch.bytes()[row] > 0)
        {
            let write = match batch.op()[row] {
                Op::Read => false,
                Op::Write => true,
                _ => continue,
            };
            let (offset, bytes) = (batch.offset()[row], batch.bytes()[row]);
            calls.push(Call {
                offset: u64::try_from(offset)?,
                bytes: u32::try_from(bytes)?,
                write,
            });
        }
    }
    let file_bytes = store.metadata()?.len();
    Ok(Captured { calls, file_bytes, laid: Laid::of(store, file_bytes)? })
}

impl LedgerArgs {
    /// The command line for these options.
    fn words(&self) -> Vec<OsString> {
        let StoreArgs { kind, path, page_bytes, application_cache } = &self.store;
        let super::workload::Workload { rows, statements, reads_percent, seed } = self.workload;
        let kind = match kind {
            Kind::BTree => "b-tree",
            Kind::Hash => "hash",
        };
        let mut words: Vec<OsString> = vec![PLAYER.into(), "--path".into(), path.into()];
        words.extend(["--kind".into(), kind.into()]);
        if let ApplicationCache::Pages(pages) = application_cache {
            words.extend(["--application-cache".into(), pages.to_string().into()]);
        }
        let numbers = [
            ("--page-bytes", u64::from(*page_bytes)),
            ("--rows", rows),
            ("--statements", statements),
            ("--reads-percent", reads_percent),
            ("--seed", seed),
        ];
        words.extend(
            numbers.iter().flat_map(|&(name, value)| [name.into(), value.to_string().into()]),
        );
        words
    }

    /// The text beside the progress bar.
    fn label(&self) -> String {
        let StoreArgs { kind, page_bytes, application_cache, .. } = &self.store;
        format!(
            "{}, {} % reads, pages of {} KiB, application cache {application_cache}",
            kind.name(),
            self.workload.reads_percent,
            page_bytes / 1024
        )
    }
}
