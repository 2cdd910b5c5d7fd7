//! Files that change while `grep` and `wc` read them. A full pipe holds `grep` in the middle of a
//! file, since the test does not read from it.

use super::{seekless, workplace};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

const LINES: usize = 400_000;

fn line(at: usize) -> String {
    format!("{at:06} some text that the search finds\n")
}

/// Writes a log of several windows. Returns its path and its text.
fn log(folder: &Path) -> (PathBuf, String) {
    let path = folder.join("log");
    let text: String = (0..LINES).map(line).collect();
    fs::write(&path, &text).expect("written");
    (path, text)
}

/// Runs `grep WORDS log`, and calls `change` with the file after the first lines have come. Returns
/// the output and the file's text before the change.
fn grepped(words: &[&str], change: impl FnOnce(&Path)) -> (Output, String) {
    let place = workplace();
    let (path, text) = log(place.path());
    let mut command = seekless(place.path());
    command.arg("grep").args(words).arg("log").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut stdout = child.stdout.take().expect("a pipe");
    let mut first = [0; 100];
    stdout.read_exact(&mut first).expect("lines");
    change(&path);
    let mut all = first.to_vec();
    stdout.read_to_end(&mut all).expect("lines");
    let output = child.wait_with_output().expect("it ends");
    (Output { stdout: all, ..output }, text)
}

fn append(path: &Path, text: &str) {
    File::options()
        .append(true)
        .open(path)
        .expect("opened")
        .write_all(text.as_bytes())
        .expect("appended");
}

fn touch(path: &Path) {
    let later = SystemTime::now() + Duration::from_secs(5);
    File::options().write(true).open(path).expect("opened").set_modified(later).expect("touched");
}

fn assert_printed(output: &Output, expected: &str) {
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
    assert!(
        output.stdout == expected.as_bytes(),
        "{} bytes, not {}",
        output.stdout.len(),
        expected.len()
    );
}

#[test]
fn lines_that_are_appended_are_printed_too() {
    for words in [&["some"][..], &["-A1", "some"], &["-B1", "some"]] {
        let (output, text) =
            grepped(words, |path| append(path, "at last some more\nsome without an end"));
        assert_printed(&output, &(text + "at last some more\nsome without an end\n"));
    }
}

#[test]
fn a_touch_changes_nothing() {
    let (output, text) = grepped(&["some"], touch);
    assert_printed(&output, &text);
}

#[test]
fn a_new_file_of_the_same_name_changes_nothing() {
    for words in [&["some"][..], &["-B3", "some"]] {
        let (output, text) = grepped(words, |path| {
            let other = path.with_extension("new");
            fs::write(&other, "some other file\n").expect("written");
            fs::rename(other, path).expect("renamed");
        });
        assert_printed(&output, &text);
    }
}

#[test]
fn a_line_that_is_overwritten_is_printed_once_as_it_was_or_as_it_is() {
    let (output, text) = grepped(&["-n", "text"], |path| {
        let file = File::options().write(true).open(path).expect("opened");
        for at in 0..LINES {
            file.write_all_at(b"SOME", (at * line(0).len() + 7) as u64).expect("overwritten");
        }
    });
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).expect("text");
    let lines = printed.lines().zip(text.lines()).enumerate();
    for (at, (printed, line)) in lines {
        let (number, found) = printed.split_once(':').expect("a number");
        assert_eq!(
            (number, found.to_lowercase()),
            (&(at + 1).to_string()[..], line.to_lowercase())
        );
    }
    assert_eq!(printed.lines().count(), LINES);
}

fn cut(path: &Path, bytes: u64) {
    File::options().write(true).open(path).expect("opened").set_len(bytes).expect("cut");
}

/// A program that reads in order would meet the new end in the same way.
#[test]
fn what_was_printed_of_a_file_that_is_cut_short_is_all_there_is() {
    for words in [&["some"][..], &["-a", "some"], &["-B1", "some"]] {
        let (output, text) = grepped(words, |path| cut(path, 1000));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{words:?}");
        assert_eq!(output.status.code(), Some(0), "{words:?}");
        assert!(
            text.as_bytes().starts_with(&output.stdout),
            "{words:?}: {} bytes",
            output.stdout.len()
        );
    }
}

#[test]
fn a_file_that_is_cut_short_behind_what_was_printed_is_searched_to_its_new_end() {
    let bytes = line(0).len() * LINES - 20;
    for words in [&["some"][..], &["-a", "some"], &["-B1", "some"]] {
        let (output, text) = grepped(words, |path| cut(path, bytes as u64));
        assert_printed(&output, &(text[..bytes].to_owned() + "\n"));
    }
}

/// Runs `wc --stats WORDS log` while `change` is called with the file over and over. Returns
/// standard output, standard error, and the file's bytes before.
fn counted(words: &[&str], change: impl Fn(&Path) + Sync) -> (String, String, usize) {
    let place = workplace();
    let (path, _) = log(place.path());
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                change(&path);
            }
        });
        let output = seekless(place.path()).arg("wc").args(words).args(["--stats", "log"]).output();
        ended.store(true, Ordering::Relaxed);
        let output = output.expect("it starts");
        let told = String::from_utf8(output.stderr).expect("text");
        assert!(output.status.success(), "{told}");
        (String::from_utf8(output.stdout).expect("text"), told, line(0).len() * LINES)
    })
}

#[test]
fn a_touched_file_is_counted_once() {
    let (count, told, bytes) = counted(&["-l"], touch);
    assert_eq!(count, format!("{LINES} log\n"));
    assert!(told.starts_with(&format!("wc: {bytes} B counted; ")), "{told}");
}

#[test]
fn a_growing_file_is_counted_once_and_all_of_it_that_was_there() {
    let (count, told, bytes) = counted(&["-lc"], |path| append(path, &line(0)));
    let figures: Vec<usize> =
        count.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    assert!(figures[0] >= LINES && figures[1] >= bytes, "{count}");
    assert!(figures[1].abs_diff(figures[0] * line(0).len()) < line(0).len(), "{count}");
    assert!(told.starts_with(&format!("wc: {} B counted; ", figures[1])), "{told}");
}
