//! `seekless compare`: times a run's loads from cold loose files and from their pack.

use crate::disk_cache::DiskCache;
use crate::interrupt;
use crate::next::{self, Found};
use crate::output::{self, Html, Picture, Words};
use crate::price::{self, PriceOption};
use anyhow::ensure;
use clap::ValueEnum;
use seekless::device::units::{counted, format_bytes, format_count, format_duration, parse_bytes};
use seekless::device::{Charged, DeviceSpec};
use seekless::job::roots::{Root, Roots};
use seekless::measure::{Coldness, Figures};
use seekless::report::before_after;
use seekless::tools::compare::{Basis, Comparison, Device, Options, ROUNDS_FOR_VERDICT, compare};
use seekless::tools::device::named;
use seekless::trace::Loads;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

mod headline;
mod page;
mod pattern;

/// Load a run cold from loose files and from their pack, side by side.
///
/// The loads of one recorded run are replayed in its order in three ways: from the loose files,
/// from the pack one after another, and from the pack with the list of loads known beforehand.
/// These take turns, after one round that is discarded, and all must deliver the same bytes. Before
/// each trial the files are dropped from the page cache; the report says how much could not be
/// dropped.
///
/// With --rivals the folder is also packed into temporary files, and they are loaded too. One is in
/// the order of names, and one, if runs are given, in the order of the newest of them. The gain of
/// those packs comes from the archive, not from the order.
///
/// With --throttle (root) the kernel limits the disk of the files to these rates, for this process
/// alone, and counts the requests. Quote this figure. Before each trial all caches are emptied,
/// also of names and inodes. The throttle counts requests before adjacent ones are merged, so
/// ext4's readahead of inodes is set to 1 meanwhile. A child process puts it back at the end, also
/// if this program is killed. If the child is killed too, the next `seekless compare` puts it back.
/// Loose files are still charged up to a quarter more than on a volume, which counts merged
/// requests. For a volume's count put DIR on a loop device (losetup --direct-io=on): it is limited
/// below that device, where requests are merged.
///
/// With --device both sides run on the same model of a volume. Loose files are charged what a cold
/// ext4 reads: each extent of data, and once each block of a folder's names and each block of
/// inodes. The blocks of inodes that ext4 reads ahead are charged too. The extents are those of the
/// files if they lie on ext4, otherwise those of a fresh copy. Requests over 1016 KiB are cut. The
/// pack is opened inside the measured time and charged the same way. Files that are loaded again
/// come from the page cache and cost nothing.
///
/// The program does not wait for the model: while any of its threads computes or reads, time passes
/// as usual. Once all of them wait for the model alone, the model's clock jumps to the end of the
/// next request. --clock real waits instead, and gives the same figures within a few percent.
///
/// A pack in object storage is read over the network in each round. With --disk-cache the discarded
/// round fills that cache, and the others show what a later start on this machine takes.
///
/// With --pattern one file is read in a pattern instead: through the kernel's page cache and
/// through Seekless's, which reads past it. Both deliver the same bytes, and both read ahead at
/// most as far where that may be set (root).
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless compare data data.zip --trace run.parquet
  seekless compare data data.zip --trace run.parquet --device iops=120,bandwidth=150MB/s
  seekless compare data data.zip --trace run.parquet --rivals monday.parquet tuesday.parquet
  sudo seekless compare data data.zip --trace run.parquet --throttle iops=500,bandwidth=150MB/s
  seekless compare data data.zip --trace run.parquet --picture before-after.svg
  seekless compare data data.zip --trace run.parquet --html compared.html
  seekless compare data data.zip --trace run.parquet --fail-if-slower 5%
  seekless compare big.bin --pattern backward:4KiB streams:10 stride:256KiB/64KiB
  sudo seekless compare big.bin --pattern backward --throttle iops=200,bandwidth=150MB/s")]
