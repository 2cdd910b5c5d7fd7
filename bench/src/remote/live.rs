//! All ways in turn.

use super::Args;
use super::means::{Loaded, Means, Trial};
use super::prepared::Prepared;
use super::programs::{missing, missing_python};
use super::simulated;
use super::storage::Storage;
use super::tables::{self, WithDelay};
use super::way::Way;
use crate::folder::Folder;
use crate::rounds::{load_average, median};
use anyhow::ensure;
use seekless_results::Table;

/// A way that takes longer has a turn in the first round only.
const LONG: f64 = 20.0;
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
        let hurried = means.hurried(&ways, delay_ms)?;
        let ways = means.in_turn(&ways)?;
        all.push(WithDelay { delay_ms, ways, simulated, hurried });
    }
    let load = format!("Load {before:.2} before and {:.2} after.", load_average());
    println!("{}\n{load}", tables::words(&means, &all));
    Ok(tables::of(&means, &all))
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

    /// Seconds of the list, if the server answers at once: what the processors need for server,
    /// proxy and client, which the simulator does not know.
    fn hurried(&self, ways: &[Way], delay_ms: u64) -> anyhow::Result<Option<f64>> {
        if !ways.contains(&Way::Listed) {
            return Ok(None);
        }
        self.storage.hurry();
        let trials = (0..=self.args.rounds).map(|_| self.trial(|| self.listed()));
        let seconds =
            trials.map(|trial| Ok(trial?.loaded.seconds)).collect::<anyhow::Result<Vec<_>>>();
        self.storage.slow(self.args, delay_ms);
        Ok(Some(median(&mut seconds?)))
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
}
