//! Lays a pack over the folders that it stands for, for one program alone.

use super::served::Served;
use super::{Packed, pack};
use crate::profiles::beside::{SAID, remove, write_private};
use crate::warm::bring::open;
use crate::warm::wave::Fill;
use rustix::fs::{FileType, Mode, fstat};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::time::{ClockId, clock_gettime};
use seekless_job::{Error, ErrorKind, Result};
use seekless_mount::Detached;
use seekless_mount::mirror::{Ahead, Changed, Mirrored};
use seekless_sys::beside::{self, Beside, Said};
use seekless_sys::namespaces::{leave_mounts, own_mounts};
use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The descriptors that a helper keeps are numbered from here on.
const FIRST: i32 = 3;
/// A program that has asked for nothing for this time has what it needs.
const QUIET: Duration = Duration::from_millis(200);
/// After this its start is over.
const START: Duration = Duration::from_secs(10);

/// Gives this process mounts of its own, and lays the pack over its folders there. A helper serves
/// it until the last process that sees it has ended.
///
/// Call it while this process has one thread.
///
/// # Errors
/// The kernel or a container refuses, or all folders have changed. The program then sees the real
/// folders.
pub(in crate::start) fn lay(packed: &Packed, profile: &Path) -> Result<()> {
    let failed = |what: &'static str| {
        move |error: std::io::Error| Error::because(ErrorKind::Io, what, error)
    };
    let of_mount =
        |error| Error::because(ErrorKind::Io, "the pack of this start cannot be mounted", error);
    own_mounts().map_err(failed("mounts of the program's own are refused"))?;
    let mut mount = Some(Detached::for_mirror().map_err(of_mount)?);
    let mut said = errors();
    let kept = mount.iter().flat_map(Detached::descriptors);
    let kept: Vec<i32> = kept.chain(said.iter().map(AsRawFd::as_raw_fd)).collect();
    // The helper has its own copies of both.
    let help = |beside: &mut Beside| {
        let served = mount.take().map(|mount| serve(beside, mount, packed, profile));
        match served {
            Some(Ok(mut mirrored)) => {
                beside.release();
                bring_in(beside, packed, profile, mirrored.ahead());
                await_quiet(beside, &mirrored);
                check(&mirrored, profile, said.take());
                mirrored.wait();
            }
            Some(Err(error)) => beside.refuse(&error.to_string()),
            None => {}
        }
    };
    let helper = beside::start_with(&kept, help)
        .map_err(failed("there can be no process that serves the pack"))?;
    match helper.wait() {
        Said::Released | Said::ReleasedSaying(_) => {}
        Said::Refused(why) => return Err(Error::new(ErrorKind::Io, why)),
        Said::Nothing => {
            return Err(Error::new(ErrorKind::Io, "the process that serves the pack has ended"));
        }
    }
    match mount {
        Some(mount) => mount.attach_roots(&packed.roots()).map_err(of_mount),
        None => Ok(()),
    }
}

/// A copy of the standard error, for words about changed files; none of a pipe, whose reader would
/// wait for the check of the files, since its end comes only then.
fn errors() -> Option<OwnedFd> {
    let found = fstat(rustix::stdio::stderr()).ok()?;
    let waits = matches!(FileType::from_raw_mode(found.st_mode), FileType::Fifo | FileType::Socket);
    if waits { None } else { fcntl_dupfd_cloexec(rustix::stdio::stderr(), FIRST).ok() }
}

fn serve(beside: &Beside, mount: Detached, packed: &Packed, profile: &Path) -> Result<Mirrored> {
    let failed = |error| Error::because(ErrorKind::Io, "the pack cannot be served", error);
    // The kernel has applied the program's.
    rustix::process::umask(Mode::empty());
    // Before the first thread begins, which else would see what the program attaches.
    leave_mounts().map_err(failed)?;
    beside.end_with_program().map_err(failed)?;
    let opened = open(&pack(profile), &packed.recorded(), &[])
        .map_err(|why| Error::new(ErrorKind::Missing, format!("the pack is {why}")))?;
    let file = opened.file.try_clone().map_err(failed)?;
    mount.mirror(packed.mirror.clone(), file).map_err(|error| {
        // It is made again beside the next start.
        remove(profile);
        Error::because(ErrorKind::Io, "the pack cannot be served", error)
    })
}

/// Brings in what most runs needed. By another description than that of the answers: it is read
/// exactly.
fn bring_in(beside: &Beside, packed: &Packed, profile: &Path, ahead: Option<Ahead>) {
    let (Ok(opened), Some(mut ahead)) = (open(&pack(profile), &packed.recorded(), &[]), ahead)
    else {
        return;
    };
    let goes_on = || !beside.has_ended(Duration::ZERO);
    let (extents, going) = (packed.extents().collect::<Vec<_>>(), AtomicBool::new(false));
    let mut rest = &extents[..];
    while !rest.is_empty() && goes_on() {
        let mut fill = Fill::default();
        let length = rest.iter().take_while(|extent| fill.add(extent.bytes)).count().max(1);
        let (wave, after) = rest.split_at(length);
        opened.bring_in(wave, &going);
        let ranges: Vec<Range<u64>> =
            wave.iter().map(|extent| extent.offset..extent.end()).collect();
        ahead.hand_over(&opened.file, &ranges, &goes_on);
        rest = after;
    }
    ahead.look_up_rest(&goes_on);
}

/// Waits until the program asks for nothing more, or its start is over: the check of its files is
/// not to be in its way.
fn await_quiet(beside: &Beside, mirrored: &Mirrored) {
    let begun = Instant::now();
    let mut before = mirrored.requests();
    while !beside.has_ended(QUIET) && begun.elapsed() < START {
        let now = mirrored.requests();
        if now == before {
            return;
        }
        before = now;
    }
}

/// Looks whether files were changed where they lie, and says so: the program may have read them as
/// they were.
fn check(mirrored: &Mirrored, profile: &Path, said: Option<OwnedFd>) {
    mirrored.check_files();
    let cpu = clock_gettime(ClockId::ProcessCPUTime);
    let cpu_ns = cpu.tv_sec.unsigned_abs() * 1_000_000_000 + cpu.tv_nsec.unsigned_abs();
    Served { answers: mirrored.requests(), cpu_ns }.note(profile);
    let changed = mirrored.changed();
    if changed.is_empty() {
        return;
    }
    remove(profile);
    let served: Vec<&Changed> = changed.iter().filter(|changed| changed.was_served).collect();
    let Some(first) = served.first() else { return };
    let others = match served.len() {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    let path = first.path.display();
    let words = |which: &str| {
        format!(
            "{path}{others}: changed where it lies since it was packed; {which} may have read what it held before"
        )
    };
    match said {
        Some(said) => {
            let words = words("this start");
            let _ = writeln!(File::from(said), "seekless: {words}, so start the program again");
        }
        // The next start says it.
        None => {
            _ = write_private(&profile.with_extension(SAID), words("the last start").as_bytes())
        }
    }
}
