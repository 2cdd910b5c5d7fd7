//! `seekless profiles`: lists, shows, merges and removes what `seekless run` has learned.

use crate::output;
use seekless::device::units::{counted, format_bytes, parse_bytes};
use seekless::start::profiles::{self, Kept, Prune};
use seekless::sys::output::Destination;
use seekless::tools::leftovers::{self, Kind, Leftover};
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

/// List, show, merge and remove what `seekless run` has learned of programs.
///
/// Files that killed verbs left are listed below the profiles: temporary folders, and the spools of
/// recordings, from which `seekless trace recover` makes traces. Those of running verbs are not.
///
/// A pack that `seekless run --mount auto` made lies beside its profile, and goes with it.
///
/// A profile is a trace: `seekless trace` and `seekless warm` take it, and so does every reader of
/// Parquet. NAME is the start of a name that the list shows, or a file.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless profiles                                   what is there
  seekless profiles show python3                      the files, in the order of first need
  seekless profiles merge a.parquet b.parquet -o app.parquet
  seekless profiles prune --older-than 30d --max-size 50MB
  seekless profiles path python3                      its file, for other commands")]
pub struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// Print the list as JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Subcommand, Debug)]
enum Verb {
    /// Show the files of a profile, and the bytes needed of each, in the order of first need
    Show {
        /// The start of a profile's name, or a file
        name: PathBuf,
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print where a profile lies
    Path {
        /// The start of a profile's name, or a file
        name: PathBuf,
    },
    /// Merge profiles and traces into one, the newest last; it keeps the newest five runs
    Merge {
        /// Profiles, by name or file, and traces
        #[arg(required = true)]
        sources: Vec<PathBuf>,
        /// The profile to write
        #[arg(short, long)]
        output: PathBuf,
        /// Replace OUTPUT if it is there
        #[arg(short, long)]
        force: bool,
        /// Print the profile's figures as JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove profiles with their packs, the ones that changed longest ago first, and files that
    /// killed verbs left
    Prune {
        /// Remove those that have not changed for this time (12h, 30d, 8w), and as old spools and
        /// temporary folders of killed verbs
        #[arg(long, value_name = "TIME", value_parser = parse_age)]
        older_than: Option<u64>,
        /// Remove profiles until the rest take at most this
        #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
        max_size: Option<u64>,
        /// Say what would be removed, and remove nothing
        #[arg(short = 'n', long)]
        dry_run: bool,
        /// Print what was removed as JSON
        #[arg(long)]
        json: bool,
    },
}

/// Seconds in a time such as `30d`.
fn parse_age(text: &str) -> Result<u64, String> {
    let units = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400), ("w", 604_800)];
    let seconds = units.iter().find_map(|(unit, seconds)| {
        text.strip_suffix(unit)?.parse::<u64>().ok()?.checked_mul(*seconds)
    });
    seconds.ok_or_else(|| "write a number and a unit of s, m, h, d or w, such as 30d".to_owned())
}

