//! `seekless warm`: brings what programs will read into the page cache, before they start.

use crate::command::foreign::input;
use crate::next::{self, Found};
use crate::output::Words;
use crate::{interrupt, output};
use seekless::device::DeviceSpec;
use seekless::device::units::{counted, format_bytes, format_duration, parse_bytes};
use seekless::job::roots::{Root, Roots};
use seekless::start::warm::{Options, Warmed, warm};
use seekless::start::{ahead, profiles};
use seekless::sys::objects;
use seekless::tools::device::named;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How often to look whether to end.
const LOOK: Duration = Duration::from_millis(100);

/// Bring the files that recorded runs needed into the page cache.
///
/// Looks up the names that the runs asked for, with their inodes, several at a time. Then reads
/// only the ranges that the runs read or touched, in the order in which the newest run first needed
/// them. Ranges are joined where reading the gap between them costs less than another request. So a
/// program that maps large libraries and touches a tenth of them waits for that tenth only. Ranges
/// that are cached already cost nothing.
///
/// SOURCE is a profile of `seekless run`, by its file or the start of its name (ranges that at
/// least half of its runs needed are brought in); or a trace of `seekless record`, or any trace
/// that `seekless trace import` takes; or a folder, or a list of files and folders, which are
/// brought in whole. A file that has another size than when it was recorded (of a profile, also
/// another inode or time of change) is left out, since its ranges are no longer true. Only regular
/// files that you may read are opened.
///
/// A list is read as `vmtouch -b` reads it: a path a line, or paths with a NUL behind each, as
/// `find -print0` prints them. Of a folder all files below it are taken; links in it are not
/// followed. Missing files are left out. SOURCE is taken for a list if it has no format of a trace,
/// and its first path begins with `/`, `./` or `../` or one of its first few paths is there.
/// - is standard input.
///
/// With --pid nothing is brought in beforehand: a program that runs already, and all that it starts
/// from now on, is watched, and what its streams will need next is brought in, until it ends or
/// Ctrl-C. This needs root (eBPF); `seekless run --readahead` does it from a program's start.
///
/// With --lock the ranges stay in memory until this command is ended by Ctrl-C or SIGTERM. How much
/// a user may lock is limited (`ulimit -l`).
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless record -o start.parquet -- python3 -c 'import numpy'
  seekless warm start.parquet
  seekless warm start.parquet --dry-run            how much, how many requests, how long
  seekless warm runs/*.parquet --within /usr --budget 500MB
  seekless warm files.txt                          a list of files and folders, whole
  seekless warm /opt/app                           all files below a folder
  find /opt/app -name '*.so' -print0 | seekless warm -
  seekless warm python3                            the profile of that name, of `seekless run`
  seekless warm service.parquet --lock             keep it in memory until Ctrl-C or SIGTERM
  seekless warm --pid 4242                         read ahead for a program that runs")]
pub struct Args {
    /// Traces, the last being the newest, or folders, or lists of files, also in object storage
    /// (s3://BUCKET/KEY); - is standard input
    #[arg(required_unless_present = "pid", value_name = "SOURCE", value_parser = input())]
    sources: Vec<PathBuf>,
    /// Read ahead for the program with this process number, while it runs
    #[arg(long, value_name = "PID", conflicts_with_all = ["sources", "dry_run", "within", "root", "budget", "lock"])]
    pid: Option<i32>,
    /// By this readahead: the names that `seekless sim --readahead` takes
    #[arg(long, value_name = "NAME", requires = "pid", default_value = "streams", value_parser = crate::launch::readahead)]
    readahead: ahead::Options,
    /// Print what would be brought in, and bring nothing in
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Only files below this folder; may be given several times
    #[arg(long, value_name = "DIR")]
    within: Vec<PathBuf>,
    /// Files that a trace names below OLD are now below NEW; may be given several times
    #[arg(long, value_name = "OLD=NEW")]
    root: Vec<Root>,
    /// Bring in at most this many bytes
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    budget: Option<u64>,
    /// Keep the ranges in memory until this command is ended
    #[arg(long, conflicts_with = "dry_run")]
    lock: bool,
    /// The device's costs: a name that `seekless devices` lists, iops=N,bandwidth=RATE, or a TOML
    /// file [default: as `seekless probe` measured it]
    #[arg(long, value_name = "DEVICE", value_parser = named)]
    device: Option<DeviceSpec>,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// Brings files in and prints what that took.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if let Some(pid) = args.pid {
        return follow(pid, args);
    }
    let options = Options {
        roots: Roots::new(args.root),
        within: super::run::absolute(args.within)?,
        budget_bytes: args.budget,
        costs: args.device.map(|device| device.costs()),
        dry_run: args.dry_run,
        lock: args.lock,
        cancel: interrupt::cancel_when_interrupted()?,
    };
    let sources: Vec<PathBuf> = args.sources.iter().map(|source| named_profile(source)).collect();
    let mut progress = output::counting("Bringing in", "file");
    let warmed = warm(&sources, &options, &mut progress);
    drop(progress);
    let Some((warmed, held)) = interrupt::finished(warmed)? else {
        return Ok(interrupt::exit_code());
    };
    if args.json {
        output::json(&warmed)?;
    } else {
        output::text(&report(&warmed, args.dry_run))?;
        if !args.lock && warmed.files + warmed.names > 0 {
            next::say(Words::Output, &Found::Warmed)?;
        }
    }
    if args.lock && warmed.locked_bytes > 0 {
        while !options.cancel.load(Ordering::Relaxed) {
            std::thread::sleep(LOOK);
        }
    }
    drop(held);
    Ok(ExitCode::SUCCESS)
}

/// Reads ahead for a program that runs, and prints what that did.
fn follow(pid: i32, args: Args) -> anyhow::Result<ExitCode> {
    let costs = args.device.map(|device| device.costs());
    let options = ahead::Options { costs, ..args.readahead };
    let cancel = interrupt::cancel_when_interrupted()?;
    let report = ahead::follow(pid, &options, &cancel)?;
    match args.json {
        true => output::json(&report)?,
        false => output::text(&read_ahead(&report))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn read_ahead(report: &ahead::Report) -> String {
    let ahead::Report { reads, missed_bytes, fetched_bytes, used_bytes, late_bytes, .. } = *report;
    let mut text = format!(
        "{} of files that came from a device: {} fetched ahead, {} of them read, {} of these \
         waited for; {} came when the program asked\n",
        counted(reads, "read"),
        format_bytes(fetched_bytes),
        format_bytes(used_bytes),
        format_bytes(late_bytes),
        format_bytes(missed_bytes),
    );
    if report.wasted_bytes > 0 {
        let _ = writeln!(text, "{} left memory unread", format_bytes(report.wasted_bytes));
    }
    if report.lost > 0 {
        let _ = writeln!(text, "{} had no room", counted(report.lost, "report"));
    }
    text
}

/// A word that names no existing file and no object may be the start of a profile's name.
pub(super) fn named_profile(source: &Path) -> PathBuf {
    let is_named = source.exists() || objects::of(source).is_some();
    let found = if is_named { None } else { profiles::find(source).ok() };
    found.unwrap_or_else(|| source.to_owned())
}

fn report(warmed: &Warmed, dry: bool) -> String {
    let mut text = String::new();
    if warmed.names > 0 {
        let _ = writeln!(text, "{} and their inodes", counted(warmed.names, "name"));
        if warmed.files == 0 {
            return text;
        }
    }
    let _ = write!(
        text,
        "{}: {} needed",
        counted(warmed.files, "file"),
        format_bytes(warmed.needed_bytes)
    );
    if warmed.asked_bytes > warmed.needed_bytes {
        let _ = write!(text, ", {} with the gaps worth reading", format_bytes(warmed.asked_bytes));
    }
    match warmed.cached_bytes {
        Some(cached) => {
            let missing = warmed.asked_bytes.saturating_sub(cached);
            let _ = write!(text, "; {} cached already", format_bytes(cached));
            let _ = write!(text, "\n{} in ", format_bytes(missing));
        }
        None => text += "; the kernel does not say how much is cached\nall in ",
    }
    let _ = write!(text, "{}", counted(warmed.requests, "request"));
    let expected = format_duration((warmed.expected_s * 1e9) as u64);
    let costs = if warmed.assumed {
        " (costs of the device assumed: `seekless probe` measures them)"
    } else {
        ""
    };
    match dry {
        true => {
            let _ = writeln!(text, ", some {expected} one at a time{costs}");
        }
        false => {
            let took = format_duration((warmed.seconds * 1e9) as u64);
            let _ = writeln!(text, ", in {took}");
        }
    }
    if warmed.locked_bytes > 0 {
        let locked = format_bytes(warmed.locked_bytes);
        let _ = writeln!(text, "{locked} locked in memory until this is ended");
    }
    if let Some(why) = &warmed.not_locked {
        let _ = writeln!(text, "not locked: the rest; {}", output::line(why));
    }
    for (why, count) in &warmed.left_out {
        let _ = writeln!(text, "left out, {why}: {}", counted(*count, "file"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_says_what_was_needed_and_what_it_took() {
        let warmed = Warmed {
            names: 1872,
            files: 39,
            needed_bytes: 200_000_000,
            asked_bytes: 300_000_000,
            cached_bytes: Some(100_000_000),
            requests: 400,
            expected_s: 2.5,
            seconds: 1.25,
            assumed: true,
            left_out: [("no longer there", 1)].into(),
            locked_bytes: 0,
            not_locked: None,
        };
        assert_eq!(
            report(&warmed, false),
            "1,872 names and their inodes\n\
             39 files: 200.0 MB needed, 300.0 MB with the gaps worth reading; 100.0 MB cached already\n\
             200.0 MB in 400 requests, in 1.25 s\nleft out, no longer there: 1 file\n"
        );
        assert_eq!(
            report(&Warmed { files: 0, ..warmed.clone() }, false),
            "1,872 names and their inodes\n"
        );
        assert_eq!(
            report(&Warmed { left_out: [].into(), names: 0, ..warmed }, true),
            "39 files: 200.0 MB needed, 300.0 MB with the gaps worth reading; 100.0 MB cached already\n\
             200.0 MB in 400 requests, some 2.50 s one at a time (costs of the device assumed: \
             `seekless probe` measures them)\n"
        );
    }
}
