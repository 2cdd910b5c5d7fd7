//! `seekless replay`: plays a trace again, on a real file or device and on a device model.

mod picture;
mod table;

use crate::command::foreign::{Foreign, input, say_left_out};
use crate::interrupt::{self, finished};
use crate::next::{self, Found};
use crate::output::{self, Picture, Words};
use anyhow::{bail, ensure};
use clap::ValueEnum;
use seekless::device::DeviceSpec;
use seekless::device::units::parse_bytes;
use seekless::job::roots::{Root, Roots};
use seekless::tools::device::named;
use seekless::tools::replay::{On, Options, Pace, Pattern, Remap, Repeat, Writes, replay};
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

/// Play a trace again on a real file or device, and measure its cost there.
///
/// A block trace (of `sim --post-cache`, `trace import` or a recorder) is played on one file or
/// device, which --on names. A trace of files is played on its files, past the page cache, so that
/// the device serves all requests of the program; with --on, --write or --destroy-data it is played
/// on that one target, on which the files lie end to end.
///
/// I/Os go by io_uring and past the page cache (O_DIRECT). Where io_uring is refused, threads are
/// used; where O_DIRECT is, the page cache. The report says so. I/Os are widened to whole sectors,
/// and those over 1 MiB are cut.
///
/// Pace. By default, as fast as possible with --depth in flight. --closed keeps each thread's
/// order: its next I/O starts when its last has ended. --timed starts each I/O at its time in the
/// trace, --speed N at N times that speed; times are absolute, so a late I/O does not delay those
/// after it, and the report says how late they were. --like ozen plays as the player of Ozen
/// (2018): batches of 32 to 64 of 64 slots. His times are those of the shortest round.
///
/// Writes are left out, unless --writes-as-reads reads their places. --write FILE plays them on a
/// regular file, which they overwrite; a file that is not there is made. Refused are links, files
/// with several names, files that a process has open or maps, swap files, stores of loop devices,
/// and files in folders from which the trace reads. --destroy-data DEVICE plays them on a block
/// device, whose data is lost. Refused are devices that are mounted, open, or part of another
/// device, or whose partitions are.
///
/// --device plays the same I/Os on a device model in virtual time, and reports the model's error.
/// Files lie end to end on it.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A block trace, or a trace of files: Parquet, or any format that `trace import` reads
    #[arg(value_name = "TRACE", value_parser = input())]
    trace: PathBuf,
    #[command(flatten)]
    foreign: Foreign,
    /// Play on this file or device, which is only read
    #[arg(long, value_name = "TARGET", group = "target")]
    on: Option<PathBuf>,
    /// Play on this regular file, writes too; it is overwritten, and made if it is not there
    #[arg(long, value_name = "FILE", group = "target", conflicts_with = "writes_as_reads")]
    write: Option<PathBuf>,
    /// Play on this block device, writes too: its data is lost
    #[arg(long, value_name = "DEVICE", group = "target", conflicts_with = "writes_as_reads")]
    destroy_data: Option<PathBuf>,
    /// The size of a file that --write makes [default: what the trace needs]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    size: Option<u64>,
    /// Play writes as reads of the same places
    #[arg(long)]
    writes_as_reads: bool,
    /// Where I/Os outside the target go: modulo takes their offset modulo its size
    #[arg(long, value_name = "RULE")]
    remap: Option<Rule>,
    /// Files that the trace names below OLD are now below NEW; may be given several times
    #[arg(long, value_name = "OLD=NEW")]
    root: Vec<Root>,
    /// I/Os in flight at most [default: 32; with --closed or a time 1024]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16_384))]
    depth: Option<u32>,
    /// Play as another player does
    #[arg(long, value_name = "PLAYER", group = "pace", conflicts_with = "depth")]
    like: Option<Like>,
    /// Each thread starts its next I/O when its last has ended
    #[arg(long, group = "pace")]
    closed: bool,
    /// Each I/O at its time in the trace
    #[arg(long)]
    timed: bool,
    /// Each I/O at its time in the trace, at this many times the speed
    #[arg(long, value_name = "N", value_parser = speed, conflicts_with_all = ["closed", "like"])]
    speed: Option<f64>,
    /// Rounds to play, or `stable`: until the three shortest of at least five lie within 2 %
    #[arg(long, alias = "repeat", default_value = "1", value_name = "N", value_parser = rounds)]
    rounds: Repeat,
    /// Passes in a round, without a pause; times are those of one pass
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    passes: u32,
    /// Read and write by threads, even if io_uring is allowed
    #[arg(long)]
    threads: bool,
    /// Play also on this device model: a name that `seekless devices` lists, iops=N,bandwidth=RATE,
    /// or a TOML file; without a target, on it alone
    #[arg(long, value_name = "DEVICE", value_parser = named)]
    device: Option<DeviceSpec>,
    /// Draw offsets and latencies by time into this file, .svg or .png; - is standard output
    #[arg(long, value_name = "FILE", value_parser = output::picture_file)]
    picture: Option<PathBuf>,
    #[command(flatten)]
    force: output::Force,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  seekless sim blocks.parquet --policy arc --capacity 40MB --post-cache below.parquet
  seekless replay below.parquet --on /data/large.bin --rounds stable
  seekless replay below.parquet --on /dev/sdb --depth 4 --device t7k250 --picture replay.svg
  seekless replay below.parquet --write /data/scratch.bin --like ozen --rounds 5
  seekless replay run.parquet --closed
  seekless replay run.parquet --timed --root /old/game=/data/game
  seekless replay blocks.parquet --on part.bin --remap modulo --speed 2 --writes-as-reads
  seekless replay below.parquet --device iops=500,bandwidth=150MB/s --json";

