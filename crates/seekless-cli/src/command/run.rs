//! `seekless run`: starts a program, and brings what it will need into the page cache beside it.

mod packs;

use crate::encoding::Names;
use crate::launch::without;
use crate::next::{self, Found};
use crate::output::Words;
use crate::{exit, output};
use seekless::device::DeviceSpec;
use seekless::device::units::{counted, format_bytes, format_duration, parse_bytes};
use seekless::record::Status;
use seekless::start::ahead;
use seekless::start::start::{
    AUTO, Decision, Hidden, Options, Outcome, Pack, Recording, Start, Taught, Waits, prepare,
};
use seekless::sys::signals::survive_file_size_limit;
use seekless::tools::device::named;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;

/// Start a program, and bring the files that it will need into the page cache beside it.
///
/// The first start is recorded, page by page, into a profile: the ranges of files that the program
/// needs, in the order of first need. Before a later start, `run` predicts from the profile, the
/// page cache and the device's costs how long the program would wait alone, and how long with its
/// files brought in. It brings in only ranges that pay, in the order of need, neighbours joined
/// where one larger read costs less than two; and it stops when the program touches other files
/// than expected, or ends. On a device that limits requests per second, asking for many small files
/// from another process brings them no sooner: they are left to the program.
///
/// From the second start on, `run` becomes the program: it keeps its process number, terminal,
/// streams, environment, signals, job control and exit status, and a helper process works beside
/// it. The first start is recorded: as root (Linux 6.12) only what is needed for the first time, at
/// 5 to 73 % more processor time; else every call as `seekless record --method notify` does it, at
/// half more for a start of Python and several times the time for a program that opens thousands of
/// small files. It has the side effects of `seekless record` (unless you are root, setuid programs
/// run without their privileges; debuggers and strace cannot trace; a program that is setuid itself
/// is not traced). The recording lasts until the program ends, so give --no-record for a service.
/// Later recordings see page faults only, at some hundred nanoseconds each, during the first two
/// minutes: in the next two starts, and then once a day. If many files of a profile have changed,
/// the next start is recorded whole again.
///
/// Profiles lie in $XDG_STATE_HOME/seekless/profiles (~/.local/state if that is not set), one for
/// each program and shape of arguments: options and words count, names of files and numbers do not,
/// but a script does. `seekless profiles` shows them. A file that is no longer the one that was
/// recorded (size, inode, time of change) is left out. Only regular files that you may read are
/// opened. Nothing is written but the profile, and two notes beside it: how many requests a device
/// serves at once, and, after a start whose files were all cached, a sample of them. Without a
/// profile that can be read, the program starts as it would alone.
///
/// With --share the profile that --profile names, an object or a file in a shared folder, is one
/// that machines share. A machine that has no profile of such a start yet goes by that one, so its
/// first start is warm; for an object it waits at most 5 seconds. What a machine learns is merged
/// into it in one step, so that of two machines that write at once neither loses a run. It keeps
/// the newest 16 runs of all machines, and at most 8 MiB. Kept are names, sizes and ranges of
/// files, and when and how long a run went. Names below the home folder begin with ~, and a folder
/// of the user's name is ~user; files below /tmp or of other users, arguments, hosts and folders
/// are left out. Without --share a profile in object storage is only read, at each start.
///
/// With --mount the program, and no other, sees the files of a pack (`seekless pack`) in place of a
/// folder's: many small files then come in a few large requests. Of several packs at one folder the
/// last hides the others. It needs /dev/fuse and Linux 5.2, and neither root nor the package fuse3.
/// Unless you are root, the program runs in a user namespace: there files of other users seem to
/// belong to `nobody`, and setuid programs run without their privileges.
///
/// With --mount auto a pack of the start's own is made beside its profile, once it was learned:
/// what most starts need, in the order of need. A later start that is not recorded sees it in place
/// of the real folders, where that is expected to pay. Names that it has not come from the real
/// folders, and what the program writes goes there. Folders in which a recorded start wrote, as far
/// as that was recorded, are left out. Before the start, each folder's own entry shows whether
/// names were added, removed or replaced, and later inotify does: then the real files are read. A
/// file that was changed where it lies shows only once its entry is looked at, beside the program:
/// a line on standard error (of the next start, if that is a pipe) then says that the start may
/// have read what it held before.
///
/// The device's costs are those that `seekless probe` measured, else assumed ones; how many
/// requests it serves at once is tried with the first reads of a start, once a week. --device gives
/// both.
///
/// With --readahead a helper watches the reads of the program and of all that it starts, by
/// programs in the kernel (eBPF, root). It fetches ahead what the kernel cannot foresee: backward
/// and strided reads, many streams in one file, windows as large as the device deserves. While
/// nothing comes from a device, calls are not watched and cost nothing. Mapped files are left to
/// the kernel.
///
/// Whatever fails before the program is executed (no room for a recording, a profile or pack that
/// cannot be read, a thread that is refused) is a line on standard error, and the program starts
/// without it. As the first process of a container, where orphans would become the program's
/// children, the helper stays until the program's end, and wait(2) does not return it. The exit
/// status is the program's, or 126 if the program cannot be executed, 127 if it is not found, and
/// 125 if the command line of `run` is wrong or a program that was being recorded was lost.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless run -- python3 train.py --epochs 3        the first time it is recorded
  seekless run --explain -- python3 train.py         what is expected, and then the start
  seekless run --dry-run --json -- ./game            what is expected alone
  seekless run --profile app.parquet -- ./app        a profile that came with the program
  seekless run --profile s3://bucket/app.parquet --share -- ./app    what other machines learned
  seekless run --record -- ./app                     record it whole, now
  seekless run --mount auto -- python3 app.py        from one pack of all that it needs
  seekless run --mount site-packages.zip=venv/lib/python3.12/site-packages -- python3 app.py
  seekless run --no-record --readahead streams -- tac /var/log/huge.log
  seekless run --no-record --budget 500MB -- ./service")]
