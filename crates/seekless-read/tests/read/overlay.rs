//! overlayfs, the root of every container: the page cache that it reads from belongs to the file
//! below.

use crate::support::{MIB, dropped, is_child, run_again, written};
use seekless_read::{Event, Options, Reader};
use seekless_sled::{Config, Devices, Level, Surveyor};
use seekless_sys::residency;
use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs the rest of the test `name` in a folder under a mounted overlay, once over the file system
/// of the sources and once over tmpfs. The file `old` is in the lower layer and `new` in the upper
/// one, 8 MiB each.
fn on_overlay(name: &str, rest: impl Fn(&Path)) {
    if !is_child() {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--propagation", "private"]).arg(std::env::current_exe().unwrap());
        run_again(&format!("overlay::{name}"), command);
        return;
    }
    let on_disk = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let in_memory = tempfile::tempdir().unwrap();
    if mount(&["-t", "tmpfs", "tmpfs"], in_memory.path()) {
        overlaid(in_memory.path(), &rest);
    }
    overlaid(on_disk.path(), &rest);
    // The mounts end with this process's name space; until then the folders cannot be removed.
    let _ = Command::new("umount").arg(on_disk.path().join("merged")).status();
    let _ = Command::new("umount").arg(in_memory.path().join("merged")).status();
    let _ = Command::new("umount").arg(in_memory.path()).status();
}

fn overlaid(folder: &Path, rest: &impl Fn(&Path)) {
    let [lower, upper, work, merged] =
        ["lower", "upper", "work", "merged"].map(|name| folder.join(name));
    [&lower, &upper, &work, &merged]
        .into_iter()
        .for_each(|path| std::fs::create_dir(path).unwrap());
    written(&lower.join("old"), 8 * MIB);
    let path = |path: &PathBuf| path.display().to_string();
    let options =
        format!("lowerdir={},upperdir={},workdir={}", path(&lower), path(&upper), path(&work));
    if !mount(&["-t", "overlay", "overlay", "-o", &options], &merged) {
        return;
    }
    written(&merged.join("new"), 8 * MIB);
    rest(&merged);
}

fn mount(words: &[&str], at: &Path) -> bool {
    let done =
        Command::new("mount").args(words).arg(at).status().is_ok_and(|status| status.success());
    if !done {
        eprintln!("skipped: mount {words:?} is refused here");
    }
    done
}

fn resident(path: &Path) -> Vec<(u64, u64, bool)> {
    let file = File::open(path).unwrap();
    let runs = residency::runs(file.as_fd(), 0..8 << 20, 64 << 10).unwrap().expect("told");
    runs.iter().map(|run| (run.range.start, run.range.end, run.resident)).collect()
}

#[test]
fn what_is_cached_is_seen_through_an_overlay() {
    on_overlay("what_is_cached_is_seen_through_an_overlay", |merged| {
        for path in [merged.join("old"), merged.join("new")] {
            std::fs::read(&path).unwrap();
            let file = File::open(&path).unwrap();
            assert_eq!(resident(&path), [(0, 8 << 20, true)]);
            assert_eq!(residency::resident_bytes(file.as_fd()).unwrap(), Some(8 << 20));
            assert_eq!(residency::all_or_nothing(file.as_fd(), 8 << 20), Some(true));
            dropped(&path);
            if residency::resident_bytes(file.as_fd()).unwrap() == Some(8 << 20) {
                continue; // in memory: nothing leaves
            }
            assert_eq!(resident(&path), [(0, 8 << 20, false)]);
            assert_eq!(residency::all_or_nothing(file.as_fd(), 8 << 20), Some(false));
        }
    });
}

/// Reads a file. Returns its bytes, those that were cached, and those read from the device.
fn read_all(path: &Path) -> (u64, u64, u64) {
    let mut reader = Reader::new(Options::default());
    reader.add_path(path);
    while let Some(event) = reader.next() {
        assert!(!matches!(event, Event::Failed { .. } | Event::Restart { .. }), "{event:?}");
    }
    let told = reader.statistics();
    (told.bytes, told.resident_bytes, told.device_bytes)
}

#[test]
fn a_cached_file_on_an_overlay_is_not_read_from_the_device_again() {
    on_overlay("a_cached_file_on_an_overlay_is_not_read_from_the_device_again", |merged| {
        for path in [merged.join("old"), merged.join("new")] {
            std::fs::read(&path).unwrap();
            // A page that is busy for a moment is waited for as if it lay on the device.
            let expected = (8 << 20, 8 << 20, 0);
            let told: Vec<_> = (0..3).map(|_| read_all(&path)).collect();
            assert!(told.contains(&expected), "{told:?}");
        }
    });
}

#[test]
fn sleds_of_a_cached_file_on_an_overlay_are_memory() {
    on_overlay("sleds_of_a_cached_file_on_an_overlay_are_memory", |merged| {
        let path = merged.join("old");
        std::fs::read(&path).unwrap();
        let survey = Surveyor::with(Config::default(), Devices::default()).path(&path).unwrap();
        assert_eq!(survey.bytes_at(Level::Memory), 8 << 20, "{:?}", survey.sleds);
    });
}

#[test]
fn another_users_file_on_an_overlay_is_unknown_and_read_plainly() {
    on_overlay("another_users_file_on_an_overlay_is_unknown_and_read_plainly", |merged| {
        let path = merged.join("old");
        std::fs::read(&path).unwrap();
        let file = File::open(&path).unwrap();
        // Without the capability, as in a container that drops it; the file is root's, and so is
        // this process: give it away.
        rustix::fs::chown(&path, Some(rustix::fs::Uid::from_raw(7)), None).unwrap();
        let mut sets = rustix::thread::capabilities(None).unwrap();
        sets.effective -=
            rustix::thread::CapabilitySet::FOWNER | rustix::thread::CapabilitySet::DAC_OVERRIDE;
        rustix::thread::set_capabilities(None, sets).unwrap();
        let told = residency::runs(file.as_fd(), 0..8 << 20, 64 << 10).unwrap();
        sets.effective = sets.permitted;
        rustix::thread::set_capabilities(None, sets).unwrap();
        assert_eq!(told, None);
    });
}
