//! `seekless advise` of programs that wait for one planted cause, on an ext4 of a slow disk: a loop
//! device whose requests a control group limits. Shares are judged, never seconds.

use crate::caches::alone;
use crate::used_devices::succeeds;
use crate::{seekless, workplace};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Requests a second, to read and to write.
const IOPS: u32 = 300;
/// Folders in which a name is missing, and small files.
const MANY: usize = 400;

/// A mounted disk with a limit for the programs of one control group.
struct SlowDisk {
    folder: tempfile::TempDir,
    device: String,
    group: PathBuf,
}

impl SlowDisk {
    /// `None` where there can be none, which is said.
    fn new() -> Option<Self> {
        let folder = workplace();
        let image = folder.path().join("image");
        fs::create_dir(folder.path().join("disk")).unwrap();
        fs::File::create(&image).unwrap().set_len(256 << 20).unwrap();
        let skipped = |why: &str| eprintln!("skipped: {why}");
        if !succeeds(Command::new("python3").arg("--version")) {
            skipped("no python3 for the planted programs");
            return None;
        }
        if !succeeds(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&image)) {
            skipped("no mkfs.ext4");
            return None;
        }
        let made = Command::new("losetup").args(["--find", "--show"]).arg(&image).output().ok()?;
        let device = String::from_utf8(made.stdout).ok()?.trim().to_owned();
        let name = folder.path().file_name().unwrap().to_string_lossy().into_owned();
        let group = Path::new("/sys/fs/cgroup/blkio").join(format!("seekless{name}"));
        let disk = Self { folder, device, group };
        match disk.mount() && disk.limit().is_some() {
            true => Some(disk),
            false => {
                skipped("no loop device, or no control groups of blkio (root)");
                None
            }
        }
    }

    fn mount(&self) -> bool {
        !self.device.is_empty()
            && succeeds(Command::new("mount").arg(&self.device).arg(self.place()))
    }

    fn limit(&self) -> Option<()> {
        fs::create_dir(&self.group).ok()?;
        let name = self.device.strip_prefix("/dev/")?;
        let number = fs::read_to_string(format!("/sys/block/{name}/dev")).ok()?;
        for kind in ["read", "write"] {
            let file = self.group.join(format!("blkio.throttle.{kind}_iops_device"));
            fs::write(file, format!("{} {IOPS}", number.trim())).ok()?;
        }
        Some(())
    }

    fn place(&self) -> PathBuf {
        self.folder.path().join("disk")
    }

    /// The advice on a program in python; `None` where recording is refused.
    fn advice(&self, options: &[&str], program: &str) -> Option<Value> {
        // The journal holds what was just written in memory, whatever is dropped.
        assert!(succeeds(Command::new("umount").arg(self.place())) && self.mount());
        let enter = "echo $$ > \"$0\" && exec \"$@\"";
        let mut command = Command::new("sh");
        command.args(["-c", enter]).arg(self.group.join("cgroup.procs"));
        command.arg(seekless(self.folder.path()).get_program()).args(["advise", "--json"]);
        command.args(options).args(["--", "python3", "-S", "-c", program]);
        command.current_dir(self.place()).stdin(Stdio::null());
        command.env("XDG_STATE_HOME", self.folder.path().join("state"));
        let alone = alone();
        let output = command.output().expect("a shell");
        drop(alone);
        let said = String::from_utf8_lossy(&output.stderr);
        if said.contains("may not trace another") {
            eprintln!("skipped: programs cannot be recorded here");
            return None;
        }
        assert!(output.status.success(), "{said}");
        Some(serde_json::from_str(&said).expect("JSON alone"))
    }
}

impl Drop for SlowDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.place()).status();
        let _ = Command::new("losetup").args(["--detach", &self.device]).status();
        let _ = fs::remove_dir(&self.group);
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// The parts add up to the whole, and this cause has the largest one, with half of it or more.
fn leads(parts: &Value, whole_s: f64, cause: &str) {
    let parts = parts.as_array().unwrap();
    let sum_s: f64 = parts.iter().map(|part| number(&part["wait_s"])).sum();
    assert!((sum_s - whole_s).abs() <= 0.05 * whole_s, "{sum_s} of {whole_s}: {parts:?}");
    assert_eq!(parts[0]["cause"], cause, "{parts:?}");
    assert!(number(&parts[0]["wait_s"]) >= 0.5 * whole_s, "{parts:?} of {whole_s}");
}

