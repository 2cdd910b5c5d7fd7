//! `seekless layout`: lays the files of starts together on the device, in the order of need.

use crate::command::foreign::input;
use crate::command::warm::named_profile;
use crate::next::{self, Found};
use crate::output::Words;
use crate::{interrupt, output};
use seekless::device::DeviceSpec;
use seekless::device::units::{counted, format_bytes, format_duration};
use seekless::job::roots::{Root, Roots};
use seekless::start::layout::{Options, Report, layout};
use seekless::start::start::Waits;
use seekless::tools::device::named;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Lay the files of starts together on the device, in the order of need.
///
/// Files that a start needs one after another then lie one behind the other, and one request brings
/// many of them, by `seekless run` or `warm`. The files keep their names, bytes, inodes and times,
/// so profiles stay true. For who can change the program or its loading, `seekless pack` does more.
///
/// SOURCE is what `seekless warm` takes: profiles of `seekless run`, traces, or lists of files and
/// folders. Without --within all files that they name are laid, on whatever file system they are.
///
/// On ext4 a file moves by an exchange of its blocks with those of a free piece of the device
/// (EXT4_IOC_MOVE_EXT). The kernel copies the data, and journals the exchange: after a kill or a
/// power cut each file is whole, in its old or its new place. Inodes and folders stay where they
/// are. Files that lie in order already stay too, so that a second layout moves what has changed
/// since. A file is also left where it is if it is open for writing, changes meanwhile, is a
/// program that runs, another user's, immutable, encrypted, with holes, or large and little of it
/// is needed. Each reason is counted.
///
/// On other local file systems, and with --copy also on ext4, the folders of --within are copied:
/// the needed files first, each created, written and synced before the next, so that inodes and
/// folders are in order too. When every byte of the copy was read back from the device, it takes
/// the place of the folder in one step, and the old folder is removed. Files then have other
/// inodes: profiles learn them anew. Programs that have the folder open keep the old one. A folder
/// with a file that is open for writing, or has a hard link outside, stays. Ctrl-C removes the
/// copy. A kill may leave the copy, or the old folder, beside it: `.NAME.layout-...`.
///
/// Every file is read before and, from the device, after, and must have the same checksum.
///
/// --check moves nothing, and ends with status 1 if a new layout would save requests. The figures
/// are of a start with nothing cached, and of the data of these files alone.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless layout python3 --dry-run                what it would gain
  seekless layout python3                          the profile of that name, of `seekless run`
  seekless layout start.parquet --within /opt/app
  seekless layout python3 --check || seekless layout python3
  seekless layout start.parquet --within /opt/app --copy     inodes and folders, too
  seekless layout start.parquet --within build/app --to image/app")]
pub struct Args {
    /// Profiles, traces, the last being the newest, or folders, or lists of files; - is standard
    /// input
    #[arg(required = true, value_name = "SOURCE", value_parser = input())]
    sources: Vec<PathBuf>,
    /// Print what would be moved and what it would gain, and move nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Print how far the layout has decayed, and move nothing
    #[arg(long, conflicts_with = "dry_run")]
    check: bool,
    /// Only files below this folder; may be given several times
    #[arg(long, value_name = "DIR")]
    within: Vec<PathBuf>,
    /// Files that a trace names below OLD are now below NEW; may be given several times
    #[arg(long, value_name = "OLD=NEW")]
    root: Vec<Root>,
    /// Replace the folders of --within by fresh copies, with inodes and folders in order
    #[arg(long, requires = "within", conflicts_with = "check")]
    copy: bool,
    /// Make a fresh copy of the folder of --within here, for an image, and leave that folder
    #[arg(long, value_name = "DIR", requires = "within", conflicts_with_all = ["copy", "check"])]
    to: Option<PathBuf>,
    /// The device's costs: a name that `seekless devices` lists, iops=N,bandwidth=RATE, or a TOML
    /// file [default: as `seekless probe` measured it]
    #[arg(long, value_name = "DEVICE", value_parser = named)]
    device: Option<DeviceSpec>,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// Lays the files and prints what that gains.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let options = Options {
        roots: Roots::new(args.root),
        within: super::run::absolute(args.within)?,
        costs: args.device.map(|device| device.costs()),
        dry_run: args.dry_run || args.check,
        copy: args.copy,
        to: args.to,
        cancel: interrupt::cancel_when_interrupted()?,
    };
    let sources: Vec<PathBuf> = args.sources.iter().map(|source| named_profile(source)).collect();
    let mut progress = output::stages();
    let laid = layout(&sources, &options, &mut progress);
    drop(progress);
    let Some(laid) = interrupt::finished(laid)? else {
        return Ok(interrupt::exit_code());
    };
    match args.json {
        true => output::json(&laid)?,
        false => {
            output::text(&report(&laid, options.dry_run))?;
            next::say(Words::Output, &found(&laid, &args.sources, &options))?;
        }
    }
    Ok(ExitCode::from(u8::from(args.check && laid.has_decayed())))
}

