//! Files that a user may read but does not own. The kernel says nothing about their pages.

use crate::support::{MIB, cached, dropped, is_child, run_again, written};
use seekless_read::{Event, Options, Reach, Reader, runs_by_touch};
use seekless_sled::{Config, Devices, Level, Surveyor};
use seekless_sys::residency::{GRAIN_BYTES, runs};
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The user that owns no files.
const NOBODY: u32 = 65_534;
const FOLDER: &str = "SEEKLESS_TEST_FOLDER";

/// Root makes a file `data` for the test `name`. The other user looks at it. Root then sees what
/// that did. The folder is open to all users, and so is a copy of this program in it.
fn as_nobody(name: &str, make: impl Fn(&Path), look: impl Fn(&Path), see: impl Fn(&Path)) {
    if is_child() {
        return look(&PathBuf::from(std::env::var_os(FOLDER).unwrap()).join("data"));
    }
    let folder = tempfile::Builder::new()
        .permissions(PermissionsExt::from_mode(0o755))
        .tempdir_in("/var/tmp");
    let folder = folder.or_else(|_| tempfile::tempdir()).unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let program = folder.path().join("program");
    // Not by `fs::copy`: a child of another test could inherit the descriptor, and it cannot run.
    let this = std::env::current_exe().unwrap();
    assert!(Command::new("cp").args([&this, &program]).status().unwrap().success());
    let data = folder.path().join("data");
    make(&data);
    let mut command = Command::new(program);
    command.uid(NOBODY).gid(NOBODY).env(FOLDER, folder.path()).current_dir("/");
    if run_again(&format!("other_user::{name}"), command) {
        see(&data);
    }
}

#[test]
fn a_file_that_is_not_ones_own_is_touched_at_most_64_times() {
    const BYTES: u64 = 1 << 30;
    let make = |data: &Path| {
        // Its data are never read back but by the touches: holes do as well as blocks.
        File::create(data).unwrap().set_len(BYTES).unwrap();
    };
    let look = |data: &Path| {
        let file = File::open(data).unwrap();
        if runs(file.as_fd(), 0..BYTES, GRAIN_BYTES).unwrap().is_some() {
            return eprintln!("skipped: this kernel tells everybody what is cached");
        }
        runs_by_touch(&file, 0..BYTES, GRAIN_BYTES).unwrap();
    };
    let see = |data: &Path| {
        let page = seekless_sys::memory::page_bytes();
        let touched = cached(data).unwrap() / page;
        assert!(touched <= 64, "{touched} pages came in");
    };
    as_nobody("a_file_that_is_not_ones_own_is_touched_at_most_64_times", make, look, see);
}

#[test]
fn a_file_that_is_not_ones_own_is_read_to_its_end_and_its_state_is_unknown() {
    let make = |data: &Path| {
        written(data, 8 * MIB);
        dropped(data);
    };
    let look = |data: &Path| {
        let mut surveyor = Surveyor::with(Config::default(), Devices::default());
        let survey = surveyor.path(data).unwrap();
        if survey.bytes_at(Level::Unknown) == 0 {
            return eprintln!("skipped: this kernel tells everybody what is cached");
        }
        let read = |cached_only| {
            let mut reader = Reader::new(Options {
                reach: Reach { cached_only, ..Reach::default() },
                ..Options::default()
            });
            reader.add_path(data);
            let mut end = None;
            while let Some(event) = reader.next() {
                match event {
                    Event::End { skipped, unknown, .. } => end = Some((skipped, unknown)),
                    Event::Chunk(_) => {}
                    other => panic!("{other:?}"),
                }
            }
            (end, reader.statistics().bypassed_bytes)
        };
        assert_eq!(
            read(true),
            (Some((8 << 20, true)), 0),
            "skipped, and nobody knows whether it is cached"
        );
        let (end, bypassed) = read(false);
        assert_eq!(end.map(|(skipped, _)| skipped), Some(0));
        assert_eq!(bypassed, 0, "what may be cached is not read past the cache");
    };
    let name = "a_file_that_is_not_ones_own_is_read_to_its_end_and_its_state_is_unknown";
    as_nobody(name, make, look, |_| ());
}
