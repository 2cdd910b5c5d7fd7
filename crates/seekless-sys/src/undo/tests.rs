use super::journal::leftovers_in;
use super::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

fn journals(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.to_string_lossy().contains("undo-")).collect()
}

/// A setting that is changed to 1, a folder that is made, and what puts them back.
fn change(folder: &Path) -> Vec<Step> {
    vec![
        Step::write("32", folder.join("setting")).unwrap(),
        Step::remove_folder(folder.join("group")).unwrap(),
        Step::remove_folder(folder.join("never made")).unwrap(),
    ]
}

fn changed(folder: &Path) -> (String, bool) {
    (fs::read_to_string(folder.join("setting")).unwrap(), folder.join("group").exists())
}

fn make_changes(folder: &Path) {
    fs::write(folder.join("setting"), "1").unwrap();
    fs::create_dir(folder.join("group")).unwrap();
}

/// What a process that has ended left. A child of another test holds its lock too, until it closes
/// the files it was born with.
fn some_leftovers_in(folder: &Path) -> Vec<Leftover> {
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        let found = leftovers_in(folder);
        if !found.is_empty() || Instant::now() > until {
            return found;
        }
        std::thread::yield_now();
    }
}

#[test]
fn a_journal_whose_process_is_gone_is_followed_by_the_next_run() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::write_in(folder.path(), &change(folder.path())).unwrap();
    make_changes(folder.path());
    assert!(leftovers_in(folder.path()).is_empty(), "its process lives");
    assert_eq!(changed(folder.path()), ("1".to_owned(), true));
    drop(journal);
    let found = some_leftovers_in(folder.path());
    assert!(found.len() == 1 && found[0].failed.is_none(), "{found:?}");
    assert!(found[0].steps[0].starts_with("write 32 to "), "{found:?}");
    assert_eq!(changed(folder.path()), ("32".to_owned(), false));
    assert!(leftovers_in(folder.path()).is_empty() && journals(folder.path()).is_empty());
}

#[test]
fn what_cannot_be_put_back_is_said_and_stays_in_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("group/member")).unwrap();
    drop(
        Journal::write_in(
            folder.path(),
            &[Step::remove_folder(folder.path().join("group")).unwrap()],
        )
        .unwrap(),
    );
    for _ in 0..2 {
        let found = some_leftovers_in(folder.path());
        let why = found[0].failed.as_ref().unwrap().to_string();
        assert!(why.contains("cannot remove the folder") && why.contains("not empty"), "{why}");
    }
}

#[test]
fn after_a_restart_there_is_nothing_to_put_back() {
    let folder = tempfile::tempdir().unwrap();
    drop(Journal::write_in(folder.path(), &change(folder.path())).unwrap());
    let journal = journals(folder.path()).pop().unwrap();
    let text = fs::read_to_string(&journal).unwrap();
    let (_, steps) = text.split_once('\n').unwrap();
    fs::write(&journal, format!("another-boot\n{steps}")).unwrap();
    make_changes(folder.path());
    // A child of another test may hold the journal's lock for a moment.
    let until = Instant::now() + Duration::from_secs(10);
    while !journals(folder.path()).is_empty() && Instant::now() < until {
        assert!(leftovers_in(folder.path()).is_empty());
        std::thread::yield_now();
    }
    assert_eq!(changed(folder.path()), ("1".to_owned(), true));
    assert!(journals(folder.path()).is_empty());
}

#[test]
fn a_file_that_is_no_journal_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("undo-strange"), "gibberish").unwrap();
    let found = leftovers_in(folder.path());
    let why = found[0].failed.as_ref().unwrap().to_string();
    assert!(why.contains("undo-strange") && why.contains("remove it"), "{why}");
}

/// Runs in a process of its own, which is killed: makes the changes, says so, and waits.
#[test]
fn the_one_that_is_killed() {
    let Some(folder) = std::env::var_os("SEEKLESS_TEST_KILLED").map(PathBuf::from) else { return };
    let _undo = Undo::prepare(change(&folder), &[]).unwrap();
    make_changes(&folder);
    fs::write(folder.join("ready"), "").unwrap();
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn after_a_kill_the_guardian_puts_everything_back_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "undo::tests::the_one_that_is_killed"])
        .env("SEEKLESS_TEST_KILLED", folder.path())
        .env("XDG_STATE_HOME", folder.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    wait_until("the changes are made", || folder.path().join("ready").exists());
    assert_eq!(changed(folder.path()), ("1".to_owned(), true));
    assert_eq!(journals(&folder.path().join("seekless")).len(), 1);
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("they are put back", || journals(&folder.path().join("seekless")).is_empty());
    assert_eq!(changed(folder.path()), ("32".to_owned(), false));
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(30), "waited 30 s until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
