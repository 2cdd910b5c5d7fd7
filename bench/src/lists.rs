//! A root file system as squashfs, its files in the order of our list and in that of the newest
//! run's first accesses, as other tools record it: what a start that no list was made from asks of
//! the device. Each start is recorded; then it is left out, lists are made from the others, and it
//! runs from each image, cold. Requests and bytes are those of the loop device. Needs root and
//! `mksquashfs`.

use anyhow::{Context, bail, ensure};
use seekless::device::units::{format_bytes, format_count};
use seekless::job::roots::Root;
use seekless::record::{self, record};
use seekless::report::table;
use seekless::start::export::{Format, Options as List, export};
use seekless::sys::output::Destination;
use seekless::sys::residency;
use seekless_results::{Better, Contender, Figure, Table};
use serde::Serialize;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Bytes of a sector in the kernel's figures.
const SECTOR_BYTES: u64 = 512;

/// Options of the measurement.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The root file system, a folder in which the starts run by chroot
    root: PathBuf,
    /// A start: a program of that root and its words, divided by blanks; give three or more
    #[arg(long, required = true, value_name = "COMMAND")]
    start: Vec<String>,
    /// Bytes of a block of the image
    #[arg(long, default_value = "1M", value_name = "BYTES")]
    block: String,
    /// Folder for images and traces, removed at the end
    #[arg(long, value_name = "DIR", default_value = "/var/tmp")]
    folder: PathBuf,
    /// Prints figures as JSON
    #[arg(long)]
    json: bool,
}

/// In which order the image has the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Order {
    Name,
    FirstAccess,
    Ours,
}

impl Order {
    const ALL: [Order; 3] = [Order::Name, Order::FirstAccess, Order::Ours];

    fn words(self) -> &'static str {
        match self {
            Order::Name => "by name",
            Order::FirstAccess => "by first access of the newest run",
            Order::Ours => "our list of all runs",
        }
    }
}

/// What a start asked of the device.
#[derive(Clone, Copy, Debug, Serialize)]
struct Row {
    start: usize,
    order: Order,
    requests: u64,
    bytes: u64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    ensure!(args.start.len() > 2, "--start: at least three, of which each is left out in turn");
    ensure!(rustix::process::geteuid().is_root(), "needs root, to mount images and to chroot");
    let root = args.root.canonicalize().with_context(|| args.root.display().to_string())?;
    let folder = tempfile::Builder::new().prefix(".lists-").tempdir_in(&args.folder)?;
    let bench = Bench { args, root, folder: folder.path() };
    let traces: Vec<PathBuf> =
        (0..args.start.len()).map(|start| bench.record(start)).collect::<Result<_, _>>()?;
    let mut rows = Vec::new();
    for start in 0..traces.len() {
        for order in Order::ALL {
            rows.push(bench.measure(start, order, &traces)?);
        }
    }
    match args.json {
        true => println!("{}", serde_json::to_string_pretty(&rows)?),
        false => println!("{}", words(&rows)),
    }
    Ok(tables(args, &rows))
}

/// Requests and bytes of each start, and of all together, by order.
fn tables(args: &Args, rows: &[Row]) -> Vec<Table> {
    let table = |id, title, unit| {
        Table::new(id, title, "start that was left out", unit, Better::Lower)
            .contenders([Contender::ours(Order::Ours.words())])
            .under(&format!("A squashfs image in blocks of {}, cold.", args.block))
    };
    let mut requests =
        table("requests", "Starts from a squashfs image: requests of the device", "");
    let mut megabytes = table("megabytes", "The same: bytes read", "MB");
    for order in Order::ALL {
        let of = || rows.iter().filter(move |row| row.order == order);
        let (name, mut sums) = (order.words(), (0, 0));
        for row in of() {
            let start = args.start[row.start].as_str();
            requests.set(start, name, Figure::exact(row.requests as f64));
            megabytes.set(start, name, Figure::exact(row.bytes as f64 / 1e6));
            sums = (sums.0 + row.requests, sums.1 + row.bytes);
        }
        requests.set("all", name, Figure::exact(sums.0 as f64));
        megabytes.set("all", name, Figure::exact(sums.1 as f64 / 1e6));
    }
    vec![requests, megabytes]
}

struct Bench<'a> {
    args: &'a Args,
    root: PathBuf,
    folder: &'a Path,
}