pub struct Args {
    /// The folder of loose files, or the file to read in a pattern.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// The pack made of it.
    #[arg(required_unless_present = "pattern")]
    pack: Option<PathBuf>,
    /// Traces, files or objects (s3://BUCKET/KEY); of several, runs number on in this order.
    #[arg(long, required_unless_present = "pattern", num_args = 1.., value_name = "RUN")]
    trace: Vec<PathBuf>,
    /// The run to load, from 0 [default: the newest]
    #[arg(long, value_name = "N")]
    run: Option<u32>,
    /// Load on a modelled device: a name that `seekless devices` lists, iops=N,bandwidth=RATE, or a
    /// TOML file
    #[arg(long, value_name = "DEVICE", value_parser = named)]
    device: Option<DeviceSpec>,
    /// Load on the real device, slowed to these limits: iops=N,bandwidth=RATE (root)
    #[arg(long, value_name = "SPEC", conflicts_with = "device")]
    throttle: Option<DeviceSpec>,
    /// Whether a model's waits are skipped or waited for
    #[arg(long, value_enum, default_value_t, requires = "device")]
    clock: Clock,
    /// Also load from packs by name and by the newest of these runs [default: the traces before the
    /// last]
    #[arg(long, num_args = 0.., value_name = "RUN")]
    rivals: Option<Vec<PathBuf>>,
    /// Do not read ahead by the pack's prediction of its program's loads
    #[arg(long)]
    no_prediction: bool,
    /// Files that the traces name below OLD are now below NEW; may be given several times
    #[arg(long, value_name = "OLD=NEW")]
    root: Vec<Root>,
    /// Timed rounds; fewer than three give no verdict
    #[arg(long, default_value_t = 5, value_name = "N")]
    rounds: u32,
    /// Cache of the pack's store, or of a pattern's file; empty at the start of each round
    /// [default: 64MB, for a pattern 256MiB]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    cache: Option<u64>,
    #[command(flatten)]
    disk_cache: DiskCache,
    /// Load each file only the first time that the run does
    #[arg(long)]
    unique: bool,
    /// Before each trial empty the caches of the whole machine, names and inodes too (root)
    #[arg(long)]
    drop_all_caches: bool,
    /// Exit with 1 if the pack on demand takes longer than the loose files by more than this
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    fail_if_slower: Option<f64>,
    /// Draw the before-and-after picture into this file, .svg or .png; - is standard output
    #[arg(long, value_name = "FILE", value_parser = output::picture_file)]
    picture: Option<PathBuf>,
    #[command(flatten)]
    price: PriceOption,
    #[command(flatten)]
    html: output::HtmlFile,
    #[command(flatten)]
    pattern: pattern::PatternArgs,
    #[command(flatten)]
    force: output::Force,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Clock {
    /// Skipped
    #[default]
    Virtual,
    /// Waited for
    Real,
}

/// Compares and prints. With `--fail-if-slower` the exit status is the verdict.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let Some(pack) = args.pack.clone() else {
        ensure!(!args.price.is_given(), "--price is of the loads of a pack: name one");
        return pattern::run(args);
    };
    ensure!(
        args.fail_if_slower.is_none() || args.rounds >= ROUNDS_FOR_VERDICT,
        "--fail-if-slower judges, and fewer than {ROUNDS_FOR_VERDICT} rounds decide nothing: give --rounds \
         {ROUNDS_FOR_VERDICT} or more"
    );
    let prices = args.price.of(args.device.as_ref(), Some(&pack))?;
    put_back_leftovers();
    let picture = Picture::begin(args.picture.as_deref(), args.force)?;
    let html = args.html.begin(args.force)?;
    let pages = html.iter().map(Html::destination);
    let words = Words::beside(picture.iter().map(Picture::destination).chain(pages));
    let cancel = interrupt::cancel_when_interrupted()?;
    let loads = Loads::read(&args.trace)?;
    let options = Options {
        run: args.run,
        device: device(&args),
        rounds: args.rounds,
        cache_bytes: args.cache.unwrap_or(Options::default().cache_bytes),
        unique: args.unique,
        drop_all_caches: args.drop_all_caches,
        roots: Roots::new(args.root.clone()),
        rivals: rivals(&args),
        no_prediction: args.no_prediction,
        disk_cache: args.disk_cache.only_if_asked(),
        cancel,
    };
    let mut progress = output::stages();
    let compared = compare(&args.directory, &pack, &loads, &options, &mut progress);
    drop(progress);
    let Some(comparison) = interrupt::finished(compared)? else {
        return Ok(interrupt::exit_code());
    };
    if let Some(picture) = picture {
        let title = format!("Loading {}", output::shown(&args.directory));
        draw(picture, &title, &comparison)?;
    }
    if let Some(html) = html {
        page::write(html, &args, &comparison)?;
    }
    let rivals = || priced(&comparison, args.device.is_some());
    if args.json {
        let charged = rivals().map(|(_, charged)| charged);
        price::json(words, &comparison, "/rivals", prices.as_ref(), charged)?;
    } else {
        let mut text = report(&comparison, args.drop_all_caches);
        if let Some(prices) = &prices {
            let rows = rivals().filter_map(|(name, charged)| Some((vec![name], charged?)));
            text += &prices.report(&["loaded from"], rows.collect());
        }
        words.text(&text)?;
        if comparison.decides() {
            let (directory, ratio) = (&args.directory, comparison.pack().ratio);
            next::say(words, &Found::Compared { directory, archive: &pack, ratio })?;
        }
    }
    let too_slow = args.fail_if_slower.is_some_and(|percent| comparison.is_slower_by(percent));
    Ok(if too_slow { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// What each rival is charged for, if it reads from what has a price: of an object the pack alone.
fn priced(
    comparison: &Comparison,
    has_device: bool,
) -> impl Iterator<Item = (String, Option<Charged>)> {
    let charged = move |(number, rival): (usize, &Figures)| {
        let counted = rival.requests.zip(rival.bytes).filter(|_| has_device || number > 0);
        let charged = |(reads, bytes)| Charged { reads, bytes, ..Charged::default() };
        (rival.name.clone(), counted.map(charged))
    };
    comparison.rivals.iter().enumerate().map(charged)
}

/// Puts back the settings that killed runs have left changed, and says so.
fn put_back_leftovers() {
    for leftover in seekless::sys::undo::leftovers() {
        match leftover.failed {
            None => output::say(format_args!(
                "a run that was killed had left this machine changed; put back: {}",
                leftover.steps.join("; ")
            )),
            Some(error) => {
                output::say(format_args!(
                    "a run that was killed has left this machine changed: {error}; run this again as root"
                ));
            }
        }
    }
}

fn device(args: &Args) -> Device {
    match (args.device.clone(), args.throttle.clone()) {
        (Some(spec), _) => Device::Modelled { spec, in_real_time: args.clock == Clock::Real },
        (_, Some(spec)) => Device::Throttled(spec),
        _ => Device::Real,
    }
}

/// The runs from which the rivals' order is made: those named, else the traces before the last. The
/// default leaves out the run that is loaded, since an order made from it would know it.
fn rivals(args: &Args) -> Option<Vec<PathBuf>> {
    let named = args.rivals.as_ref()?;
    Some(match (named.is_empty(), args.run, args.trace.split_last()) {
        (true, None, Some((_, older))) => older.to_vec(),
        _ => named.clone(),
    })
}

/// `5%`, `5 %` or `5`.
fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    let percent: Option<f64> = number.parse().ok();
    percent
        .filter(|percent| percent.is_finite() && *percent >= 0.0)
        .ok_or_else(|| format!("`{text}` is not a percentage: write it as 5%"))
}

/// The whole report as text.
fn report(comparison: &Comparison, drop_all: bool) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}", what(comparison));
    left_out(&mut text, comparison);
    let _ = writeln!(text, "{}", coldness(comparison, drop_all));
    text += &on_what(comparison);
    text += &served(comparison);
    let _ = write!(text, "\n{}\n{}", rivals_table(&comparison.rivals), headline::of(comparison));
    text
}

