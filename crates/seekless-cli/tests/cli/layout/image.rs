//! An ext4 in a file, mounted by a loop device, with a tree of small files and a list of them in an
//! order that is not that on the device.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The mounted file system; unmounted when it is dropped.
pub(super) struct Image {
    mount: PathBuf,
    device: String,
    _folder: tempfile::TempDir,
}

impl Image {
    /// With a tree of so many files. `None` where there is no root, loop device or mkfs, which is
    /// said.
    pub(super) fn with_tree(bytes: &str, options: &[&str], files: u64) -> Option<Self> {
        let image = Self::new(bytes, options)?;
        image.plant(files, files);
        Some(image)
    }

    fn new(bytes: &str, options: &[&str]) -> Option<Self> {
        let folder = super::workplace();
        let file = folder.path().join("image");
        let mount = folder.path().join("mounted");
        fs::create_dir(&mount).unwrap();
        let file_name = file.to_str().unwrap();
        let words = |words: &[&str]| run(words).ok();
        let made = words(&["truncate", "-s", bytes, file_name])
            .and_then(|_| {
                words(&[&["mkfs.ext4", "-q", "-F", "-b", "4096"], options, &[file_name]].concat())
            })
            .and_then(|_| words(&["losetup", "--find", "--show", file_name]));
        let Some(device) = made.map(|said| said.trim().to_owned()) else {
            eprintln!("skipped: no mkfs.ext4 or loop device here, or no root");
            return None;
        };
        let image = Self { mount, device, _folder: folder };
        if let Err(why) = image.mount() {
            eprintln!("skipped: an ext4 cannot be mounted here: {why}");
            return None;
        }
        Some(image)
    }

    fn mount(&self) -> Result<String, String> {
        run(&["mount", &self.device, self.mount.to_str().unwrap()])
    }

    /// What was written is then on the device, and nothing is cached.
    pub(super) fn remount(&self) {
        self.unmount().unwrap();
        self.mount().unwrap();
    }

    /// A child that another test just started may still hold a file for a moment.
    fn unmount(&self) -> Result<String, String> {
        let unmount = || run(&["umount", self.mount.to_str().unwrap()]);
        let mut done = unmount();
        for _ in 0..100 {
            if done.is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
            done = unmount();
        }
        done
    }

    /// `e2fsck` finds no fault in what is on the device.
    pub(super) fn is_clean(&self) {
        self.unmount().unwrap();
        let checked = run(&["e2fsck", "-fn", &self.device]);
        self.mount().unwrap();
        checked.unwrap();
    }

    pub(super) fn folder(&self) -> &Path {
        &self.mount
    }

    pub(super) fn free_bytes(&self) -> u64 {
        let about = rustix::fs::statvfs(&self.mount).unwrap();
        about.f_bavail * about.f_frsize
    }

    /// Writes the tree, and a list of every other file in another order.
    pub(super) fn plant(&self, files: u64, seed: u64) {
        let (mut names, mut next) = (Vec::new(), numbers(seed));
        for number in 0..files {
            let name = format!("tree/d{}/f{number}", number % 3);
            let path = self.mount.join(&name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let bytes: Vec<u8> = (0..1 + next() % 50_000).map(|_| next() as u8).collect();
            fs::write(&path, bytes).unwrap();
            // Between them lie files that nobody needs.
            fs::write(path.with_extension("unneeded"), vec![7; 20_000]).unwrap();
            names.push(self.mount.join(name).to_str().unwrap().to_owned());
        }
        fs::write(self.mount.join("list"), names.join("\n") + "\n").unwrap();
        self.shuffle_list(seed);
        self.remount();
    }

    /// Gives the list another order.
    pub(super) fn shuffle_list(&self, seed: u64) {
        let (mut names, mut next) = (self.names(), numbers(seed));
        for place in (1..names.len()).rev() {
            names.swap(place, next() as usize % (place + 1));
        }
        fs::write(self.mount.join("list"), names.join("\n") + "\n").unwrap();
    }

    /// The names in the list, in its order.
    pub(super) fn names(&self) -> Vec<String> {
        let list = fs::read_to_string(self.mount.join("list")).unwrap();
        list.lines().map(str::to_owned).collect()
    }

    pub(super) fn append_to_list(&self, name: &str) {
        let list = fs::read_to_string(self.mount.join("list")).unwrap();
        let path = self.mount.join(name);
        fs::write(self.mount.join("list"), format!("{list}{}\n", path.display())).unwrap();
    }

    /// All that must stay of the files of the tree, a line each.
    pub(super) fn known(&self) -> Vec<String> {
        let (mut lines, mut folders) = (Vec::new(), vec![self.mount.join("tree")]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                lines.push(super::line(&self.mount, &path));
                if path.is_dir() {
                    folders.push(path);
                }
            }
        }
        lines.sort_unstable();
        lines
    }
}

impl Image {
    /// As [`Image::known`], but for the inodes, which a copy changes.
    pub(super) fn known_but_inodes(&self) -> Vec<String> {
        let without = |line: String| {
            let words: Vec<&str> = line.split(' ').collect();
            [&words[..2], &words[3..]].concat().join(" ")
        };
        self.known().into_iter().map(without).collect()
    }

    /// Copies and old folders that were left beside the tree.
    pub(super) fn leftovers(&self) -> Vec<String> {
        let names = fs::read_dir(&self.mount).unwrap().map(|entry| entry.unwrap().file_name());
        let names = names.map(|name| name.to_string_lossy().into_owned());
        names.filter(|name| name.contains(".layout-")).collect()
    }

    pub(super) fn remove_leftovers(&self) {
        for name in self.leftovers() {
            fs::remove_dir_all(self.mount.join(name)).unwrap();
        }
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        let _ = self.unmount();
        let _ = run(&["losetup", "--detach", &self.device]);
    }
}

/// Runs a program; what it printed, or why it failed.
fn run(words: &[&str]) -> Result<String, String> {
    let output = Command::new(words[0]).args(&words[1..]).output().map_err(|it| it.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(text(&output.stdout) + &text(&output.stderr)),
    }
}

/// Numbers that look like random ones.
fn numbers(seed: u64) -> impl FnMut() -> u64 {
    let mut random = seed;
    move || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        random >> 33
    }
}

/// FNV-1a.
pub(super) fn sum(bytes: &[u8]) -> u64 {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}