pub struct Args {
    /// The profile to go by, a file or an object (s3://BUCKET/KEY), which is made or changed only
    /// if --record or --share is given [default: this user's own for such a start]
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// The profile is one that machines share: a start that this one knows nothing of yet goes by
    /// it, and what is learned is merged into it, without what would name a user
    #[arg(long, requires = "profile")]
    share: bool,
    /// Bring in at most this many bytes [default: half of the free memory]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    budget: Option<u64>,
    /// Bring in only files below this folder; may be given several times
    #[arg(long, value_name = "DIR")]
    within: Vec<PathBuf>,
    /// Show the program the files of a pack in place of a folder's; may be given several times.
    /// auto: a pack of this start's own files, where that pays
    #[arg(long, value_name = "PACK=DIR|auto")]
    mount: Vec<OsString>,
    #[command(flatten)]
    names: Names,
    /// The device's costs: a name that `seekless devices` lists, iops=N,bandwidth=RATE, or a TOML
    /// file [default: as `seekless probe` measured it]
    #[arg(long, value_name = "DEVICE", value_parser = named)]
    device: Option<DeviceSpec>,
    /// While the program runs, read ahead for its streams by this readahead (streams): what it
    /// reads backward, in strides, or from many places at once comes before it asks. Needs root
    #[arg(long, value_name = "NAME", value_parser = crate::launch::readahead)]
    readahead: Option<ahead::Options>,
    /// Record this start whole, even if there is a profile
    #[arg(long, conflicts_with = "no_record")]
    record: bool,
    /// Record nothing
    #[arg(long)]
    no_record: bool,
    /// Print the prediction to standard error before the program starts
    #[arg(long)]
    explain: bool,
    /// Print the prediction, and do not start the program
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
    /// The program and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "CMD"
    )]
    command: Vec<OsString>,
}

impl Args {
    /// Whether the start may have a pack of its own, and the packs that were named.
    fn mounts(&self) -> (bool, impl Iterator<Item = &OsStr>) {
        let words = || self.mount.iter().map(OsString::as_os_str);
        (words().any(|word| word == AUTO), words().filter(|word| *word != AUTO))
    }
}

