//! The ratings of an order: a row for each run, and sums and means over the runs.

use super::rivals::Rivals;
use seekless_job::roots::Root;
use seekless_sim::score::RunScore;
use serde::Serialize;

/// An order's figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// How the order was made.
    pub method: String,
    /// Which of its candidates the method `best` has chosen.
    pub made_as: Option<String>,
    /// Bytes of the cache between program and archive; `None` is an unlimited cache.
    pub cache_bytes: Option<u64>,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Files in the order.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files whose size is in neither the list nor the traces. They count as empty.
    pub files_of_unknown_size: u64,
    /// Files that the runs load but the list does not have. They are ignored.
    pub unlisted_files: u64,
    /// One of these files.
    pub unlisted_example: Option<String>,
    /// Where the list has the runs' files, if it has none of them under its traced name. Found by
    /// the longest common end of the names.
    pub moved: Option<Root>,
    /// The runs that the order was made from, rated on that order.
    pub trained: Group,
    /// No order has fewer seeks over all those runs.
    pub seeks_min: u64,
    /// Each of those runs, rated on an order made from the others.
    pub held_out: Option<Group>,
    /// Runs that the order was not made from, rated on that order.
    pub scored: Option<Group>,
    /// All methods on the device, if that was asked for and there are two runs.
    pub rivals: Option<Rivals>,
}

/// Some runs and their totals.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// A row for each run.
    pub runs: Vec<RunRow>,
    /// Sums and means over these runs.
    pub totals: Totals,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunRow {
    /// The name of its trace, and the run's number if the trace has several.
    pub run: String,
    /// Its counts. Only the first load of each file counts.
    #[serde(flatten)]
    pub score: RunScore,
    /// The share of first loads that seek, 0 to 1.
    pub seek_share: f64,
    /// Bytes of touched blocks for each byte loaded.
    pub amplification: f64,
}

/// Sums and means over the runs of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Totals {
    /// Sum of seeks.
    pub seeks: u64,
    /// Sum of first loads.
    pub loads: u64,
    /// Seeks divided by loads, 0 to 1.
    pub seek_share: f64,
    /// Mean number of block runs, over the runs that load anything.
    pub mean_block_runs: f64,
    /// Mean amplification, over the runs that load anything.
    pub mean_amplification: f64,
}

pub(super) fn row(label: &str, score: RunScore) -> RunRow {
    let (seek_share, amplification) = (score.seek_share(), score.amplification());
    RunRow { run: label.to_owned(), score, seek_share, amplification }
}

impl Group {
    pub(super) fn new(runs: Vec<RunRow>) -> Self {
        let loading: Vec<&RunRow> = runs.iter().filter(|row| row.score.loads > 0).collect();
        let mean = |of: &dyn Fn(&RunRow) -> f64| {
            loading.iter().map(|row| of(row)).sum::<f64>() / loading.len().max(1) as f64
        };
        let seeks = runs.iter().map(|row| row.score.seeks).sum();
        let loads = runs.iter().map(|row| row.score.loads).sum();
        let totals = Totals {
            seeks,
            loads,
            seek_share: seeks as f64 / loads.max(1) as f64,
            mean_block_runs: mean(&|row| row.score.block_runs as f64),
            mean_amplification: mean(&|row| row.amplification),
        };
        Self { runs, totals }
    }
}
