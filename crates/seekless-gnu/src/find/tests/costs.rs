//! What files cost, as tests and formats of ours say it.

use super::{ours, words};
use std::ffi::OsString;

/// A folder on the disk of the test program. More is known of that disk than of some places for
/// temporary files.
pub(super) fn beside_the_test() -> tempfile::TempDir {
    let program = std::env::current_exe().expect("a program");
    tempfile::tempdir_in(program.parent().expect("a folder")).expect("room")
}

#[test]
fn a_cached_file_takes_time_but_no_devices() {
    let folder = beside_the_test();
    std::fs::write(folder.path().join("cached"), vec![b'x'; 8 << 20]).expect("written");
    let ask = |expression: &str| {
        let mut all: Vec<OsString> = vec![folder.path().into(), "-type".into(), "f".into()];
        all.extend(words(expression));
        let (out, messages, well) = ours(&all);
        assert!(well, "{messages}");
        String::from_utf8(out).expect("text")
    };
    if ask("-printf %{level}") != "memory" {
        eprintln!("skipped: what was just written is not seen to lie in memory here");
        return;
    }
    assert_eq!(ask("-cost 0 -printf %f:%{cost}"), "cached:0.000000");
    assert_eq!(ask("-latency 0"), "");
    assert!(ask("-latency +u0 -printf %{latency}").parse::<f64>().expect("seconds") > 0.0);
}

#[test]
fn a_second_time_is_asked_as_the_first() {
    // The cost of memory is taken from the first file found there.
    let folder = beside_the_test();
    for name in ["a", "b", "c"] {
        std::fs::write(folder.path().join(name), vec![b'x'; 1 << 20]).expect("written");
    }
    let (out, ..) = ours(&[
        folder.path().into(),
        "-type".into(),
        "f".into(),
        "-printf".into(),
        "%{latency} %{level}\\n".into(),
    ]);
    let found = String::from_utf8(out).expect("text");
    let mut lines: Vec<_> = found.lines().collect();
    lines.dedup();
    assert_eq!(lines.len(), 1, "{found}");
}