/// The device that the files were loaded from, and how requests to it are counted.
fn on_what(comparison: &Comparison) -> String {
    let Some(device) = &comparison.device else { return String::new() };
    let device = output::line(device);
    let expected = comparison.expected;
    match (comparison.throttled, comparison.basis) {
        (true, Basis::AsTheyLie) => {
            let counted = comparison.loose().requests.unwrap_or(0);
            format!(
                "on this disk, limited by the kernel to {device}\n\
                 the loose files: {} counted, the model of ext4 expects {} ({}); {}, expected {} ({})\n",
                requests(counted),
                format_count(expected.requests),
                apart(counted, expected.requests),
                format_duration(comparison.loose().median_ns),
                format_duration(expected.ns),
                apart(comparison.loose().median_ns, expected.ns),
            )
        }
        (true, _) => format!("on this disk, limited by the kernel to {device}\n"),
        (false, Basis::AsTheyLie) => {
            format!(
                "on a modelled device: {device}; the loose files are charged as they lie on ext4\n"
            )
        }
        (false, _) => format!(
            "on a modelled device: {device}; the loose files lie on another file system and are charged as a fresh copy on \
             ext4\n"
        ),
    }
}

/// What the pack's store says of its last round on demand.
fn served(comparison: &Comparison) -> String {
    let served = &comparison.served;
    let note = served.prediction_fault.as_ref();
    let note = note
        .map_or_else(String::new, |note| format!("without prediction: {}\n", output::line(note)));
    let words = format!(
        "the pack's store, last round on demand: {}; {} (median {}, 99 % {}, longest {}); {:.1} reads in \
         flight, at most {}; {:.0} % read in vain\n",
        counted(served.hits, "hit"),
        counted(served.waits, "wait"),
        format_duration(served.wait_p50_ns),
        format_duration(served.wait_p99_ns),
        format_duration(served.wait_max_ns),
        served.mean_depth,
        format_count(served.depth_max),
        100.0 * served.waste
    );
    words + &note
}