/// What the last line is about.
fn found<'a>(laid: &Report, sources: &'a [PathBuf], options: &Options) -> Found<'a> {
    let ns = |waits: &Waits| (waits.seconds * 1e9) as u64;
    Found::Laid {
        sources,
        is_tried: options.dry_run,
        before_ns: ns(&laid.before),
        after_ns: ns(&laid.after),
    }
}

fn report(laid: &Report, dry: bool) -> String {
    let mut text = format!(
        "{}, {} needed: {} in order, {} out of place\n",
        counted(laid.files, "file"),
        format_bytes(laid.needed_bytes),
        laid.in_order,
        laid.out_of_place,
    );
    let done = |text: &mut String, what: &str, files: u64, bytes: u64| {
        if files > 0 {
            let _ = write!(text, "{what} {} of {}", counted(files, "file"), format_bytes(bytes));
            let _ = writeln!(text, ", in {}", format_duration((laid.seconds * 1e9) as u64));
        }
    };
    done(&mut text, "copied", laid.copied, laid.copied_bytes);
    done(&mut text, "moved", laid.moved, laid.moved_bytes);
    let _ = writeln!(text, "before: {}", asked(&laid.before));
    let after = if dry { "laid anew" } else { "after" };
    let costs = match laid.assumed {
        true => " (costs of the device assumed: `seekless probe` measures them)",
        false => "",
    };
    let _ = writeln!(text, "{after}: {}{costs}", asked(&laid.after));
    for (why, count) in &laid.left_out {
        let _ = writeln!(text, "left, {why}: {}", counted(*count, "file"));
    }
    text
}

fn asked(waits: &Waits) -> String {
    let seconds = format_duration((waits.seconds * 1e9) as u64);
    format!("{}, some {seconds} of waiting", counted(waits.requests, "request"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_says_what_was_moved_what_it_gains_and_what_stays() {
        let laid = Report {
            files: 200,
            needed_bytes: 5_000_000,
            in_order: 20,
            out_of_place: 178,
            moved: 178,
            moved_bytes: 4_500_000,
            left_out: [("open for writing", 2)].into(),
            before: Waits { requests: 200, bytes: 5_000_000, seconds: 0.5 },
            after: Waits { requests: 8, bytes: 5_000_000, seconds: 0.05 },
            seconds: 1.5,
            ..Report::default()
        };
        assert_eq!(
            report(&laid, false),
            "200 files, 5.0 MB needed: 20 in order, 178 out of place\n\
             moved 178 files of 4.5 MB, in 1.50 s\n\
             before: 200 requests, some 500.0 ms of waiting\n\
             after: 8 requests, some 50.0 ms of waiting\n\
             left, open for writing: 2 files\n"
        );
        let dry = Report { moved: 0, assumed: true, left_out: [].into(), ..laid };
        assert_eq!(
            report(&dry, true),
            "200 files, 5.0 MB needed: 20 in order, 178 out of place\n\
             before: 200 requests, some 500.0 ms of waiting\n\
             laid anew: 8 requests, some 50.0 ms of waiting (costs of the device assumed: \
             `seekless probe` measures them)\n"
        );
    }
}
