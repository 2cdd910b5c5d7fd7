//! An import of Python packages: from the local disk, where nothing of them is cached, and from a
//! mounted pack of them in object storage. The pack has been made of one recorded import, so its
//! files are expected. Python itself is cached; mounting is timed apart.

use super::Args;
use super::engine::pack_name;
use super::prepared::packed;
use super::storage::{BUCKET, Storage};
use crate::folder::Folder;
use crate::rounds::{load_average, median};
use anyhow::{Context, ensure};
use seekless::device::units::{format_bytes, format_count, format_rate};
use seekless::engine::automatic;
use seekless::io::Store;
use seekless::mount::{Options, mount};
use seekless::record::{self, record};
use seekless::remote::{Remote, Settings};
use seekless::report::table;
use seekless::sys::residency::drop_cached;
use seekless_results::{Better, Contender, Figure, Table};
use seekless_testing::Served;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

const PACK: &str = "packages.zip";
const DISK: &str = "local disk, cold";
const MOUNTED: &str = "mounted pack";

/// What `seekless mount` gives the store and open files of a pack in object storage, and how far
/// ahead of the kernel's cache it brings in what is expected.
const STORE_BYTES: u64 = 256 << 20;
const OPEN_BYTES: u64 = 256 << 20;
const WINDOW_BYTES: u64 = 16 << 20;
const AHEAD_BYTES: u64 = 1 << 30;

/// One round.
struct Round {
    disk: f64,
    mounted: f64,
    mounting: f64,
    served: Served,
}

struct Imports<'a> {
    args: &'a Args,
    packages: &'a Path,
    root: &'a Path,
    storage: &'a Storage,
}

pub(super) fn run(args: &Args, packages: &Path) -> anyhow::Result<Vec<Table>> {
    ensure!(args.rounds > 0 && !args.delay_ms.is_empty(), "--rounds, --delay-ms: at least 1");
    let before = load_average();
    let folder = Folder::in_(&args.folder)?;
    let root = folder.path();
    std::fs::create_dir_all(root.join(BUCKET))?;
    let trace = root.join("import.parquet");
    let words = words(args, packages);
    let recorded = record(OsStr::new("env"), &words, &trace, &record::Options::default())?;
    ensure!(recorded.unfinished.is_none(), "the import was not recorded");
    packed(args, packages, &[trace], &root.join(BUCKET).join(PACK))?;
    let storage = Storage::start(root)?;
    let imports = Imports { args, packages, root, storage: &storage };
    let mut all = Vec::new();
    for &delay_ms in &args.delay_ms {
        storage.slow(args, delay_ms);
        // The first round is discarded.
        let rounds: Vec<Round> =
            (0..=args.rounds).map(|_| imports.round()).collect::<anyhow::Result<_>>()?;
        all.push((delay_ms, rounds.into_iter().skip(1).collect::<Vec<Round>>()));
    }
    let load = format!("Load {before:.2} before and {:.2} after.", load_average());
    println!("{}\n{load}", in_words(args, &all));
    Ok(vec![of(args, &all)])
}

/// What runs: an import by the words of `env`.
fn words(args: &Args, packages: &Path) -> Vec<OsString> {
    let mut path = OsString::from("PYTHONPATH=");
    path.push(packages);
    let import = format!("import {}", args.import);
    // It would write into the packages, or find out that it cannot.
    let no_writes = "PYTHONDONTWRITEBYTECODE=1".into();
    vec![no_writes, path, args.python.clone().into(), "-c".into(), import.into()]
}

impl Imports<'_> {
    fn round(&self) -> anyhow::Result<Round> {
        drop_all(self.packages)?;
        let disk = self.timed(self.packages)?;
        let before = self.storage.served();
        let began = Instant::now();
        let at = self.root.join("at");
        std::fs::create_dir_all(&at)?;
        let options =
            Options { open_bytes: OPEN_BYTES, ahead_bytes: AHEAD_BYTES, ..Options::default() };
        let pack = mount(self.store()?, &at, options)?;
        let mounting = began.elapsed().as_secs_f64();
        let mounted = self.timed(&at);
        let after = self.storage.served();
        pack.unmount()?;
        let served = Served {
            requests: after.requests - before.requests,
            bytes: after.bytes - before.bytes,
            ..after
        };
        Ok(Round { disk, mounted: mounted?, mounting, served })
    }

    fn store(&self) -> anyhow::Result<Store> {
        let engine = Remote::new(automatic(), self.storage.access(), Settings::default())?;
        let builder = Store::builder().cache(STORE_BYTES).window(WINDOW_BYTES);
        Ok(builder.shared_engine(Arc::new(engine)).open(pack_name(PACK))?)
    }

    /// The seconds of an import from `packages`.
    fn timed(&self, packages: &Path) -> anyhow::Result<f64> {
        let mut command = Command::new("env");
        command.args(words(self.args, packages)).stdin(Stdio::null());
        let began = Instant::now();
        let output = command.output().context("cannot run env")?;
        let seconds = began.elapsed().as_secs_f64();
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "import {}: {said}", self.args.import);
        Ok(seconds)
    }
}

/// Drops all files below a folder from the page cache.
fn drop_all(folder: &Path) -> anyhow::Result<()> {
    let mut open: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                drop_cached(File::open(entry.path())?.as_fd())?;
            }
        }
    }
    Ok(())
}

fn seconds(rounds: &[Round], of: impl Fn(&Round) -> f64) -> f64 {
    median(&mut rounds.iter().map(of).collect::<Vec<_>>())
}

fn in_words(args: &Args, all: &[(u64, Vec<Round>)]) -> String {
    let row = |(delay_ms, rounds): &(u64, Vec<Round>)| {
        let disk = seconds(rounds, |round| round.disk);
        let mounted = seconds(rounds, |round| round.mounted);
        let last = rounds.last().map(|round| round.served).unwrap_or_default();
        vec![
            format!("{delay_ms} ms, {} a stream", format_rate(args.stream)),
            format!("{disk:.2} s"),
            format!("{mounted:.2} s"),
            format!("{:.2}", mounted / disk),
            format!("{:.2} s", seconds(rounds, |round| round.mounting)),
            format_count(last.requests),
            format_bytes(last.bytes),
        ]
    };
    let import = format!("import {}", args.import);
    let header = [&*import, DISK, MOUNTED, "ratio", "mounting", "requests", "bytes"];
    table(&header, all.iter().map(row).collect())
}

fn of(args: &Args, all: &[(u64, Vec<Round>)]) -> Table {
    let under = format!(
        "Python imports {}; its packages lie on the local disk, none of them cached, or in a pack \
         in object storage that is mounted, made of one recorded import. Mounting is not timed.",
        args.import
    );
    let title = "An import from a mounted pack in object storage";
    let mut seconds = Table::new("import", title, "delay of a request", "s", Better::Lower)
        .contenders([Contender::ours(MOUNTED), Contender::rival(DISK)])
        .under(&under);
    for (delay_ms, rounds) in all {
        let of = |of: fn(&Round) -> f64| rounds.iter().map(of).collect::<Vec<_>>();
        let case = format!("{delay_ms} ms");
        seconds.set(&case, MOUNTED, Figure::of_rounds(&of(|round| round.mounted)));
        seconds.set(&case, DISK, Figure::of_rounds(&of(|round| round.disk)));
    }
    seconds
}
