//! A kill at any time leaves each file whole. `LAYOUT_TREES`, `LAYOUT_KILLS` and `LAYOUT_FULL` make
//! the sweep longer.

use super::image::Image;
use super::seekless;
use std::process::Stdio;
use std::time::{Duration, Instant};

fn rounds(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

fn start(image: &Image, words: &[&str]) -> std::process::Child {
    let mut command = seekless(image.folder());
    command.args(["layout", "list"]).args(words).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the command starts")
}

#[test]
fn a_kill_leaves_each_file_whole() {
    let trees = rounds("LAYOUT_TREES", 2);
    let (mut killed, mut runs) = (0, 0);
    for tree in 0..trees {
        let block = ["1024", "4096"][tree as usize % 2];
        let Some(image) = Image::with_tree("64M", &["-b", block], 150) else { return };
        let before = image.known();
        let started = Instant::now();
        start(&image, &[]).wait().unwrap();
        let mut whole = started.elapsed();
        let enough = rounds("LAYOUT_KILLS", 4) * (tree + 1) / trees;
        for run in 1..200 {
            image.shuffle_list(tree * 1000 + run);
            let mut child = start(&image, &[]);
            std::thread::sleep(whole.mul_f64((run * 7 % 20) as f64 / 20.0));
            child.kill().unwrap();
            let ended = child.wait().unwrap().success();
            (killed, runs) = (killed + u64::from(!ended), runs + 1);
            if ended {
                whole = whole.mul_f64(0.9); // what is cached by now makes it faster
            }
            assert_eq!(image.known(), before, "tree {tree}, run {run}");
            image.is_clean();
            assert_eq!(image.known(), before, "tree {tree}, run {run}, on the device");
            if killed >= enough {
                break;
            }
        }
    }
    eprintln!("{killed} of {runs} runs were killed before their end, in {trees} trees");
}

/// The old folder or the copy may be left beside, but the folder is whole.
#[test]
fn a_kill_while_a_folder_is_copied_leaves_it_whole() {
    let Some(image) = Image::with_tree("64M", &[], 100) else { return };
    let before = image.known_but_inodes();
    for kill in 0..rounds("LAYOUT_KILLS", 4) {
        let mut child = start(&image, &["--within", "tree", "--copy"]);
        std::thread::sleep(Duration::from_millis(20 + 37 * (kill % 40)));
        child.kill().unwrap();
        child.wait().unwrap();
        image.is_clean();
        assert_eq!(image.known_but_inodes(), before, "kill {kill}");
        image.remove_leftovers();
    }
}

#[test]
fn a_disk_that_is_nearly_full_is_left_as_it_is_or_laid() {
    for round in 0..rounds("LAYOUT_FULL", 3) {
        let Some(image) = Image::with_tree("24M", &[], 150) else { return };
        let before = image.known();
        let room = round * (97 << 10) % (6 << 20);
        let ballast = image.free_bytes().saturating_sub(room);
        let full = std::fs::write(image.folder().join("ballast"), vec![1; ballast as usize]);
        assert!(full.is_ok() || room == 0, "{full:?}");
        image.remount();
        let status = start(&image, &[]).wait().unwrap();
        assert!([Some(0), Some(2)].contains(&status.code()), "room {room}: {status}");
        assert_eq!(image.known(), before, "room {room}");
        image.is_clean();
        assert_eq!(image.known(), before, "room {room}, on the device");
    }
}
