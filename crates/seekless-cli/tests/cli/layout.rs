//! `seekless layout` on file systems of its own: what it moves, what it leaves, and what is left of
//! a tree after a kill or on a full disk.

mod copies;
mod crashes;
mod image;

use super::{copy_program, seekless, workplace};
use image::Image;
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Output;

/// Runs `layout` with these words behind the list of a tree, costs of a device where a request is
/// dear.
fn layout(image: &Image, words: &[&str]) -> Output {
    let mut command = seekless(image.folder());
    command.args(["layout", "list", "--device", "iops=500,bandwidth=150MB/s"]).args(words);
    command.output().expect("the command starts")
}

/// The figures of such a run, which must succeed.
fn figures(image: &Image, words: &[&str]) -> Value {
    let output = layout(image, &[words, &["--json"]].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{words:?}: {said}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn requests(figures: &Value, when: &str) -> u64 {
    figures[when]["requests"].as_u64().expect("a count")
}

#[test]
fn files_come_into_order_and_keep_all_they_have() {
    let Some(image) = Image::with_tree("64M", &[], 300) else { return };
    let before = image.known();
    let expected = figures(&image, &["--dry-run"]);
    assert_eq!(image.known(), before, "a dry run moves nothing");
    assert_eq!(layout(&image, &["--check"]).status.code(), Some(1), "it was never laid");
    let laid = figures(&image, &[]);
    assert_eq!(image.known(), before, "names, bytes, inodes and times");
    assert_eq!(laid["moved"], 300, "{laid}");
    assert_eq!(requests(&laid, "before"), requests(&expected, "before"));
    assert_eq!(requests(&laid, "after"), requests(&expected, "after"), "the free space is whole");
    assert!(requests(&laid, "after") * 4 < requests(&laid, "before"), "{laid}");
    let again = figures(&image, &[]);
    assert_eq!((&again["moved"], &again["in_order"]), (&0.into(), &300.into()), "{again}");
    assert_eq!(layout(&image, &["--check"]).status.code(), Some(0));
    image.remount();
    assert_eq!(image.known(), before, "on the device, too");
}

#[test]
fn a_layout_decays_by_files_that_are_replaced_and_is_renewed_by_moving_these() {
    let Some(image) = Image::with_tree("64M", &[], 200) else { return };
    figures(&image, &[]);
    for name in image.names().iter().step_by(10) {
        let (path, new) = (image.folder().join(name), image.folder().join("new"));
        fs::write(&new, vec![7; 20_000]).unwrap();
        fs::rename(new, path).unwrap();
    }
    let check = layout(&image, &["--check", "--json"]);
    assert_eq!(check.status.code(), Some(1));
    let before = image.known();
    let renewed = figures(&image, &[]);
    assert_eq!(image.known(), before);
    assert!(requests(&renewed, "after") < requests(&renewed, "before"), "{renewed}");
    assert_eq!(layout(&image, &["--check"]).status.code(), Some(0));
}

#[test]
fn what_cannot_be_moved_safely_is_left_and_counted() {
    let Some(image) = Image::with_tree("64M", &[], 40) else { return };
    let names = image.names();
    let at = |number: usize| image.folder().join(&names[number]);
    let held = OpenOptions::new().append(true).open(at(0)).unwrap();
    let sparse = OpenOptions::new().write(true).open(at(1)).unwrap();
    sparse.set_len(1 << 20).unwrap();
    fs::write(at(2), "").unwrap();
    copy_program(Path::new("/bin/sleep"), &at(3));
    fs::hard_link(at(4), image.folder().join("tree/other")).unwrap();
    drop(sparse);
    image.append_to_list("tree/other");
    rustix::fs::fallocate(
        fs::File::options().write(true).open(at(5)).unwrap(),
        rustix::fs::FallocateFlags::empty(),
        0,
        1 << 20,
    )
    .unwrap();
    fs::set_permissions(at(3), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut running = std::process::Command::new(at(3)).arg("60").spawn().unwrap();
    let before = image.known();
    let laid = figures(&image, &[]);
    running.kill().unwrap();
    running.wait().unwrap();
    assert_eq!(image.known(), before);
    let left = serde_json::json!({
        "open for writing": 1,
        "with holes": 1,
        "with reserved ranges": 1,
        "empty": 1,
        "a program that runs, or swapped to": 1,
    });
    assert_eq!((&laid["left_out"], &laid["moved"]), (&left, &35.into()), "{laid}");
    drop(held);
    assert_eq!(figures(&image, &["--dry-run"])["left_out"]["open for writing"], Value::Null);
}

#[test]
fn only_files_below_the_folders_given_are_moved() {
    let Some(image) = Image::with_tree("64M", &[], 60) else { return };
    let laid = figures(&image, &["--within", "tree/d1"]);
    assert_eq!(laid["moved"], 20, "{laid}");
}

#[test]
fn a_full_disk_is_refused_and_nothing_changes() {
    let Some(image) = Image::with_tree("24M", &[], 200) else { return };
    let before = image.known();
    let free = image.free_bytes();
    fs::write(image.folder().join("ballast"), vec![1; free as usize - (300 << 10)]).unwrap();
    image.remount();
    let output = layout(&image, &[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("free some space"), "{said}");
    assert_eq!(image.known(), before);
    let copy = layout(&image, &["--within", "tree", "--copy"]);
    assert_eq!(copy.status.code(), Some(2), "{}", String::from_utf8_lossy(&copy.stderr));
    assert_eq!(image.known(), before);
    image.is_clean();
}

#[test]
fn little_space_is_used_part_by_part() {
    let Some(image) = Image::with_tree("32M", &[], 400) else { return };
    let before = image.known();
    let free = image.free_bytes();
    fs::write(image.folder().join("ballast"), vec![1; free as usize - (4 << 20)]).unwrap();
    image.remount();
    let laid = figures(&image, &[]);
    assert_eq!(image.known(), before);
    assert!(laid["moved"].as_u64().unwrap() > 100, "{laid}");
    assert!(requests(&laid, "after") < requests(&laid, "before"), "{laid}");
    image.is_clean();
}

#[test]
fn blocks_smaller_than_a_page_move_as_well() {
    let Some(image) = Image::with_tree("32M", &["-b", "1024"], 100) else { return };
    let before = image.known();
    let laid = figures(&image, &[]);
    assert_eq!(image.known(), before);
    assert_eq!(laid["moved"], 100, "{laid}");
    image.remount();
    assert_eq!(image.known(), before);
    image.is_clean();
}

/// As `known` shows a file: its name, checksum, inode, size and time of change.
fn line(root: &Path, path: &Path) -> String {
    let found = path.symlink_metadata().unwrap();
    let sum = match found.is_file() {
        true => image::sum(&fs::read(path).unwrap()),
        false => 0,
    };
    format!(
        "{} {sum:08x} {} {} {}.{:09} {:o}",
        path.strip_prefix(root).unwrap().display(),
        found.ino(),
        if found.is_dir() { 0 } else { found.len() },
        found.mtime(),
        found.mtime_nsec(),
        found.mode(),
    )
}