/// Folders as a profile names them.
pub(super) fn absolute(folders: Vec<PathBuf>) -> anyhow::Result<Vec<PathBuf>> {
    let absolute = folders.iter().map(std::path::absolute);
    Ok(absolute.collect::<Result<_, _>>()?)
}

/// Starts the program; returns only if the start was recorded whole, or the program cannot run.
/// What else fails before the program's execution is said, and the program starts without it.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    // A handler, which the program does not inherit.
    let _survive = survive_file_size_limit();
    if args.dry_run {
        return Ok(expect(&args).unwrap_or_else(|error| not_started(&error)));
    }
    let (_, words) = args.mounts();
    let overlays = packs::overlays(words).unwrap_or_else(|error| {
        without(&error, "the packs");
        Vec::new()
    });
    let options = options(&args, &overlays);
    // A panic is a fault of ours, and has been printed.
    let prepared = catch_unwind(AssertUnwindSafe(|| prepare(&args.command, &options)));
    let mut start = match prepared.unwrap_or_else(|_| Start::plain(&args.command)) {
        Ok(start) => start,
        Err(error) => return Ok(not_started(&error.into())),
    };
    if let Some(fault) = start.fault.take() {
        without(&fault.into(), "help");
    }
    if let Some(words) = start.said.take() {
        output::say(words);
    }
    if args.explain {
        // A closed standard error is no reason not to start the program. JSON is on one line, so
        // that it can be distinguished from the program's output.
        let _ = match args.json {
            true => Words::Error.json_line(&start.decision),
            false => explain(Words::Error, &args, &start.decision),
        };
    }
    if !overlays.is_empty()
        && let Err(error) = packs::lay(&overlays, args.names.encoding())
    {
        without(&error, "the packs");
    }
    if let Some(options) = args.readahead {
        let options =
            ahead::Options { costs: args.device.as_ref().map(DeviceSpec::costs), ..options };
        let _ = ahead::beside(&options).map_err(|error| without(&error.into(), "readahead"));
    }
    Ok(ended(start.go(|error, what| without(&error.into(), what))))
}

/// Prints what is expected of a start that does not happen.
fn expect(args: &Args) -> anyhow::Result<ExitCode> {
    let overlays = packs::overlays(args.mounts().1)?;
    let start = prepare(&args.command, &options(args, &overlays))?;
    if let Some(fault) = start.fault {
        return Err(fault.into());
    }
    packs::check(&overlays, args.names.encoding())?;
    if args.json {
        output::json(&start.decision)?;
        return Ok(ExitCode::SUCCESS);
    }
    explain(Words::Output, args, &start.decision)?;
    Ok(ExitCode::SUCCESS)
}

fn options(args: &Args, overlays: &[packs::Overlay]) -> Options {
    Options {
        profile: args.profile.clone().filter(|_| !args.share),
        share: args.profile.clone().filter(|_| args.share),
        // Without a working folder, a relative one has no files in a profile.
        within: absolute(args.within.clone()).unwrap_or_else(|_| args.within.clone()),
        hidden: Hidden::below(overlays.iter().map(|overlay| overlay.folder.clone()).collect()),
        budget_bytes: args.budget,
        costs: args.device.as_ref().map(DeviceSpec::costs),
        look_ups: None,
        recording: match (args.record, args.no_record) {
            (true, _) => Recording::Whole,
            (_, true) => Recording::Never,
            _ => Recording::Auto,
        },
        packs: args.mounts().0,
        expects: args.explain || args.dry_run,
        answer_s: None,
    }
}

/// Prints the error; the code is that of `env`.
fn not_started(error: &anyhow::Error) -> ExitCode {
    let _ = exit::failure(error);
    ExitCode::from(exit::RECORDER)
}