const ONE: [&str; 2] = ["--runs", "1"];

#[test]
fn a_program_that_looks_for_what_is_not_there_waits_for_missing_names() {
    let Some(disk) = SlowDisk::new() else { return };
    for folder in 0..MANY {
        let folder = disk.place().join(format!("d{folder}"));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("there"), "x").unwrap();
    }
    let program = format!(
        "import posix\nfor n in range({MANY}):\n try: posix.stat(f'd{{n}}/not')\n except OSError: pass"
    );
    let Some(advice) = disk.advice(&ONE, &program) else { return };
    leads(&advice["parts"], number(&advice["wait_s"]), "missing_names");
}

#[test]
fn a_program_that_maps_and_touches_waits_for_mapped_files() {
    let Some(disk) = SlowDisk::new() else { return };
    fs::write(disk.place().join("data"), vec![7; 128 << 20]).unwrap();
    let program = "import mmap,posix\nfd=posix.open('data',posix.O_RDONLY)\n\
                   m=mmap.mmap(fd,0,prot=mmap.PROT_READ)\nm.madvise(mmap.MADV_RANDOM)\n\
                   s=sum(m[(n*7919%32768)*4096] for n in range(500))";
    let Some(advice) = disk.advice(&ONE, program) else { return };
    leads(&advice["parts"], number(&advice["wait_s"]), "mapped");
}

/// Waits that a cached start has too are no part of what a cold start waits more. The time in calls
/// of one recorded run shows them.
fn leads_in_calls(disk: &SlowDisk, program: &str, cause: &str) {
    let Some(advice) = disk.advice(&["--once"], program) else { return };
    let recorded = &advice["files"]["recorded"];
    leads(&recorded["parts"], number(&recorded["in_calls_s"]), cause);
}

#[test]
fn a_program_that_reads_again_what_was_dropped_waits_for_that() {
    let Some(disk) = SlowDisk::new() else { return };
    fs::write(disk.place().join("data"), vec![7; 4 << 20]).unwrap();
    let program = "import posix\nfd=posix.open('data',posix.O_RDONLY)\nfor turn in range(8):\n \
                   posix.posix_fadvise(fd,0,0,posix.POSIX_FADV_DONTNEED)\n \
                   posix.posix_fadvise(fd,0,0,posix.POSIX_FADV_RANDOM)\n \
                   for n in range(100): posix.pread(fd,4096,n*40960)";
    leads_in_calls(&disk, program, "read_again");
}

#[test]
fn a_program_that_writes_and_syncs_waits_for_that() {
    let Some(disk) = SlowDisk::new() else { return };
    let program = "import posix\nfd=posix.open('out',posix.O_CREAT|posix.O_WRONLY)\n\
                   for n in range(200):\n posix.pwrite(fd,b'x'*4096,n*8192)\n posix.fsync(fd)";
    leads_in_calls(&disk, program, "written");
}

#[test]
fn a_program_that_computes_is_said_to_do_its_own_work() {
    let Some(disk) = SlowDisk::new() else { return };
    let program = "x=1\nfor n in range(20000000): x=x*n%1000003";
    let Some(advice) = disk.advice(&ONE, program) else { return };
    let (wait_s, cached_s) =
        (number(&advice["wait_s"]), number(&advice["starts"]["cached_median_s"]));
    assert!(wait_s < 0.5 * cached_s, "{wait_s} beside {cached_s}");
    let sum_s: f64 =
        advice["parts"].as_array().unwrap().iter().map(|part| number(&part["wait_s"])).sum();
    assert!((sum_s - wait_s).abs() <= 0.05 * wait_s + 1e-9, "{sum_s} of {wait_s}");
}