/// How far the expected figure is from the measured one: `+0.6 %`.
fn apart(found: u64, expected: u64) -> String {
    format!("{:+.1} %", 100.0 * (expected as f64 / found.max(1) as f64 - 1.0))
}

fn requests(count: u64) -> String {
    counted(count, "request")
}

fn what(comparison: &Comparison) -> String {
    let again = match comparison.repeats {
        0 => String::new(),
        repeats => format!(", {} of them of files loaded before", format_count(repeats)),
    };
    let run = match comparison.runs {
        1 => String::new(),
        runs => format!("run {} of 0 to {}: ", comparison.run, runs - 1),
    };
    format!(
        "{run}{} of {}{again}; median of {}",
        counted(comparison.loads, "load"),
        format_bytes(comparison.bytes),
        counted(comparison.rounds.into(), "round")
    )
}

fn left_out(text: &mut String, comparison: &Comparison) {
    let missing = &comparison.missing;
    if let Some(root) = &missing.moved {
        *text += &output::moved(root);
    }
    if missing.loads == 0 {
        return;
    }
    let sides = [(missing.in_directory, "not in the folder"), (missing.in_pack, "not in the pack")];
    let lacking: Vec<String> = sides
        .iter()
        .filter(|(files, _)| *files > 0)
        .map(|(files, side)| format!("{} {side}", format_count(*files)))
        .collect();
    let _ = writeln!(
        text,
        "left out on both sides: {} ({}), such as {}",
        counted(missing.loads, "load"),
        lacking.join(", "),
        output::line(&missing.named.join(", "))
    );
}

