//! One pass: runs a program in the control group, and reads its use of resources before its exit
//! status is collected.

use super::group::Group;
use super::level::Level;
use anyhow::{Context, bail, ensure};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use seekless::sys::residency::runs;
use serde::Serialize;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A shell that waits in the group for a line before it becomes the program. So neither the start
/// of a process nor its move into the group is timed, only the program from its `exec` on.
const WAITING: &str = "read -r go; exec \"$@\"";
/// Smaller ranges do not count as runs: eviction takes large folios and leaves small remainders.
const RUN_GRAIN_BYTES: u64 = 64 << 10;

/// The measurements of one pass.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Pass {
    pub(super) seconds: f64,
    /// Processor time, in ticks of 10 ms.
    pub(super) cpu_seconds: f64,
    /// Bytes read from the device.
    pub(super) device_bytes: u64,
    /// Files recalled from an archive.
    pub(super) recalls: u64,
    /// Bytes of the files in the page cache at the start.
    pub(super) resident_bytes: u64,
    /// The number of runs of these bytes.
    pub(super) resident_runs: u64,
}

/// A pass, and the output of the program.
pub(super) struct Done {
    pub(super) pass: Pass,
    pub(super) code: i32,
    pub(super) stdout: Vec<u8>,
}

/// The parts of a file in the page cache.
#[derive(Clone, Debug)]
pub(super) struct Resident {
    pub(super) bytes: u64,
    pub(super) runs: Vec<std::ops::Range<u64>>,
}

/// Where a pass runs, and what it reads.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) group: &'a Group,
    pub(super) level: &'a Level,
    pub(super) files: &'a [PathBuf],
}

/// Finds them without reading a byte.
pub(super) fn resident(path: &Path) -> anyhow::Result<Resident> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let bytes = file.metadata()?.len();
    let found = runs(file.as_fd(), 0..bytes, RUN_GRAIN_BYTES)?
        .context("this kernel does not say what is cached")?;
    let exact = seekless::sys::residency::resident_bytes(file.as_fd())?;
    let mut runs: Vec<std::ops::Range<u64>> = Vec::new();
    for run in found.into_iter().filter(|run| run.resident) {
        match runs.last_mut().filter(|last| last.end == run.range.start) {
            Some(last) => last.end = run.range.end,
            None => runs.push(run.range),
        }
    }
    Ok(Resident { bytes: exact.unwrap_or(0), runs })
}

/// Runs `words`, which read the files.
pub(super) fn run(at: At<'_>, words: &[OsString]) -> anyhow::Result<Done> {
    let mut before = Resident { bytes: 0, runs: Vec::new() };
    for file in at.files {
        let found = resident(file)?;
        before.bytes += found.bytes;
        before.runs.extend(found.runs);
    }
    let served_before = at.level.served();
    let mut child = waiting(words, at.level.configuration())?;
    let started = start(at.group, &mut child);
    let Ok((device_before, started)) = started else {
        let _ = child.kill();
        let _ = child.wait();
        return Err(started.err().unwrap_or_else(|| anyhow::anyhow!("cannot start {words:?}")));
    };
    // Read while the program runs, since a full pipe would stop it.
    let mut pipe = child.stdout.take().context("no pipe from the program")?;
    let output = std::thread::spawn(move || {
        let mut stdout = Vec::new();
        pipe.read_to_end(&mut stdout).map(|_| stdout)
    });
    let id = child.id();
    let pid = i32::try_from(id).ok().and_then(Pid::from_raw).context("no process id")?;
    while let Err(error) = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
        ensure!(error == rustix::io::Errno::INTR, "cannot wait for {words:?}: {error}");
    }
    let seconds = started.elapsed().as_secs_f64();
    let used = Used::of(id);
    let status = child.wait()?;
    let stdout = match output.join() {
        Ok(read) => read?,
        Err(_) => bail!("the reader of {words:?} ended"),
    };
    let Some(code) = status.code() else { bail!("{words:?} ended by {status}") };
    let (device_bytes, recalls) = match (at.level.served(), served_before) {
        (Some(after), Some(before)) => (after.bytes - before.bytes, after.recalls - before.recalls),
        _ => (used.bytes_of_a_disk(at.group.device_bytes(), device_before), 0),
    };
    let pass = Pass {
        seconds,
        cpu_seconds: used.cpu_seconds,
        device_bytes,
        recalls,
        resident_bytes: before.bytes,
        resident_runs: before.runs.len() as u64,
    };
    Ok(Done { pass, code, stdout })
}

