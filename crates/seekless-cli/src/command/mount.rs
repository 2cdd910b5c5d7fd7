//! `seekless mount`: a pack as a read-only file system, for programs that cannot be changed.

use crate::disk_cache::DiskCache;
use crate::encoding::Names;
use crate::launch::{not_executed, without};
use crate::{interrupt, output};
use seekless::device::units::{counted, parse_bytes};
use seekless::engine::ObjectName;
use seekless::io::{Store, StoreBuilder};
use seekless::mount::{Mounted, Options, mount};
use seekless::sys::memory::free_bytes;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Memory for the contents of a pack's files. Of an object the store has as much as one that is not
/// mounted: with less it does not fill what it has with what is likely to be needed.
const CACHE_BYTES: u64 = 128 << 20;
const OBJECT_CACHE_BYTES: u64 = 512 << 20;

/// How often it is looked whether the pack is to be unmounted, or was.
const PAUSE: Duration = Duration::from_millis(50);

/// What is brought in ahead is read so far ahead of the kernel's page cache: enough for large
/// requests, and little enough that a file which was not expected does not wait long behind them.
/// In a small cache it is less.
const WINDOW_BYTES: u64 = 16 << 20;
const WINDOW_BYTES_MIN: u64 = 1 << 20;

/// Mount a pack as a read-only folder.
///
/// Programs that know nothing of Seekless read the files of PACK in DIR. The store reads them: in a
/// few large requests, decoded by all cores, together with files that the pack expects next. Files
/// that were read once lie in the kernel's page cache. Those that most recorded runs load are
/// brought there from the start, in the order of first need and not far ahead of the program's
/// opens. Symbolic links are shown as links. The kernel follows them, also those that lead out of
/// DIR, as on any file system.
///
/// The pack is unmounted on Ctrl-C, or by `fusermount3 -u DIR`. With a command, it is unmounted
/// when that ends, and the exit status is the command's, or 126 if it cannot be executed and 127 if
/// it is not found. If the pack cannot be mounted, a line on standard error says why, and the
/// command runs without it. Without root this needs the package fuse3.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless mount data.zip data                     until Ctrl-C
  seekless mount s3://bucket/data.zip data --disk-cache 10GiB
  seekless mount site-packages.zip /venv/lib/python3.12/site-packages --over -- python3 app.py")]
pub struct Args {
    /// The Zip archive: a file, or an object as s3://BUCKET/KEY, gs://, az:// or https://
    pack: PathBuf,
    /// The folder at which its files appear; it must be empty
    dir: PathBuf,
    /// Run this command while the pack is mounted, then unmount
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
    /// DIR may hold files, which are hidden while the pack is mounted
    #[arg(long)]
    over: bool,
    /// Let other users read the files too; unless root mounts, /etc/fuse.conf must say
    /// `user_allow_other`
    #[arg(long)]
    all_users: bool,
    /// Memory for the contents of files, beside the kernel's page cache: half of it for files that
    /// were read, half for open files and reads under way. While files are read, a few MiB for each
    /// processor come on top [default: 128MiB, of an object in object storage 512MiB]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    cache: Option<u64>,
    /// Bring in at most this many bytes that most recorded runs load, before the program asks for
    /// them; 0 is nothing [default: half of the free memory]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    ahead: Option<u64>,
    #[command(flatten)]
    disk_cache: DiskCache,
    /// Refuse an archive with an odd entry, such as a name that stands there twice or leads out of
    /// it, or with bytes behind its end. By default such entries are left out and counted
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    names: Names,
    /// Do not read ahead by the pack's prediction of the program's loads
    #[arg(long)]
    no_prediction: bool,
}

/// Mounts, waits or runs the command, and unmounts.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if !args.command.is_empty() {
        return Ok(run_command(&args));
    }
    // Before Ctrl-C is no more than noted: whoever serves what is mounted there may not answer.
    let _ = args.dir.metadata();
    let cancel = interrupt::cancel_when_interrupted()?;
    let mounted = mounted(&args)?;
    output::note(&format!("mounted at {}; Ctrl-C unmounts it\n", output::shown(&args.dir)));
    wait(&mounted, &cancel);
    mounted.unmount()?;
    Ok(ExitCode::SUCCESS)
}

/// Mounts, runs the command and unmounts. The command runs whatever keeps the pack from it.
fn run_command(args: &Args) -> ExitCode {
    let mount = || {
        // Ctrl-C is the command's; then the pack is unmounted.
        interrupt::cancel_when_interrupted()?;
        mounted(args)
    };
    // A panic is a fault of ours, and has been printed.
    let mounted = match catch_unwind(AssertUnwindSafe(mount)) {
        Ok(Ok(mounted)) => Some(mounted),
        Ok(Err(error)) => {
            without(&error, "the pack");
            None
        }
        Err(_) => None,
    };
    let program = &args.command[0];
    let code = match Command::new(program).args(&args.command[1..]).status() {
        Ok(status) => code(status),
        Err(error) => not_executed(program, &error),
    };
    if let Some(Err(error)) = mounted.map(Mounted::unmount) {
        output::say(error); // the status is the command's
    }
    code
}

/// Opens the pack and mounts it, and says what it lacks.
fn mounted(args: &Args) -> anyhow::Result<Mounted> {
    let cache_bytes = args.cache.unwrap_or_else(|| usual_cache_bytes(&args.pack));
    let settings = settings(cache_bytes).predict(!args.no_prediction).strict(args.strict);
    let settings =
        settings.names(args.names.encoding()).disk_cache(args.disk_cache.or_environment()?);
    let store = settings.open(&args.pack)?;
    store.left_out().into_iter().for_each(output::say);
    if let Some(note) = store.prediction_note() {
        output::say(note);
    }
    let failed = |words: &str| output::say(words);
    let options = Options {
        over: args.over,
        all_users: args.all_users,
        ahead_bytes: args.ahead.unwrap_or_else(half_of_free),
        open_bytes: cache_bytes - cache_bytes / 2,
        failed: Box::new(failed),
        ..Options::default()
    };
    let mounted = mount(store, &args.dir, options)?;
    without_place(&mounted).into_iter().for_each(output::say);
    Ok(mounted)
}

/// What has no place in the mount, if anything has none, in words.
pub(super) fn without_place(mounted: &Mounted) -> Option<String> {
    let count = mounted.left_out();
    let words = || {
        format!(
            "{} left out: others have their names, or the names are too long",
            counted(count, "file")
        )
    };
    (count > 0).then(words)
}

/// Memory for the contents of files unless the user says.
pub(super) fn usual_cache_bytes(pack: &Path) -> u64 {
    if ObjectName::is_meant(pack) { OBJECT_CACHE_BYTES } else { CACHE_BYTES }
}

/// Settings of a store whose files are mounted, which has half of the memory for contents. Open
/// files have the other half.
pub(super) fn settings(cache_bytes: u64) -> StoreBuilder {
    let window_bytes = WINDOW_BYTES.min(cache_bytes / 8).max(WINDOW_BYTES_MIN);
    Store::builder().cache(cache_bytes / 2).window(window_bytes).large_entries(true)
}

/// What may be brought in unless the user says.
pub(super) fn half_of_free() -> u64 {
    free_bytes().map_or(u64::MAX, |bytes| bytes / 2)
}

fn wait(mounted: &Mounted, cancel: &AtomicBool) {
    while mounted.is_mounted() && !cancel.load(Ordering::Relaxed) {
        thread::sleep(PAUSE);
    }
}

/// As a shell gives it: 128 and the signal, if one ended the command.
fn code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
