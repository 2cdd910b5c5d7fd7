//! Fresh copies of folders: in place of the folder, and elsewhere.

use super::image::Image;
use super::{figures, layout, requests};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

/// Gives the tree what a copy might lose.
fn furnish(tree: &Path) {
    symlink("d0/f0", tree.join("link")).unwrap();
    fs::hard_link(tree.join("d0/f0"), tree.join("d1/same")).unwrap();
    fs::create_dir(tree.join("empty")).unwrap();
    fs::set_permissions(tree.join("empty"), PermissionsExt::from_mode(0o2750)).unwrap();
    std::os::unix::fs::chown(tree.join("d1/f1"), Some(1234), Some(5678)).unwrap();
    let flags = rustix::fs::XattrFlags::empty();
    rustix::fs::setxattr(tree.join("d2/f2"), "user.note", b"kept", flags).unwrap();
    let sparse = fs::File::create(tree.join("sparse")).unwrap();
    sparse.set_len(1 << 20).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&sparse, b"x", 700_000).unwrap();
}

fn has_all(tree: &Path) {
    let at = |name: &str| tree.join(name).symlink_metadata().unwrap();
    assert_eq!(fs::read_link(tree.join("link")).unwrap(), Path::new("d0/f0"));
    assert_eq!(at("d0/f0").ino(), at("d1/same").ino());
    assert_eq!(at("empty").mode() & 0o7777, 0o2750);
    assert_eq!((at("d1/f1").uid(), at("d1/f1").gid()), (1234, 5678));
    let mut note = [0; 8];
    let length = rustix::fs::getxattr(tree.join("d2/f2"), "user.note", note.as_mut_slice());
    assert_eq!(&note[..length.unwrap()], b"kept");
    assert!(at("sparse").blocks() * 512 < 100_000, "holes stay holes");
}

#[test]
fn a_copy_replaces_the_folder_with_inodes_in_order() {
    let Some(image) = Image::with_tree("64M", &[], 120) else { return };
    furnish(&image.folder().join("tree"));
    image.remount();
    let before = image.known_but_inodes();
    let laid = figures(&image, &["--within", "tree", "--copy"]);
    assert_eq!(image.known_but_inodes(), before);
    has_all(&image.folder().join("tree"));
    assert_eq!(laid["copied"], 241, "{laid}");
    assert!(requests(&laid, "after") * 4 < requests(&laid, "before"), "{laid}");
    assert_eq!(image.leftovers(), Vec::<String>::new());
    let inode = |name: &String| image.folder().join(name).metadata().unwrap().ino();
    let inodes: Vec<u64> =
        image.names().iter().filter(|name| name.contains("/d1/")).map(inode).collect();
    assert!(inodes.is_sorted(), "of a folder, in the order of need: {inodes:?}");
    image.is_clean();
    assert_eq!(image.known_but_inodes(), before);
}

#[test]
fn a_copy_elsewhere_leaves_the_folder() {
    let Some(image) = Image::with_tree("64M", &[], 120) else { return };
    furnish(&image.folder().join("tree"));
    image.remount();
    let before = image.known();
    let made = figures(&image, &["--within", "tree", "--to", "made"]);
    assert_eq!(image.known(), before);
    has_all(&image.folder().join("made"));
    assert!(requests(&made, "after") * 4 < requests(&made, "before"), "{made}");
    let again = layout(&image, &["--within", "tree", "--to", "made"]);
    assert_eq!(again.status.code(), Some(2));
    let said = String::from_utf8_lossy(&again.stderr);
    assert!(said.contains("is there already"), "{said}");
    assert_eq!(image.leftovers(), Vec::<String>::new());
}

/// An ext4 without extents cannot exchange blocks.
#[test]
fn where_blocks_cannot_be_exchanged_the_folder_is_copied() {
    let Some(image) = Image::with_tree("64M", &["-O", "^extent,^64bit"], 120) else { return };
    let before = image.known();
    let alone = figures(&image, &[]);
    let why = "on a file system that cannot exchange blocks";
    assert_eq!((&alone["moved"], &alone["left_out"][why]), (&0.into(), &120.into()), "{alone}");
    assert_eq!(image.known(), before);
    let before = image.known_but_inodes();
    let laid = figures(&image, &["--within", "tree"]);
    assert_eq!(image.known_but_inodes(), before);
    assert_eq!(laid["copied"], 240, "{laid}");
    assert!(requests(&laid, "after") * 4 < requests(&laid, "before"), "{laid}");
    let again = figures(&image, &["--within", "tree"]);
    assert_eq!(again["copied"], 0, "a second copy would gain nothing: {again}");
}

#[test]
fn a_folder_that_a_copy_would_harm_stays() {
    let Some(image) = Image::with_tree("64M", &[], 30) else { return };
    let refused = |why: &str| {
        let before = image.known();
        let output = layout(&image, &["--within", "tree", "--copy"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(why), "{said}");
        assert_eq!((image.known(), image.leftovers()), (before, Vec::new()));
    };
    let file = image.folder().join("tree/d0/f0");
    let open = fs::OpenOptions::new().append(true).open(&file).unwrap();
    refused("is open for writing");
    drop(open);
    fs::hard_link(&file, image.folder().join("outside")).unwrap();
    refused("has a hard link outside");
}
