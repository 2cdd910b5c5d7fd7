//! All ways in turn.

use super::Args;
use super::prepared::Prepared;
use super::programs::{missing, missing_python};
use super::simulated::{self, Simulated};
use super::storage::Storage;
use super::tables;
use super::way::Way;
use crate::folder::Folder;
use crate::rounds::load_average;
use anyhow::ensure;
use seekless::measure::Checksum;
use seekless_results::Table;
use seekless_testing::Served;
use std::time::{Duration, Instant};

/// A way that takes longer has a turn in the first round only.
const LONG: f64 = 20.0;
/// With `--quick`, for each rival.
const QUICK_LIMIT: Duration = Duration::from_secs(5);

/// What a way has loaded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loaded {
    pub(super) seconds: f64,
    pub(super) files: usize,
    pub(super) delivered: Checksum,
}

/// One trial.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    pub(super) loaded: Loaded,
    /// What the proxy has counted.
    pub(super) served: Served,
}

/// The trials of each way with the same delay.
pub(super) struct WithDelay {
    pub(super) delay_ms: u64,
    pub(super) ways: Vec<(Way, Vec<Trial>)>,
    pub(super) simulated: Vec<Simulated>,
}

/// What each way works with.
pub(super) struct Means<'a> {
    pub(super) args: &'a Args,
    pub(super) prepared: &'a Prepared,
    pub(super) storage: &'a Storage,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    ensure!(args.rounds > 0 && !args.delay_ms.is_empty(), "--rounds, --delay-ms: at least 1");
    let before = load_average();
    let made = args.keep.is_none().then(|| Folder::in_(&args.folder)).transpose()?;
    let root = match (&args.keep, &made) {
        (Some(keep), _) => keep.as_path(),
        (None, Some(made)) => made.path(),
        (None, None) => unreachable!("one of them is there"),
    };
    let prepared = Prepared::new(args, root)?;
    let storage = Storage::start(root)?;
    let means = Means { args, prepared: &prepared, storage: &storage };
    let ways: Vec<Way> = Way::ALL.into_iter().filter(|way| means.is_there(*way)).collect();
    let mut all = Vec::new();
    for &delay_ms in &args.delay_ms {
        storage.slow(args, delay_ms);
        let simulated = simulated::beside_live(&means, delay_ms)?;
        let ways = means.in_turn(&ways)?;
        all.push(WithDelay { delay_ms, ways, simulated });
    }
    let load = format!("Load {before:.2} before and {:.2} after.", load_average());
    println!("{}\n{load}", tables::words(&means, &all));
    Ok(tables::of(&means, &all, &load))
}

impl Means<'_> {
    /// Whether a way is asked for, and its program is there. Says so if that is missing.
    fn is_there(&self, way: Way) -> bool {
        if !way.is_asked(self.args) {
            return false;
        }
        let missing = match way {
            Way::ZipFileSystem | Way::S3Python => missing_python(),
            Way::Rclone => missing("rclone", "version"),
            Way::S3Fuse => missing("s3fs", "--version"),
            _ => None,
        };
        missing.iter().for_each(|why| eprintln!("bench: {} is left out: {why}", way.name()));
        missing.is_none()
    }

    fn in_turn(&self, ways: &[Way]) -> anyhow::Result<Vec<(Way, Vec<Trial>)>> {
        let rounds = if self.args.quick { 1 } else { self.args.rounds };
        let mut trials: Vec<(Way, Vec<Trial>)> =
            ways.iter().map(|way| (*way, Vec::new())).collect();
        let mut failed = Vec::new();
        for _ in 0..rounds {
            for (way, trials) in &mut trials {
                if failed.contains(way)
                    || trials.last().is_some_and(|last| last.loaded.seconds >= LONG)
                {
                    continue;
                }
                match self.trial(|| self.load(*way)) {
                    Ok(trial) => trials.push(trial),
                    Err(error) if way.is_a_program() => {
                        eprintln!("bench: {} is left out: {error:#}", way.name());
                        failed.push(*way);
                    }
                    Err(error) => return Err(error.context(way.name())),
                }
            }
        }
        trials.retain(|(_, trials)| !trials.is_empty());
        Ok(trials)
    }

    /// Loads, and checks what came.
    pub(super) fn trial(
        &self,
        load: impl FnOnce() -> anyhow::Result<Loaded>,
    ) -> anyhow::Result<Trial> {
        let before = self.storage.served();
        let loaded = load()?;
        let after = self.storage.served();
        let is_whole = loaded.files == self.prepared.wanted.len();
        let expected = self.prepared.expected.value();
        ensure!(!is_whole || loaded.delivered.value() == expected, "other bytes came");
        let served = Served {
            requests: after.requests - before.requests,
            lists: after.lists - before.lists,
            bytes: after.bytes - before.bytes,
            ..after
        };
        Ok(Trial { loaded, served })
    }

    fn load(&self, way: Way) -> anyhow::Result<Loaded> {
        match way {
            Way::Listed => self.listed(),
            Way::OnDemand { predict } => self.on_demand(predict),
            Way::Gets { at_once } => self.gets(at_once),
            Way::Tar { at_once } => self.ranges(at_once),
            Way::ZipFileSystem => self.in_python("zip"),
            Way::S3Python => self.in_python("s3fs"),
            Way::Rclone => self.by_rclone(),
            Way::S3Fuse => self.by_s3_fuse(),
        }
    }

    /// How long a rival may take.
    pub(super) fn limit(&self) -> Duration {
        if self.args.quick { QUICK_LIMIT } else { Duration::from_secs(self.args.limit) }
    }

    /// All files were loaded.
    pub(super) fn all(&self, began: Instant, delivered: Checksum) -> anyhow::Result<Loaded> {
        self.some(began, self.prepared.wanted.len(), delivered)
    }

    /// So many files were loaded.
    pub(super) fn some(
        &self,
        began: Instant,
        files: usize,
        delivered: Checksum,
    ) -> anyhow::Result<Loaded> {
        Ok(Loaded { seconds: began.elapsed().as_secs_f64(), files, delivered })
    }
}
