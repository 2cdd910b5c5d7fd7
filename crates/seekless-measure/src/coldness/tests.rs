//! Real files: cached by being written and read, then dropped, unless a process holds them.

use super::*;
use crate::ErrorKind;
use std::io::Write;

/// Files on the disk under the crate, as the system's temporary directory may be in memory and
/// never cold.
fn files(count: usize, bytes: usize) -> (tempfile::TempDir, Vec<PathBuf>) {
    let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let paths: Vec<PathBuf> =
        (0..count).map(|name| directory.path().join(name.to_string())).collect();
    for path in &paths {
        File::create(path).unwrap().write_all(&vec![5; bytes]).unwrap();
    }
    (directory, paths)
}

#[test]
fn files_just_written_are_flushed_and_dropped() {
    let (_directory, paths) = files(3, 10_000);
    let coldness = make_cold(&paths, Dropping::Files).unwrap();
    if coldness.unknown > 0 {
        return eprintln!("skipped: this kernel does not say what is cached");
    }
    assert_eq!(
        (coldness.files, coldness.bytes, coldness.resident_bytes_before),
        (3, 30_000, 30_000)
    );
    assert!(coldness.is_cold(), "{coldness}");
    assert_eq!(make_cold(&paths, Dropping::Files).unwrap().resident_bytes_before, 0);
    std::fs::read(&paths[1]).unwrap();
    assert_eq!(make_cold(&paths, Dropping::Files).unwrap().resident_bytes_before, 10_000);
}

#[test]
fn a_missing_file_is_named() {
    let error = make_cold([Path::new("/nonexistent/wall.dds")], Dropping::Files).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().starts_with("/nonexistent/wall.dds: cannot be opened"), "{error}");
}

#[test]
fn says_what_is_left_and_what_nobody_knows() {
    let mut all = Coldness {
        files: 2,
        bytes: 9_000,
        resident_bytes_before: 9_000,
        metadata_dropped: true,
        ..Coldness::default()
    };
    assert_eq!(all.to_string(), "2 files of 9.0 KB; 9.0 KB were cached, all dropped");
    all.merge(Coldness {
        files: 1,
        bytes: 500,
        resident_bytes_after_drop: 500,
        could_not_drop: 1,
        could_not_drop_examples: vec!["held".to_owned()],
        unknown: 1,
        ..Coldness::default()
    });
    assert!(!all.is_cold() && !all.metadata_dropped);
    assert_eq!(
        all.to_string(),
        "3 files of 9.5 KB; 9.0 KB were cached, 500 B in 1 could not be dropped; of 1 the kernel does not say; \
         directories and inodes may be cached"
    );
}
