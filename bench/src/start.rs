//! How long programs take from exec to exit when nothing of them is cached: alone, under `seekless
//! run`, after `vmtouch -t`, with Debian's `preload`, and from a mounted pack or squashfs, in turn;
//! the whole start also from a pack of its own, and after `seekless layout`. They lie on an ext4 of
//! their own on a loop device, or behind a slow FUSE file system, which is mounted anew before each
//! start: so they are cold without emptying the machine's caches. The kernel's throttle can slow
//! the loop device. Needs root.

mod expected;
mod packed;
mod place;
mod prepared;
mod starts;
mod tables;
mod turns;
mod way;
mod whole;

use crate::command::Commands;
use crate::folder::Folder;
use crate::image::Image;
use crate::preload::Preload;
use crate::programs::cases::{Kind, Places};
use crate::programs::repository;
use crate::rounds::load_average;
use anyhow::{Context, ensure};
use place::{Limits, Place};
use seekless::device::DeviceSpec;
use seekless_results::Table;
use seekless_testing::{Delayed, Delays};
use starts::Start;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Options of the measurement.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// A folder of Python packages (`pip install --target DIR numpy pandas matplotlib torch`)
    #[arg(long, value_name = "DIR", required_unless_present = "program")]
    packages: Option<PathBuf>,
    /// Programs to start, each copied beside its files
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = "whole")]
    program: Vec<Kind>,
    /// The Python to start
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,
    /// What to import, one start each; `a+b` is a start that imports both
    #[arg(long, value_delimiter = ',', default_value = "numpy,pandas,matplotlib.pyplot,torch")]
    imports: Vec<String>,
    /// The limits behind which to measure; `none` is the disk itself
    #[arg(long, value_name = "DEVICE", default_value = "iops=500,bandwidth=150MB")]
    device: String,
    /// Limits the disk below the loop device: requests count once they are joined, as on a cloud
    /// volume
    #[arg(long)]
    below: bool,
    /// A FUSE file system that takes this many milliseconds for each read, in place of the image;
    /// `run` knows nothing of it
    #[arg(long, value_name = "MS", requires = "whole", conflicts_with_all = ["device", "below"])]
    delay_ms: Option<f64>,
    /// Reads that it serves at once
    #[arg(long, default_value_t = 64)]
    at_once: u16,
    /// Programs and our own command are cold as well; with `run --mount auto`, and after `layout`
    #[arg(long, conflicts_with_all = ["mounted", "preload"])]
    whole: bool,
    /// Does not give `run` what the device charges
    #[arg(long)]
    device_unknown: bool,
    /// Starts under `run` with a wrong profile, too: that of a script that reads packages' tests
    #[arg(long)]
    wrong: bool,
    /// Starts from a mounted pack, under `run --mount` and from squashfs, too
    #[arg(long)]
    mounted: bool,
    /// Debian's preload, which takes turns too: it is given some seconds before each start
    #[arg(long, value_name = "PROGRAM", num_args = 0..=1, default_missing_value = "preload")]
    preload: Option<PathBuf>,
    /// Timed rounds, after one that is discarded
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// How far the kernel reads ahead on the device, in KiB
    #[arg(long, default_value_t = 128)]
    readahead: u64,
    #[command(flatten)]
    commands: Commands,
}

impl Args {
    /// The folder of packages, if imports are measured.
    fn imports_from(&self) -> anyhow::Result<Option<&Path>> {
        let Some(packages) = &self.packages else { return Ok(None) };
        ensure!(packages.is_dir(), "--packages: {} is no folder", packages.display());
        Ok(Some(packages))
    }

