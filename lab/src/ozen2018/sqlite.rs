//! Tests 5 to 16 in shape: real SQLite over ten million rows. Our recorder captures its page
//! accesses, and his ten policies run over caches of 2,000 and 10,000 pages. The ranks stand beside
//! his. `--further` measures what his last chapter suggests: larger application caches, larger
//! database pages, and other structures than the B-tree: a hash table and a copy-on-write tree.

mod calls;
mod capture;
mod copies;
mod copy_on_write;
mod files;
mod further;
mod hash;
mod kind;
mod laid;
mod lines;
mod picture;
pub(in crate::ozen2018) mod published;
pub(in crate::ozen2018) mod ranks;
mod replayed;
mod room;
mod row;
mod saved;
mod tests_5_to_16;
mod tree;
mod words;
mod workload;

use crate::{output, picture as pictures, scratch};
use anyhow::{Context, Result, ensure};
pub(crate) use capture::{PLAYER, play};
use kind::Kind;
pub(in crate::ozen2018) use replayed::each_test;
use seekless_results::Table;
use seekless_terminal::progress;
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use workload::Workload;

/// The size of SQLite's cache by default (`cache_size` −2000).
const DEFAULT_CACHE_BYTES: u64 = 2000 * 1024;

/// Called with how much of a file is made, and of how much.
type Progress<'a> = &'a mut dyn FnMut(u64, u64);

/// Options of tests 5 to 16.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct SqliteArgs {
    /// Tests 5 to 16 in shape instead of test 3: SQLite under recorded selects and updates.
    #[arg(long, conflicts_with_all = ["data", "trace"])]
    pub(crate) sqlite: bool,
    /// His suggestions for further work instead: application caches, database pages, and a hash
    /// table and a copy-on-write tree (redb) beside the B-tree.
    #[arg(long, requires = "sqlite")]
    further: bool,
    /// The tests to run.
    #[arg(long, requires = "sqlite", value_name = "N", value_delimiter = ',', conflicts_with = "further",
          value_parser = clap::value_parser!(u32).range(5..=16))]
    tests: Vec<u32>,
    /// Rows of the table.
    #[arg(long, requires = "sqlite", default_value_t = 10_000_000, value_name = "N",
          value_parser = clap::value_parser!(u64).range(2..=1 << 31))]
    rows: u64,
    /// Statements of each recording; his are five million.
    #[arg(long, requires = "sqlite", default_value_t = 1_000_000, value_name = "N",
          value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    statements: u64,
    /// Seed of the workload.
    #[arg(long, requires = "sqlite", default_value_t = 2018)]
    seed: u64,
    /// Folder in which the database and the recordings are made; they are removed at the end
    /// [default: the system's temporary folder].
    #[arg(long, requires = "sqlite", value_name = "DIR")]
    dir: Option<PathBuf>,
    /// A hundred thousand rows and caches a hundredth of his, to see that everything works.
    #[arg(long, alias = "small", requires = "sqlite", conflicts_with_all = ["rows", "statements"])]
    quick: bool,
}

/// The size of a run.
#[derive(Clone, Copy, Debug, Serialize)]
struct Setting {
    rows: u64,
    statements: u64,
    seed: u64,
    /// His caches are larger by this factor.
    scaled_down: u64,
}

/// The store that plays the workload.
#[derive(Clone, Debug, clap::Args)]
struct StoreArgs {
    #[arg(long, value_enum)]
    kind: Kind,
    #[arg(long)]
    path: PathBuf,
    #[arg(long)]
    page_bytes: u32,
    #[arg(long, default_value = "default")]
    application_cache: ApplicationCache,
}

/// Plays the workload on a store. The lab records this.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct LedgerArgs {
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    workload: Workload,
}

/// The pages that the store caches itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ApplicationCache {
    /// SQLite's own: 2000 KiB.
    Default,
    Pages(u64),
}

impl ApplicationCache {
    fn pages(self, page_bytes: u32) -> u64 {
        match self {
            ApplicationCache::Default => DEFAULT_CACHE_BYTES / u64::from(page_bytes),
            ApplicationCache::Pages(pages) => pages,
        }
    }
}

impl fmt::Display for ApplicationCache {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ApplicationCache::Default => write!(formatter, "default"),
            ApplicationCache::Pages(pages) => write!(formatter, "{pages}"),
        }
    }
}

impl FromStr for ApplicationCache {
    type Err = std::num::ParseIntError;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Ok(if word == "default" { Self::Default } else { Self::Pages(word.parse()?) })
    }
}

/// One of his tests with its results: reads and writes of each policy.
struct Test {
    number: u32,
    reads_percent: u64,
    application_cache: bool,
    pages: u64,
    rows: [(u64, u64); 10],
}

pub(super) fn run(args: &SqliteArgs, picture: Option<&Path>, json: bool) -> Result<Vec<Table>> {
    pictures::check(picture)?;
    ensure!(
        picture.is_none() || !args.further,
        "--picture draws tests 5 to 16; --further has none"
    );
    let setting = args.setting();
    let bytes_per_row =
        if args.further { room::BYTES_PER_ROW_FURTHER } else { room::BYTES_PER_ROW };
    let parent = room::found(args.dir.as_deref(), &setting, bytes_per_row)?;
    let measured =
        scratch::within(&parent, "ozen2018", |folder| measure(args, &setting, folder, picture))?;
    match (json, &measured) {
        (true, Measured::Tests(figures)) => output::json(figures),
        (true, Measured::Further(figures)) => output::json(figures),
        (false, Measured::Tests(figures)) => output::text(&words::tests(figures)),
        (false, Measured::Further(figures)) => output::text(&words::further(figures)),
    }?;
    Ok(match measured {
        Measured::Tests(_) => Vec::new(),
        Measured::Further(figures) => vec![saved::table(&figures)],
    })
}

enum Measured {
    Tests(tests_5_to_16::Figures),
    Further(further::Figures),
}

fn measure(
    args: &SqliteArgs,
    setting: &Setting,
    folder: &Path,
    picture: Option<&Path>,
) -> Result<Measured> {
    if args.further {
        return Ok(Measured::Further(further::measure(setting, folder)?));
    }
    let figures = tests_5_to_16::measure(setting, &args.tests, folder)?;
    if let Some(path) = picture {
        picture::save(path, &figures)?;
    }
    Ok(Measured::Tests(figures))
}

impl SqliteArgs {
    fn setting(&self) -> Setting {
        let seed = self.seed;
        if self.quick {
            return Setting { rows: 100_000, statements: 4000, seed, scaled_down: 100 };
        }
        Setting { rows: self.rows, statements: self.statements, seed, scaled_down: 1 }
    }
}

impl Setting {
    fn workload(&self, reads_percent: u64) -> Workload {
        Workload { rows: self.rows, statements: self.statements, reads_percent, seed: self.seed }
    }

    /// Makes the store in `folder`, replacing an older one.
    fn make(&self, kind: Kind, page_bytes: u32, folder: &Path) -> Result<PathBuf> {
        let path = folder.join("ledger");
        copies::remove(&path)?;
        let mut bar =
            progress(format!("making the {}, pages of {} KiB", kind.name(), page_bytes / 1024));
        kind.make(&path, page_bytes, self.rows, &mut bar)
            .with_context(|| format!("cannot make {}", path.display()))?;
        Ok(path.canonicalize()?)
    }
}
