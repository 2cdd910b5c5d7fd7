//! What an order costs: a row a run, and the sums and means that headlines quote.

use crate::roots::Root;
use seekless_sim::score::RunScore;
use serde::Serialize;

/// An order's figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// How the order was made.
    pub method: String,
    /// The cache assumed between program and archive; unlimited if none.
    pub cache_bytes: Option<u64>,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Files in the order.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files whose size neither list nor traces tell; they count as empty.
    pub files_of_unknown_size: u64,
    /// Files that the runs load and the list does not have; passed over.
    pub unlisted_files: u64,
    /// One of them.
    pub unlisted_example: Option<String>,
    /// Where the runs' files are in the list, if none was where it says: by the longest common tail
    /// of names.
    pub moved: Option<Root>,
    /// The runs that the order was made from, on that order.
    pub trained: Group,
    /// Each of those runs on an order made from the others.
    pub held_out: Option<Group>,
    /// Runs that the order was not made from, on that order.
    pub scored: Option<Group>,
}

/// Some runs and their totals.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// A row a run.
    pub runs: Vec<RunRow>,
    /// Over all of them.
    pub totals: Totals,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunRow {
    /// Its trace, and its number where that holds several.
    pub run: String,
    /// Its counts, of first loads only.
    #[serde(flatten)]
    pub score: RunScore,
    /// Seeks of first loads, 0 to 1.
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
    /// The one of the other, 0 to 1.
    pub seek_share: f64,
    /// Mean over the runs that load anything.
    pub mean_block_runs: f64,
    /// Mean over the runs that load anything.
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
