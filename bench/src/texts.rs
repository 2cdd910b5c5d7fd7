//! Makes text files, removes them, and reads them into the page cache.

use crate::folder::Folder;
use anyhow::Context;
use seekless::sys::residency::resident_bytes;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

impl Folder {
    /// A file of words of 1 to 9 letters in lines of 3 to 15; the same each time.
    pub(crate) fn text(&self, bytes: u64) -> anyhow::Result<PathBuf> {
        let path = self.path().join(format!("text-{bytes}"));
        write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }
}

fn write(path: &Path, bytes: u64) -> std::io::Result<()> {
    let text = words(bytes.min(16 << 20) as usize);
    let mut out = BufWriter::new(File::create(path)?);
    let mut left = bytes as usize;
    while left > 0 {
        let piece = &text[..text.len().min(left)];
        out.write_all(piece)?;
        left -= piece.len();
    }
    // On the device before the first round, so that no write-back disturbs a round.
    out.into_inner()?.sync_all()
}

fn words(bytes: usize) -> Vec<u8> {
    let mut random = 1u64;
    let mut below = |limit: u64| {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % limit
    };
    let mut text = Vec::with_capacity(bytes + 10);
    let mut left = 3;
    while text.len() < bytes {
        for _ in 0..=below(9) {
            text.push(b'a' + below(26) as u8);
        }
        left -= 1;
        text.push(if left == 0 { b'\n' } else { b' ' });
        if left == 0 {
            left = 3 + below(13);
        }
    }
    text.truncate(bytes);
    text
}

/// Reads a file into the page cache. Returns how much of it is there then, if the kernel reports
/// it.
pub(crate) fn warm(path: &Path) -> anyhow::Result<Option<u64>> {
    let mut file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let mut buffer = vec![0; 1 << 20];
    while file.read(&mut buffer)? > 0 {}
    Ok(resident_bytes(file.as_fd())?)
}