/// How much was cached at the start, and how cold the trials were.
fn coldness(comparison: &Comparison, drop_all: bool) -> String {
    let left = least_cold(&comparison.rivals);
    let dropped = match (left.could_not_drop, left.unknown) {
        (0, 0) => "dropped before each trial".to_owned(),
        (0, unknown) => {
            format!(
                "dropped, but of {} the kernel does not say what is left",
                counted(unknown, "file")
            )
        }
        _ => format!(
            "dropped but for {} that is in use elsewhere or lies in memory (tmpfs), such as {}",
            format_bytes(left.resident_bytes_after_drop),
            left.could_not_drop_examples.join(", ")
        ),
    };
    let names = match (left.metadata_dropped, drop_all) {
        (true, _) => "",
        (false, true) => {
            "; --drop-all-caches needs root, so directories and inodes may stay cached"
        }
        (false, false) => "; directories and inodes may stay cached",
    };
    format!(
        "cached at the start: {} of the loose files, {} of the pack; {dropped}{names}",
        of(&comparison.loose_at_start),
        of(&comparison.pack_at_start)
    )
}

/// The loose files and the pack, each from its least cold trial. Several rivals read the same pack.
fn least_cold(rivals: &[Figures]) -> Coldness {
    let warmth = |coldness: &&Coldness| (coldness.resident_bytes_after_drop, coldness.unknown);
    let (loose, packed) = rivals.split_at(rivals.len().min(1));
    let mut left = Coldness::default();
    for side in [loose, packed] {
        let least = side.iter().map(|rival| &rival.least_cold).max_by_key(warmth);
        least.into_iter().for_each(|least| left.merge(least.clone()));
    }
    left
}

fn of(start: &Coldness) -> String {
    match (start.resident_bytes_before, start.unknown) {
        (0, 0) => "nothing".to_owned(),
        (0, _) => "an unknown part".to_owned(),
        (bytes, _) => format!("{} of {}", format_bytes(bytes), format_bytes(start.bytes)),
    }
}

fn known_bytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "unknown".to_owned(), format_bytes)
}

/// The before-and-after table, which also ends a `tour`.
pub(crate) fn rivals_table(rivals: &[Figures]) -> String {
    let row = |rival: &Figures| {
        vec![
            rival.name.clone(),
            format_duration(rival.median_ns),
            format!("{} to {}", format_duration(rival.min_ns), format_duration(rival.max_ns)),
            times(rival.ratio),
            rival.requests.map_or_else(|| "unknown".to_owned(), format_count),
            known_bytes(rival.bytes),
        ]
    };
    let header = ["loaded from", "median", "min to max", "faster", "requests", "bytes read"];
    output::table(&header, rivals.iter().map(row).collect())
}

/// A ratio as text: `7.7×`, and `0.04×` rather than `0.0×`.
pub(crate) fn times(ratio: f64) -> String {
    if ratio < 0.95 { format!("{ratio:.2}×") } else { format!("{ratio:.1}×") }
}

/// Draws the rivals' times.
pub(crate) fn draw(picture: Picture, title: &str, comparison: &Comparison) -> anyhow::Result<()> {
    let rows: Vec<(&str, f64)> = comparison
        .rivals
        .iter()
        .map(|rival| (rival.name.as_str(), rival.median_ns as f64 / 1e9))
        .collect();
    let caption = format!(
        "{} of {}, each from a cold start, on {}; median of {} in turn. Seekless {}.",
        counted(comparison.loads, "load"),
        format_bytes(comparison.bytes),
        comparison.device.as_deref().map_or("this disk".to_owned(), |device| {
            match comparison.throttled {
                true => format!("a disk limited to {}", output::line(device)),
                false => format!("a modelled disk ({})", output::line(device)),
            }
        }),
        counted(comparison.rounds.into(), "round"),
        env!("CARGO_PKG_VERSION"),
    );
    picture.draw(&before_after(title, &rows, &caption))
}