/// Does what the subcommand says; without one, lists.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.verb {
        None => {
            let all = profiles::list()?;
            match args.json {
                true => output::json(&all)?,
                false => output::text(&(listed(&all) + &left(&leftovers::list())))?,
            }
        }
        Some(Verb::Show { name, json }) => show(&profiles::find(&name)?, json)?,
        Some(Verb::Path { name }) => {
            print_path(&profiles::find(&name)?)?;
        }
        Some(Verb::Merge { sources, output, force, json }) => {
            merge(&sources, Destination::named(&output).replacing(force), json)?;
        }
        Some(Verb::Prune { older_than, max_size, dry_run, json }) => {
            anyhow::ensure!(
                older_than.is_some() || max_size.is_some(),
                "say what to remove: --older-than 30d, or --max-size 50MB"
            );
            let prune = Prune { older_than_s: older_than, bytes_max: max_size, dry_run };
            let removed = profiles::prune(&prune)?;
            let left = older_than.map_or(Ok(Vec::new()), |age| leftovers::prune(age, dry_run))?;
            match json {
                true => output::json(&Removed { profiles: &removed, left: &left })?,
                false => output::text(&said_of(&removed, &left, dry_run))?,
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What a merged profile holds, named as in the list of profiles.
#[derive(Serialize)]
struct Merged {
    runs: u64,
    files: u64,
    /// By the newest run.
    needed_bytes: u64,
}

fn merge(sources: &[PathBuf], out: Destination, json: bool) -> anyhow::Result<()> {
    let sources: Result<Vec<PathBuf>, _> =
        sources.iter().map(|source| profiles::find(source)).collect();
    let profile = profiles::merge(&sources?, out)?;
    let merged = Merged {
        runs: profile.runs.len() as u64,
        files: profile.files.len() as u64,
        needed_bytes: profile.needed_bytes(),
    };
    if json {
        return output::json(&merged);
    }
    output::say(format_args!(
        "{}, {} needed of {} by the newest",
        counted(merged.runs, "run"),
        format_bytes(merged.needed_bytes),
        counted(merged.files, "file"),
    ));
    Ok(())
}

/// The path on a line, exactly for a command that takes it.
fn print_path(path: &Path) -> anyhow::Result<()> {
    match output::is_shown() {
        true => output::text(&format!("{}\n", output::shown(path))),
        false => output::data(&[path.as_os_str().as_encoded_bytes(), b"\n"].concat()),
    }
}

fn listed(all: &[Kept]) -> String {
    if all.is_empty() {
        return "no profiles yet: `seekless run -- CMD` learns one\n".to_owned();
    }
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let row = |kept: &Kept| {
        vec![
            kept.name.clone(),
            kept.runs.to_string(),
            kept.files.to_string(),
            format_bytes(kept.needed_bytes),
            format_bytes(kept.pack_bytes),
            age(now_s.saturating_sub(kept.changed_unix_s)),
            kept.unreadable.clone().unwrap_or_else(|| kept.start.clone()),
        ]
    };
    let header = ["name", "runs", "files", "needed", "pack", "changed", "start"];
    output::table(&header, all.iter().map(row).collect()) + "\n"
}

/// How long ago, in the largest whole unit.
fn age(seconds: u64) -> String {
    let units = [(86_400, "day"), (3600, "hour"), (60, "minute")];
    let whole = units.iter().find(|(size, _)| seconds >= *size);
    let (count, unit) = whole.map_or((seconds, "second"), |(size, unit)| (seconds / size, *unit));
    format!("{} ago", counted(count, unit))
}

/// The list of files that killed verbs left, if there are any.
fn left(left: &[Leftover]) -> String {
    if left.is_empty() {
        return String::new();
    }
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let row = |left: &Leftover| {
        vec![
            kind(left.kind).to_owned(),
            format_bytes(left.bytes),
            age(now_s.saturating_sub(left.changed_unix_s)),
            output::shown(&left.path).into_owned(),
            left.trace.as_ref().map_or_else(String::new, |trace| output::shown(trace).into_owned()),
        ]
    };
    let header = ["left by a killed verb", "bytes", "changed", "path", "trace to recover"];
    "\n".to_owned() + &output::table(&header, left.iter().map(row).collect())
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Spool => "spool",
        Kind::Folder => "folder",
    }
}

/// The output of `prune --json`: profiles, then leftovers, distinguished by `kind`.
struct Removed<'a> {
    profiles: &'a [Kept],
    left: &'a [Leftover],
}

impl Serialize for Removed<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut all = to.serialize_seq(Some(self.profiles.len() + self.left.len()))?;
        self.profiles.iter().try_for_each(|profile| all.serialize_element(profile))?;
        self.left.iter().try_for_each(|left| all.serialize_element(left))?;
        all.end()
    }
}

fn said_of(removed: &[Kept], left: &[Leftover], dry_run: bool) -> String {
    let bytes = removed.iter().map(|kept| kept.bytes + kept.pack_bytes).sum();
    let did = if dry_run { "would remove" } else { "removed" };
    let names = removed.iter().map(|kept| format!("{did} {}\n", output::shown(&kept.name)));
    let sum =
        format!("{did} {}, {}\n", counted(removed.len() as u64, "profile"), format_bytes(bytes));
    let left = left
        .iter()
        .map(|left| format!("{did} a {} {}\n", kind(left.kind), output::shown(&left.path)));
    names.chain(std::iter::once(sum)).chain(left).collect()
}

fn show(path: &Path, json: bool) -> anyhow::Result<()> {
    let shown = profiles::shown(path)?;
    if json {
        return output::json(&shown);
    }
    let row = |file: &profiles::ShownFile| {
        vec![
            format_bytes(file.needed_bytes),
            file.bytes.map_or_else(String::new, format_bytes),
            file.ranges.to_string(),
            format!("{} of {}", file.runs, shown.runs),
            if file.same { "" } else { "changed" }.to_owned(),
            file.path.clone(),
        ]
    };
    let header = ["needed", "of", "ranges", "runs", "", "file"];
    let rows = shown.files.iter().map(row).collect();
    output::text(&format!("{}\n{}\n", output::line(&shown.start), output::table(&header, rows)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_read_and_said() {
        assert_eq!(parse_age("30d"), Ok(30 * 86_400));
        assert_eq!(parse_age("90s"), Ok(90));
        for wrong in ["", "d", "30", "3y", "-1d", "99999999999999999999d", "30000000000000000w"] {
            assert!(parse_age(wrong).is_err(), "{wrong}");
        }
        assert_eq!([age(1), age(119), age(90_000)], ["1 second ago", "1 minute ago", "1 day ago"]);
    }
}