fn waiting(words: &[OsString], configuration: Option<&Path>) -> anyhow::Result<Child> {
    let mut shell = Command::new("/bin/sh");
    if let Some(folder) = configuration {
        shell.env("XDG_CONFIG_HOME", folder);
    }
    shell
        .args(["-c", WAITING, "sh"])
        .args(words)
        .env("LC_ALL", "C.UTF-8")
        .env_remove("GREP_COLORS")
        .env_remove("RIPGREP_CONFIG_PATH")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start /bin/sh")
}

/// Moves the shell into the group and lets it continue. Returns the device's count and the time
/// just before.
fn start(group: &Group, child: &mut Child) -> anyhow::Result<(Option<u64>, Instant)> {
    group.take_in(child.id())?;
    let deadline = Instant::now() + Duration::from_secs(10);
    while !sleeps(child.id()) {
        ensure!(Instant::now() < deadline, "the shell does not wait for its line");
        std::thread::sleep(Duration::from_millis(1));
    }
    let device_before = group.device_bytes();
    let mut line = child.stdin.take().context("no pipe to the shell")?;
    let started = Instant::now();
    line.write_all(b"go\n")?;
    Ok((device_before, started))
}

/// Whether the process waits in read(2), and not for the disk.
fn sleeps(process: u32) -> bool {
    std::thread::sleep(Duration::from_millis(3));
    fields(process).and_then(|fields| fields.first().cloned()).is_some_and(|state| state == "S")
}

/// The resources used by a process that has ended, before its exit status is collected.
struct Used {
    cpu_seconds: f64,
    read_bytes: Option<u64>,
}

impl Used {
    fn of(process: u32) -> Self {
        let fields = fields(process).unwrap_or_default();
        let number = |index: usize| {
            fields.get(index).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0)
        };
        let counts = fs::read_to_string(format!("/proc/{process}/io")).unwrap_or_default();
        let read_bytes =
            counts.lines().find_map(|line| line.strip_prefix("read_bytes: ")?.parse().ok());
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        Used { cpu_seconds: (number(11) + number(12)) as f64 / ticks, read_bytes }
    }
}

impl Used {
    /// By the count of the group before and after, or else the kernel's count for the process.
    fn bytes_of_a_disk(&self, after: Option<u64>, before: Option<u64>) -> u64 {
        match (after, before) {
            (Some(after), Some(before)) if after > before || self.read_bytes.is_none() => {
                after - before
            }
            // Some kernels count a group's bytes only while it is throttled.
            _ => self.read_bytes.unwrap_or(0),
        }
    }
}

/// The fields of /proc/PID/stat after the name, beginning with the state.
fn fields(process: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    Some(text.rsplit_once(')')?.1.split_whitespace().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_just_written_is_one_run() {
        let mut file = tempfile::NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        file.write_all(&vec![1; 1 << 20]).unwrap();
        file.as_file().sync_all().unwrap();
        let found = resident(file.path()).unwrap();
        assert_eq!((found.bytes, found.runs.len()), (1 << 20, 1));
        assert_eq!(found.runs[0], 0..1 << 20);
    }

    #[test]
    fn the_fields_of_a_process_begin_with_its_state() {
        let own = fields(std::process::id()).unwrap();
        assert!(["R", "S", "D"].contains(&own[0].as_str()), "{own:?}");
        assert!(own.len() > 20);
    }
}
