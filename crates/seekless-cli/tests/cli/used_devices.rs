//! A device that the system uses is overwritten by no verb: mounted, swapped to, part of another
//! device, or open.

use super::{run, workplace};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

/// A loop device on `folder/disk`, taken away when dropped.
pub(super) struct Loop {
    pub(super) device: String,
}

impl Loop {
    /// One on a file in `folder`. `None` where there can be none, which is said.
    pub(super) fn new(folder: &Path) -> Option<Self> {
        let disk = folder.join("disk");
        fs::File::create(&disk).unwrap().set_len(16 << 20).unwrap();
        let made = Self::on(&disk);
        if made.is_none() {
            eprintln!("skipped: no loop device can be made (root, losetup)");
        }
        made
    }

    /// One that stores its data in this file or device.
    fn on(disk: &Path) -> Option<Self> {
        let made = Command::new("losetup").args(["--find", "--show"]).arg(disk).output().ok()?;
        let device = String::from_utf8(made.stdout).ok()?.trim().to_owned();
        made.status.success().then_some(Loop { device })
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.device]).status();
    }
}

pub(super) fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|it| it.success())
}

/// Runs each verb that overwrites a device. Each must fail with these words, and the device must
/// have the same bytes after it.
fn refused(folder: &Path, device: &str, why: &str) {
    refused_at(folder, device, why, u64::MAX);
}

/// As [`refused`], for a device of which only this many bytes at the start are not written by
/// others.
fn refused_at(folder: &Path, device: &str, why: &str, bytes: u64) {
    fs::write(folder.join("blocks.txt"), "w 0\nw 8\n").unwrap();
    let read = || {
        let mut content = Vec::new();
        fs::File::open(device).unwrap().take(bytes).read_to_end(&mut content).unwrap();
        content
    };
    let before = read();
    for words in [
        format!("replay blocks.txt --destroy-data {device}"),
        format!("probe {device} --destroy-data --inside"),
        format!("probe {device} --destroy-data --save never.toml"),
    ] {
        let output = run(folder, &words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words}: {said}");
        assert!(said.contains(why), "{words}: {said}");
    }
    assert!(!folder.join("never.toml").exists());
    let after = read();
    assert_eq!(after.len(), before.len(), "{device}: bytes that can be read");
    let changed = (0..after.len()).filter(|&at| after[at] != before[at]).collect::<Vec<_>>();
    let (first, last) = (changed.first(), changed.last());
    assert!(changed.is_empty(), "{device} was written to: {first:?} to {last:?}");
}

/// Runs `during` between two commands, if the first one works here.
fn between(begin: &mut Command, end: &mut Command, what: &str, during: impl FnOnce()) {
    if !succeeds(begin) {
        eprintln!("skipped: {what} is not possible here");
        return;
    }
    // The end must come though `during` panics.
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(during));
    assert!(succeeds(end), "{end:?}");
    outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

#[test]
fn a_device_in_use_is_refused_and_unchanged() {
    let directory = workplace();
    let folder = directory.path();
    let Some(disk) = Loop::new(folder) else { return };
    let device = disk.device.as_str();

    let mount = folder.join("mount");
    fs::create_dir(&mount).unwrap();
    if succeeds(Command::new("mkfs.ext4").args(["-q", device])) {
        // Read-only, so that mounting itself changes no byte.
        let mut begin = Command::new("mount");
        begin.args(["-o", "ro", device]).arg(&mount);
        between(&mut begin, Command::new("umount").arg(&mount), "mounting", || {
            refused(folder, device, &format!("mounted at {}", mount.display()));
        });
    }

    let name = format!("seekless-test-{}", std::process::id());
    let table = format!("0 1024 linear {device} 0");
    let mut begin = Command::new("dmsetup");
    begin.args(["create", &name, "--table", &table]);
    let mut end = Command::new("dmsetup");
    between(&mut begin, end.args(["remove", &name]), "a device on a device", || {
        refused(folder, device, "part of dm-");
    });

    let open = Stdio::from(fs::File::open(device).unwrap());
    let mut other = Command::new("sleep").arg("60").stdin(open).spawn().unwrap();
    let outcome = std::panic::catch_unwind(|| {
        refused(folder, device, "open in sleep (process");
    });
    other.kill().unwrap();
    other.wait().unwrap();
    outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

/// The system may swap to it meanwhile: all but its first page.
#[test]
fn a_device_that_is_swapped_to_is_refused() {
    let directory = workplace();
    let folder = directory.path();
    let Some(disk) = Loop::new(folder) else { return };
    let device = disk.device.as_str();
    if succeeds(Command::new("mkswap").arg(device)) {
        let mut begin = Command::new("swapon");
        between(begin.arg(device), Command::new("swapoff").arg(device), "swapping", || {
            refused_at(folder, device, "swapped to by the system", 4096);
        });
    }
}

/// The file system on the second device was destroyed through the first one.
#[test]
fn devices_that_share_their_bytes_with_a_used_one_are_refused() {
    let directory = workplace();
    let folder = directory.path();
    let Some(first) = Loop::new(folder) else { return };
    let Some(second) = Loop::on(Path::new(&first.device)) else {
        eprintln!("skipped: no loop device on a loop device can be made");
        return;
    };
    let name = second.device.trim_start_matches("/dev/").to_owned();
    let stored = format!("the store of the loop device {name}");
    refused(folder, &first.device, &stored);
    let mount = folder.join("mount");
    fs::create_dir(&mount).unwrap();
    if !succeeds(Command::new("mkfs.ext4").args(["-q", &second.device])) {
        eprintln!("skipped: no mkfs.ext4");
        return;
    }
    let mut begin = Command::new("mount");
    begin.args(["-o", "ro", &second.device]).arg(&mount);
    between(&mut begin, Command::new("umount").arg(&mount), "mounting", || {
        let mounted = format!("which is mounted at {}", mount.display());
        refused(folder, &first.device, &format!("{stored}, {mounted}"));
        // The path of the file leads to another file now: its number counts.
        fs::rename(folder.join("disk"), folder.join("other")).unwrap();
        fs::write(folder.join("disk"), "no longer it").unwrap();
        refused_file(folder, "other", "the store of the loop device");
    });
    // What stands below the named device.
    let mut begin = Command::new("mount");
    begin.args(["-o", "ro", &first.device]).arg(&mount);
    between(&mut begin, Command::new("umount").arg(&mount), "mounting below", || {
        refused(folder, &second.device, &format!("which is mounted at {}", mount.display()));
    });
}

fn refused_file(folder: &Path, name: &str, why: &str) {
    fs::write(folder.join("blocks.txt"), "w 0\nw 8\n").unwrap();
    let before = fs::read(folder.join(name)).unwrap();
    let output = run(folder, &format!("replay blocks.txt --write {name}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(why), "{said}");
    assert!(fs::read(folder.join(name)).unwrap() == before, "the file was written to");
}