impl Bench<'_> {
    /// The words of a start below `root`.
    fn words(&self, start: usize, root: &Path) -> Vec<OsString> {
        let words = self.args.start[start].split_whitespace().map(OsString::from);
        std::iter::once(root.as_os_str().to_owned()).chain(words).collect()
    }

    fn record(&self, start: usize) -> anyhow::Result<PathBuf> {
        let trace = self.folder.join(format!("{start}.parquet"));
        let words = self.words(start, &self.root);
        let recorded = record(OsStr::new("chroot"), &words, &trace, &record::Options::default())?;
        ensure!(recorded.unfinished.is_none(), "{}: not recorded", self.args.start[start]);
        Ok(trace)
    }

    fn measure(&self, start: usize, order: Order, traces: &[PathBuf]) -> anyhow::Result<Row> {
        let others: Vec<PathBuf> = traces
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != start)
            .map(|(_, it)| it.clone())
            .collect();
        let sources = match order {
            Order::Name => None,
            Order::FirstAccess => Some(&others[others.len() - 1..]),
            Order::Ours => Some(&others[..]),
        };
        let sort = sources.map(|sources| self.list(sources)).transpose()?;
        let image = self.folder.join("image");
        let mut make = Command::new("mksquashfs");
        make.args([&self.root, &image]).args(["-noappend", "-no-progress", "-comp", "lz4"]);
        make.args(["-b", &self.args.block]);
        if let Some(sort) = sort {
            make.arg("-sort").arg(sort);
        }
        said(&mut make)?;
        let device =
            said(Command::new("losetup").args(["--find", "--show", "--read-only"]).arg(&image))?;
        let asked = self.start_from(device.trim(), start);
        said(Command::new("losetup").args(["--detach", device.trim()]))?;
        let (requests, bytes) = asked?;
        Ok(Row { start, order, requests, bytes })
    }

    /// A sort file of these traces.
    fn list(&self, sources: &[PathBuf]) -> anyhow::Result<PathBuf> {
        let root = self.root.to_str().context("the root's name is not UTF-8")?.to_owned();
        let root = Root { old: root.clone(), new: root };
        let path = self.folder.join("sort.txt");
        let out = Destination::new(&path).replacing(true);
        let options = List { root, ..List::new(Format::SquashfsSort) };
        export(sources, Some(&out), &options, &mut |_, _| {})?;
        Ok(path)
    }

    /// Requests and bytes of a start from an image, cold.
    fn start_from(&self, device: &str, start: usize) -> anyhow::Result<(u64, u64)> {
        let place = self.folder.join("mounted");
        std::fs::create_dir_all(&place)?;
        said(Command::new("mount").args(["-t", "squashfs", "-o", "ro", device]).arg(&place))?;
        let asked = || {
            residency::drop_all_caches().context("cannot drop caches")?;
            let before = figures(device)?;
            said(Command::new("chroot").args(self.words(start, &place)))?;
            let after = figures(device)?;
            Ok((after.0 - before.0, after.1 - before.1))
        };
        let asked = asked();
        said(Command::new("umount").arg(&place))?;
        asked
    }
}

/// What a program that must succeed prints.
fn said(command: &mut Command) -> anyhow::Result<String> {
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("{command:?}"))?;
    if !output.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Requests and bytes that a device has read since it was made.
fn figures(device: &str) -> anyhow::Result<(u64, u64)> {
    let name = device.trim_start_matches("/dev/");
    let path = format!("/sys/block/{name}/stat");
    let text = std::fs::read_to_string(&path).with_context(|| path.clone())?;
    let fields: Vec<u64> = text.split_whitespace().filter_map(|field| field.parse().ok()).collect();
    match fields.as_slice() {
        [requests, _, sectors, ..] => Ok((*requests, sectors * SECTOR_BYTES)),
        _ => bail!("{path}: not as the kernel writes it"),
    }
}

fn words(rows: &[Row]) -> String {
    let row = |start: String, order: Order, of: &[&Row]| {
        let requests: u64 = of.iter().map(|row| row.requests).sum();
        let bytes: u64 = of.iter().map(|row| row.bytes).sum();
        vec![start, order.words().to_owned(), format_count(requests), format_bytes(bytes)]
    };
    let mut lines: Vec<Vec<String>> =
        rows.iter().map(|it| row(it.start.to_string(), it.order, &[it])).collect();
    for order in Order::ALL {
        let all: Vec<&Row> = rows.iter().filter(|row| row.order == order).collect();
        lines.push(row("all".to_owned(), order, &all));
    }
    table(&["start left out", "order", "requests", "bytes"], lines)
}
