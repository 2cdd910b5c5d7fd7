//! `seekless mount`: programs read a pack as a folder.

use super::{run, seekless, workplace};
use std::fs;

#[test]
fn a_command_reads_the_files_and_its_status_is_kept() {
    let folder = workplace();
    fs::create_dir_all(folder.path().join("data/art")).unwrap();
    fs::write(folder.path().join("data/art/a"), "brick").unwrap();
    fs::create_dir(folder.path().join("at")).unwrap();
    assert!(run(folder.path(), "pack data -o data.zip").status.success());
    let mounted = || {
        let words = ["mount", "data.zip", "at", "--", "sh", "-c", "cat at/art/a; exit 7"];
        seekless(folder.path()).args(words).output().unwrap()
    };
    let output = mounted();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if said.contains("cannot mount") {
        println!("skipped: FUSE is not to be had here: {said}");
        return;
    }
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(7), &b"brick"[..]), "{said}");
    assert_eq!(fs::read_dir(folder.path().join("at")).unwrap().count(), 0, "unmounted");
    fs::write(folder.path().join("at/mine"), "").unwrap();
    let output = mounted();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is not empty"));
}
