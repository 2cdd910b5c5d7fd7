//! Sparse files: the tools answer for holes as GNU's do, without reading them.

use super::{run, seekless, workplace};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

const MEBIBYTE: u64 = 1 << 20;

/// Makes a file of `bytes` with these texts at their offsets. False if its file system keeps no
/// holes.
fn sparse(path: &Path, bytes: u64, texts: &[(u64, &str)]) -> bool {
    let file = File::create(path).expect("created");
    if file.set_len(bytes).is_err() {
        return false;
    }
    texts.iter().for_each(|(at, text)| file.write_all_at(text.as_bytes(), *at).expect("written"));
    rustix::fs::seek(&file, rustix::fs::SeekFrom::Hole(0)).is_ok_and(|hole| hole < bytes)
}

fn same(folder: &Path, tool: &str, words: &[&str], locale: &str) {
    let mut gnu = Command::new(format!("/usr/bin/{tool}"));
    gnu.arg0(tool).current_dir(folder);
    let mut ours = seekless(folder);
    ours.arg(tool);
    let [theirs, ours] = [gnu, ours].map(|mut command| {
        let output =
            command.args(words).env_clear().env("LC_ALL", locale).output().expect("it starts");
        let text = |bytes: &[u8]| bytes[..bytes.len().min(400)].escape_ascii().to_string();
        let stdout = (output.stdout.len(), text(&output.stdout));
        (stdout, text(&output.stderr), output.status.code())
    });
    assert_eq!(ours, theirs, "{tool} {words:?} in {locale}");
}

#[test]
fn holes_are_searched_and_counted_as_gnu_does() {
    let place = workplace();
    let mib = MEBIBYTE;
    let holes = [
        sparse(
            &place.path().join("first"),
            3 * mib + 5,
            &[(mib, "a needle\nand "), (2 * mib, "more\n")],
        ),
        sparse(
            &place.path().join("text"),
            4 * mib,
            &[(0, "a needle\nand "), (3 * mib - 3, "a needle")],
        ),
        sparse(&place.path().join("late"), 2 * mib, &[(0, &"a needle\n".repeat(20_000))]),
        sparse(&place.path().join("empty"), mib, &[]),
    ];
    if holes.contains(&false) {
        return eprintln!("skipped: the file system keeps no holes");
    }
    let files = ["first", "text", "late", "empty"];
    for locale in ["C", "C.UTF-8"] {
        for words in [
            &["needle"][..],
            &["-c", "needle"],
            &["-c", ""],
            &["-cv", "needle"],
            &["-cx", ""],
            &["-m3", "-c", ""],
            &["-I", "needle"],
            &["-L", "and"],
            &["-l", "^$"],
            &["-v", "needle"],
            &["-z", "-c", "needle"],
            &["-z", "-c", ""],
            &["-z", "-n", "needle"],
            &["-z", "-n", "-A1", "needle"],
            &["-z", "-m2", "-n", ""],
            &["-zo", "needle"],
            &["-ac", "needle"],
            &["-U", "-nH", "more"],
        ] {
            same(place.path(), "grep", &[words, &files].concat(), locale);
        }
        for words in [&["-lwmcL"][..], &["-l"], &["-m"], &["-w"], &["-L"]] {
            same(place.path(), "wc", &[words, &files].concat(), locale);
        }
    }
}

#[test]
fn holes_are_not_read() {
    let place = workplace();
    let texts = [(0, "a needle\nand "), (12 << 30, "another needle\n")];
    if !sparse(&place.path().join("holes"), 16 << 30, &texts) {
        return eprintln!("skipped: the file system keeps no holes of this size");
    }
    for words in [
        "grep --stats -c needle holes",
        "grep --stats -I needle holes",
        "grep --stats -nz another holes",
        "grep --stats -L nowhere holes",
        "wc --stats -lwmcL holes",
    ] {
        let output = run(place.path(), words);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code().is_some_and(|code| code < 2), "{words}: {told}");
        let read = told.split("; ").last().and_then(|text| text.split(' ').next());
        let read: u64 =
            read.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{words}: {told}"));
        assert!(read < 16 * MEBIBYTE, "{words}: {told}");
    }
}

/// Sparse files can be so large that eight of them have more bytes than a number holds.
#[test]
fn sums_of_sizes_do_not_wrap() {
    let place = tempfile::tempdir_in("/dev/shm").ok();
    let files: Vec<String> = (0..8).map(|number| format!("huge{number}")).collect();
    let holds = |place: &tempfile::TempDir| {
        files.iter().all(|file| sparse(&place.path().join(file), 2 << 60, &[]))
    };
    let Some(place) = place.filter(holds) else {
        return eprintln!("skipped: no file system in memory for files of 2 EiB");
    };
    let all = u64::MAX.to_string();
    let refused = "wc: total bytes: Value too large for defined data type\n";
    for (options, expected) in [
        ("-c --total=only", format!("{all}\n")),
        ("-lc --total=only", format!("0 {all}\n")),
        ("-l --total=only", "0\n".to_owned()),
    ] {
        let output = run(place.path(), &format!("wc {options} {}", files.join(" ")));
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{options}");
        let (said, code) = if options.contains('c') { (refused, 1) } else { ("", 0) };
        assert_eq!(String::from_utf8_lossy(&output.stderr), said, "{options}");
        assert_eq!(output.status.code(), Some(code), "{options}");
    }
    let output = run(place.path(), &format!("wc -c --json {}", files.join(" ")));
    let figures: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        (&figures["total"]["bytes"], &figures["complete"]),
        (&u64::MAX.into(), &false.into())
    );
    let output = run(place.path(), "sleds --json .");
    let figures: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(figures[0]["bytes"], u64::MAX, "{figures}");
}