fn ended(outcome: Outcome) -> ExitCode {
    match outcome {
        Outcome::Recorded(status, learned, not_shared) => {
            match learned {
                Ok(learned) if output::errors_are_shown() => output::note(&taught(status, learned)),
                Ok(_) => {}
                Err(error) => _ = exit::failure(&error.into()), // the status is the program's
            }
            not_shared.into_iter().for_each(|error| _ = exit::failure(&error.into()));
            status.imitate()
        }
        Outcome::Failed(code, error) => {
            let _ = exit::failure(&error.into());
            ExitCode::from(code)
        }
    }
}

/// What a recorded start has taught.
fn taught(status: Status, Taught { needed_bytes: bytes, lost }: Taught) -> String {
    let lost = match lost {
        0 => String::new(),
        _ => {
            format!("seekless: {lost} records of this start were lost; --record records it anew\n")
        }
    };
    lost + &needs(status, bytes)
}

fn needs(status: Status, bytes: u64) -> String {
    let needs = format_bytes(bytes);
    match (status, bytes) {
        (Status::Exited(0), _) => format!(
            "seekless: this start needs {needs} of its files; the next will have them brought in \
             where that pays\n"
        ),
        (_, 0) => "seekless: the program has failed, and no profile is kept: it read no file \
                   that will be the same next time\n"
            .to_owned(),
        _ => format!(
            "seekless: the program has failed; what it needed until then, {needs}, is kept, and \
             the next start is recorded again\n"
        ),
    }
}

/// Prints what is expected, and what to do next.
fn explain(words: Words, args: &Args, decision: &Decision) -> anyhow::Result<()> {
    words.text(&explained(decision))?;
    let command: Vec<String> =
        args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    next::say(words, &Found::Start { command: &command, is_known: decision.runs > 0 })
}

fn explained(decision: &Decision) -> String {
    let mut text = format!(
        "start: {}\nrecording: {}\n",
        output::line(&decision.start),
        output::line(&decision.recording)
    );
    if decision.runs == 0 {
        let _ = writeln!(text, "no profile yet: {} will be it", output::shown(&decision.profile));
        return text;
    }
    let _ = writeln!(
        text,
        "profile: {}, {}; needs {} of {}, {} of what was looked at cached",
        output::shown(&decision.profile),
        counted(decision.runs, "run"),
        format_bytes(decision.needed_bytes),
        counted(decision.files, "file"),
        format_bytes(decision.cached_bytes),
    );
    let _ = writeln!(
        text,
        "device: {} a request, {}/s, {} at once, {} read around a touch{}",
        format_duration(decision.request_ns),
        format_bytes(decision.bytes_per_second),
        decision.at_once,
        format_bytes(decision.readahead_bytes),
        if decision.assumed { " (costs assumed: `seekless probe` measures them)" } else { "" },
    );
    if decision.tries {
        text += "the first reads try how many requests it serves at once\n";
    }
    if decision.files_that_do_not_pay > 0 {
        let _ = writeln!(
            text,
            "left to the program, since they would come no sooner: {}",
            counted(decision.files_that_do_not_pay, "file")
        );
    }
    if decision.names > 0 {
        let _ = writeln!(text, "names to look up: {}", decision.names);
    }
    for (why, count) in &decision.left_out {
        let _ = writeln!(text, "left out, {why}: {}", counted(*count, "file"));
    }
    text += &waits(decision);
    text += &from_pack(decision);
    let is_packed = decision.pack.as_ref().is_some_and(|pack| pack.without.is_none());
    text += match (decision.warms, is_packed) {
        (true, false) => "brought in beside the program",
        (false, false) => "not worth bringing in",
        (true, true) => "the rest is brought in beside the program",
        (false, true) => "the rest is left to the program",
    };
    if decision.warms && decision.head_start_s > 0.0 {
        let held = format_duration((decision.head_start_s * 1e9) as u64);
        let _ = write!(text, ", which starts {held} later so as not to overtake");
    }
    text + "\n"
}