    /// The device, in words.
    fn measured_on(&self) -> String {
        match (self.delay_ms, self.device.as_str(), self.below) {
            (Some(delay_ms), ..) => {
                format!("a FUSE file system, {delay_ms} ms a read, {} at once", self.at_once)
            }
            (None, "none", _) => "the disk itself below a loop device".to_owned(),
            (None, limits, true) => format!("{limits}, counted once joined"),
            (None, limits, false) => format!("{limits}, counted before joining"),
        }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    ensure!(args.rounds > 0, "--rounds: at least 1");
    ensure!(args.at_once > 0, "--at-once: at least 1");
    let before = load_average();
    let folder = Folder::in_(&args.commands.folder)?;
    let path = folder.path().canonicalize()?; // profiles have absolute names
    let (at, written) = (path.join("at"), path.join("written"));
    std::fs::create_dir(&at)?;
    std::fs::create_dir(&written)?;
    let ours = args.commands.ours()?;
    let (place, starts) = made(args, &path, &written, &ours)?;
    let packages = match (args.imports_from()?, args.whole) {
        (None, _) => None,
        (Some(_), true) => Some(whole::packages(place.mounted())),
        (Some(_), false) => Some(place.mounted().to_owned()),
    };
    let squashed = match args.imports_from()? {
        Some(packages) if args.mounted => packed::squash(&place, packages, &path)?,
        _ => None,
    };
    let preload = args.preload.as_ref().map(|program| Preload::find(program, &path));
    let bench = Bench {
        seekless: if args.whole { whole::ours(place.mounted()) } else { ours },
        packages,
        vmtouch: Command::new("vmtouch").arg("-V").output().is_ok(),
        preload: preload.transpose()?.flatten(),
        squashed,
        at,
        state: path.join("state"),
        args,
        place,
    };
    let mut rows = Vec::new();
    for start in &starts {
        rows.extend(bench.start(start)?);
        eprintln!("bench: {} done", start.case.name);
    }
    tables::show(args, &rows, before)?;
    Ok(tables::all(args, &rows))
}

/// Makes what is started, where it is started from.
fn made(
    args: &Args,
    folder: &Path,
    written: &Path,
    ours: &Path,
) -> anyhow::Result<(Place, Vec<Start>)> {
    let mounted = folder.join("mounted");
    let mut starts = starts::imports(args, &mounted)?;
    let place = if args.whole {
        let staged = whole::stage(args, folder, ours)?;
        let places = Places { made: &staged, seen: &mounted, written };
        std::fs::create_dir(written.join("classes"))?;
        starts.extend(starts::programs(args, &places)?);
        match args.delay_ms {
            Some(delay_ms) => delayed(args, staged, mounted, delay_ms)?,
            None => {
                // Room for packs, and for what a layout moves.
                let image = Image::of(&staged, folder, args.readahead, 1)?;
                std::fs::remove_dir_all(staged)?;
                Place::Image { image, limits: limits(args)? }
            }
        }
    } else {
        let packages = args.imports_from()?.context("--packages is missing")?;
        // Room for a pack of each import, and for squashfs.
        let room = if args.mounted { args.imports.len() as u64 + 1 } else { 0 };
        let image = Image::of(packages, folder, args.readahead, room)?;
        Place::Image { image, limits: limits(args)? }
    };
    ensure!(!starts.is_empty(), "nothing to start: what is named is not here");
    for tree in starts.iter().filter_map(|start| start.case.tree.as_ref()) {
        let tree = place.made(&place.mounted().join(tree))?;
        place.writable(|| repository::refresh(&tree))?;
    }
    Ok((place, starts))
}

fn limits(args: &Args) -> anyhow::Result<Option<Limits>> {
    if args.device == "none" {
        return Ok(None);
    }
    match args.device.parse::<DeviceSpec>()? {
        DeviceSpec::Volume { iops, bytes_per_second } => {
            Ok(Some(Limits { iops, bytes_per_second, below: args.below }))
        }
        _ => {
            anyhow::bail!("--device {}: expected none or iops=N,bandwidth=RATE", args.device)
        }
    }
}

fn delayed(args: &Args, folder: PathBuf, mounted: PathBuf, delay_ms: f64) -> anyhow::Result<Place> {
    ensure!(delay_ms.is_finite() && delay_ms >= 0.0, "--delay-ms: 0 or more");
    std::fs::create_dir(&mounted)?;
    let read = Duration::from_secs_f64(delay_ms / 1e3);
    let delays = Delays { read, at_once: args.at_once, ..Delays::default() };
    let delayed = Box::new(RefCell::new(Delayed::of(&folder, &mounted, delays)?));
    Ok(Place::Delayed { delayed, folder, mounted })
}

struct Bench<'a> {
    seekless: PathBuf,
    /// Where programs see Python's packages.
    packages: Option<PathBuf>,
    vmtouch: bool,
    preload: Option<Preload>,
    squashed: Option<PathBuf>,
    /// Where packs and squashfs are mounted.
    at: PathBuf,
    state: PathBuf,
    args: &'a Args,
    place: Place,
}