/// How many I/Os a picture shows.
const POINTS: usize = 20_000;

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Like {
    /// Batches of 32 to 64 of 64 slots, in no order; writes write `@`
    Ozen,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// The offset modulo the target's size
    Modulo,
}

/// Plays, prints and draws.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let cancel = interrupt::cancel_when_interrupted()?;
    let options = Options { cancel, ..options(&args)? };
    let picture = Picture::begin(args.picture.as_deref(), args.force)?;
    let words = Words::beside(picture.iter().map(Picture::destination));
    let mut progress = output::stages();
    let replayed = replay(&args.trace, &options, &mut progress);
    drop(progress);
    say_left_out(&options.import);
    let Some(report) = finished(replayed)? else { return Ok(interrupt::exit_code()) };
    if let Some(picture) = picture {
        picture.draw(&picture::of(&report))?;
    }
    if args.json {
        words.json(&report)?;
    } else {
        words.text(&table::of(&report))?;
        next::say(words, &Found::Replayed(&args.trace))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn options(args: &Args) -> anyhow::Result<Options> {
    let on = match (&args.on, &args.write, &args.destroy_data) {
        (Some(path), _, _) => On::Target(path.clone()),
        (_, Some(path), _) => On::Write(path.clone()),
        (_, _, Some(path)) => On::DestroyData(path.clone()),
        // Without a target, a device model is all there is, unless files were said to have moved.
        _ if args.device.is_some() && args.root.is_empty() => On::Model,
        _ => On::Files,
    };
    let writes = match on {
        On::Write(_) | On::DestroyData(_) => Writes::Written,
        On::Model if !args.writes_as_reads => Writes::Written,
        _ if args.writes_as_reads => Writes::AsReads,
        _ => Writes::Out,
    };
    if let On::Model = on
        && args.rounds != Repeat::Times(1)
    {
        bail!("a model takes the same time in each round: --rounds is for a real target");
    }
    ensure!(
        !(args.timed && (args.closed || args.like.is_some())),
        "--timed cannot be used with --closed or --like"
    );
    ensure!(
        args.size.is_none() || args.write.is_some(),
        "--size is that of a file that --write makes"
    );
    Ok(Options {
        on,
        writes,
        roots: Roots::new(args.root.clone()),
        pace: pace(args),
        depth: args.depth,
        repeat: args.rounds,
        passes: args.passes,
        pattern: if args.like == Some(Like::Ozen) { Pattern::Ozen } else { Pattern::Random },
        remap: args.remap.map(|Rule::Modulo| Remap::Modulo),
        size: args.size,
        threads: args.threads,
        device: args.device.clone(),
        import: args.foreign.options()?,
        points: if args.picture.is_some() { POINTS } else { 0 },
        ..Options::default()
    })
}

fn pace(args: &Args) -> Pace {
    match (args.speed, args.like) {
        (Some(speed), _) => Pace::Timed { speed },
        (_, Some(Like::Ozen)) => Pace::Ozen,
        _ if args.timed => Pace::Timed { speed: 1.0 },
        _ if args.closed => Pace::Closed,
        _ => Pace::Depth,
    }
}

fn speed(text: &str) -> Result<f64, String> {
    let speed = f64::from_str(text).ok().filter(|speed| speed.is_finite() && *speed > 0.0);
    speed.ok_or_else(|| "expected a number above 0, such as 2 or 0.5".to_owned())
}

fn rounds(text: &str) -> Result<Repeat, String> {
    match text.parse() {
        Ok(times @ 1..=100_000) => Ok(Repeat::Times(times)),
        _ if text == "stable" => Ok(Repeat::UntilStable),
        _ => Err("expected a number from 1 to 100000, or `stable`".to_owned()),
    }
}