/// Whether files are seen from the start's own pack, if that was asked for.
fn from_pack(decision: &Decision) -> String {
    match &decision.pack {
        None => String::new(),
        Some(Pack { without: Some(why), .. }) => format!("no pack of this start: {why}\n"),
        Some(Pack { folders, waits, .. }) => {
            let folders: Vec<String> =
                folders.iter().map(|folder| output::shown(folder).to_string()).collect();
            format!(
                "from the pack of this start, {} and {} to wait for: {}\n",
                counted(waits.requests, "request"),
                format_duration((waits.seconds * 1e9) as u64),
                folders.join(", "),
            )
        }
    }
}

/// The table of what is expected of the whole start.
fn waits(decision: &Decision) -> String {
    let cells = |name: &str, waits: &Waits| {
        vec![
            name.to_owned(),
            waits.requests.to_string(),
            format_bytes(waits.bytes),
            format_duration((waits.seconds * 1e9) as u64),
        ]
    };
    let rows = vec![
        cells("alone", &decision.plain),
        cells("with help", &decision.warmed),
        cells("  brought in", &decision.brought_in),
        cells("  left to the program", &decision.left_to_program),
    ];
    output::table(&["expected wait", "requests", "bytes", "time"], rows) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_that_failed_is_said_to_be_recorded_again() {
        let of = |needed_bytes, lost| Taught { needed_bytes, lost };
        let said = [(0, of(5_000_000, 0)), (3, of(5_000_000, 0)), (1, of(0, 0))]
            .map(|(code, learned)| taught(Status::Exited(code), learned));
        let lossy = taught(Status::Exited(0), of(1, 7));
        assert!(lossy.contains("7 records of this start were lost") && lossy.contains("needs"));
        assert!(said[0].contains("needs 5.0 MB") && !said[0].contains("failed"), "{said:?}");
        assert!(said[1].contains("5.0 MB, is kept") && said[2].contains("no profile is kept"));
    }

    #[test]
    fn what_is_expected_is_said_in_a_table() {
        let decision = Decision {
            start: "/usr/bin/python3 -c #".to_owned(),
            profile: "/p.parquet".into(),
            runs: 2,
            files: 40,
            needed_bytes: 200_000_000,
            cached_bytes: 1_000_000,
            files_that_do_not_pay: 30,
            left_out: [("no longer there", 1)].into(),
            request_ns: 2_000_000,
            bytes_per_second: 150_000_000,
            at_once: 1,
            readahead_bytes: 131_072,
            names: 1200,
            plain: Waits { requests: 4700, bytes: 1_166_000_000, seconds: 12.5 },
            warmed: Waits { requests: 900, bytes: 404_000_000, seconds: 5.25 },
            brought_in: Waits { requests: 500, bytes: 400_000_000, seconds: 4.25 },
            left_to_program: Waits { requests: 400, bytes: 4_000_000, seconds: 1.0 },
            head_start_s: 1.5,
            warms: true,
            recording: "none, as asked".to_owned(),
            ..Decision::default()
        };
        assert_eq!(
            explained(&decision),
            "start: /usr/bin/python3 -c #\nrecording: none, as asked\n\
             profile: /p.parquet, 2 runs; needs 200.0 MB of 40 files, 1.0 MB of what was looked at cached\n\
             device: 2.0 ms a request, 150.0 MB/s, 1 at once, 131.1 KB read around a touch\n\
             left to the program, since they would come no sooner: 30 files\n\
             names to look up: 1200\n\
             left out, no longer there: 1 file\n\
             expected wait          requests     bytes     time\n\
             ──────────────────────────────────────────────────\n\
             alone                      4700    1.2 GB  12.50 s\n\
             with help                   900  404.0 MB   5.25 s\n\
             \x20 brought in                500  400.0 MB   4.25 s\n\
             \x20 left to the program       400    4.0 MB   1.00 s\n\n\
             brought in beside the program, which starts 1.50 s later so as not to overtake\n"
        );
        let new = Decision { runs: 0, ..decision };
        assert!(explained(&new).ends_with("no profile yet: /p.parquet will be it\n"));
    }
}
