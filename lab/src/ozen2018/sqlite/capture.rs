//! Records the calls on a store's files. This program runs itself again under the recorder, as the
//! player of the workload, and keeps every read and write call with its offset and size.
//!
//! His SystemTap script logged the same calls of the same file, and FIEMAP gave the disk sectors,
//! as it does here ([`Laid`](super::laid::Laid)). SQLite's cache is turned off as in his tests, by
//! `cache_size` 0. SQLite then reads every page of the path from the root, and the recorder costs
//! some ten microseconds a call. Calls of a store's other threads are recorded too.

use super::calls::Captured;
use super::{ApplicationCache, LedgerArgs, StoreArgs, copies, files};
use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use seekless::record::{Options, Status, record};
use seekless_terminal::{interrupt, progress};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The hidden experiment that the recorder runs.
pub(crate) const PLAYER: &str = "__ozen2018-ledger";

/// Recordings until one is complete: on a busy machine the recorder may lose calls.
const ATTEMPTS: u32 = 5;

/// Plays the workload in the recorded process.
pub(crate) fn play(args: &LedgerArgs) -> Result<()> {
    interrupt::end_when_interrupted()?;
    args.store.play(&args.workload, &mut progress(args.label()))
}

/// Records the player, again if calls were lost. What it writes to `folder` is removed again, but
/// for the last copy of a store that a recording changes.
pub(super) fn capture(args: &LedgerArgs, folder: &Path) -> Result<Captured> {
    for _ in 0..ATTEMPTS {
        if let Some(captured) = record_once(args, folder)? {
            return Ok(captured);
        }
    }
    bail!("the recorder lost calls in each of {ATTEMPTS} recordings: the machine is too busy")
}

/// `None` if calls were lost.
fn record_once(args: &LedgerArgs, folder: &Path) -> Result<Option<Captured>> {
    let mut args = args.clone();
    args.store.path = to_record(&args.store, folder)?;
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
    let is_complete = recorded.summary.lost == 0;
    let captured = is_complete.then(|| files::read(&trace, &args.store.path)).transpose()?;
    std::fs::remove_file(&trace).with_context(|| format!("cannot remove {}", trace.display()))?;
    ensure!(
        captured.as_ref().is_none_or(|captured| !captured.calls.is_empty()),
        "the recorder saw no call on {}",
        args.store.path.display()
    );
    Ok(captured)
}

/// The path of the store to record: of a copy in `folder` if a recording changes it.
fn to_record(store: &StoreArgs, folder: &Path) -> Result<PathBuf> {
    if !store.kind.moves_rows() {
        return Ok(store.path.clone());
    }
    // The recorder reports the kernel's name of a file, without links.
    let path = folder
        .canonicalize()
        .with_context(|| format!("cannot find {}", folder.display()))?
        .join("ledger-copy");
    copies::copy(&store.path, &path)?;
    Ok(path)
}

impl LedgerArgs {
    /// The command line for these options.
    fn words(&self) -> Vec<OsString> {
        let StoreArgs { kind, path, page_bytes, application_cache } = &self.store;
        let super::workload::Workload { rows, statements, reads_percent, seed } = self.workload;
        let kind = kind.to_possible_value().map_or_else(String::new, |kind| kind.get_name().into());
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
