//! Both sides deliver the same bytes for every pattern, and what is measured is reported.

use super::*;
use std::fs;

fn options() -> PatternOptions {
    PatternOptions {
        amount_bytes: 1 << 20,
        window_bytes: 512 << 10,
        cache_bytes: 4 << 20,
        rounds: 1,
        ..PatternOptions::default()
    }
}

#[test]
fn both_sides_deliver_the_same_in_every_pattern() {
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let path = folder.path().join("file");
    let bytes: Vec<u8> = (0..9_000_001u32).map(|at| (at.wrapping_mul(at) >> 7) as u8).collect();
    fs::write(&path, bytes).unwrap();
    for pattern in [
        "forward",
        "backward:64KiB",
        "random",
        "streams:10",
        "streams:3/each",
        "stride:256KiB/64KiB",
        "strides:4/64KiB",
        "sparse:50%",
        "disturbed:10%",
        "columnar:2/4",
    ] {
        let parsed: Pattern = pattern.parse().unwrap();
        let found = compare_pattern(&path, parsed, &options(), &mut |_, _| ()).unwrap();
        assert!(found.reads > 0, "{pattern}");
        let (kernel, ours) = (&found.kernel.figures, &found.seekless.figures);
        assert_eq!(kernel.checksum, ours.checksum, "{pattern}");
        assert!(kernel.delivered_bytes > 0 && found.seekless.p99_ns >= found.seekless.p50_ns);
    }
    let files: Pattern = "files".parse().unwrap();
    let found = compare_pattern(folder.path(), files, &options(), &mut |_, _| ()).unwrap();
    assert_eq!(found.kernel.figures.delivered_bytes, 9_000_001);
}

#[test]
fn an_unknown_readahead_is_refused_by_name() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), [1; 5000]).unwrap();
    let options = PatternOptions { readahead: "strems".to_owned(), ..options() };
    let pattern = "forward".parse().unwrap();
    let error = compare_pattern(file.path(), pattern, &options, &mut |_, _| ()).unwrap_err();
    assert!(error.to_string().contains("streams"), "{error}");
}
