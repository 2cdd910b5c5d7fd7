//! The names that a start looks up, brought into memory in the order of their inodes. A program
//! asks for them one after the other, and waits for a block of a folder or of inodes each time.

use super::Options;
use super::devices::Devices;
use seekless_trace::{LookKind, Profile, unescape_path};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Names to look up.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// By inode; what is not there comes last.
    looked_up: Vec<PathBuf>,
    listed: Vec<PathBuf>,
    next: AtomicUsize,
}

impl Names {
    /// Those of a profile's newest run.
    pub(super) fn of(profile: &Profile, options: &Options, devices: &mut Devices) -> Self {
        let mut found: Vec<(u64, PathBuf)> = Vec::new();
        let mut listed = Vec::new();
        for look in &profile.looks {
            let path = PathBuf::from(OsString::from_vec(unescape_path(&look.name)));
            let within = &options.within;
            let allowed = (within.is_empty() || within.iter().any(|root| path.starts_with(root)))
                && !options.hidden.hides(&path);
            let number = devices.of(&path);
            if !allowed || devices.known(number).mounted.is_none() {
                continue;
            }
            match look.kind {
                LookKind::Listed => listed.push(path),
                _ => found.push((look.inode.unwrap_or(u64::MAX), path)),
            }
        }
        found.sort_by_key(|(inode, _)| *inode);
        let looked_up = found.into_iter().map(|(_, path)| path).collect();
        Self { looked_up, listed, next: AtomicUsize::new(0) }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.looked_up.len() + self.listed.len()
    }

    /// Looks up one name after the other, beside other threads, until none is left.
    pub(super) fn look_up(&self, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            // What is not there is looked up as well: the program will ask in vain.
            if let Some(path) = self.looked_up.get(at) {
                let _ = path.symlink_metadata();
            } else if let Some(path) = self.listed.get(at - self.looked_up.len()) {
                let _ = std::fs::read_dir(path).map(Iterator::count);
            } else {
                return;
            }
        }
    }
}
