//! The form of the cache's file: where what lies. A file of another form is replaced.

use super::key::Key;
use rustix::fs::OFlags;
use rustix::process::{Resource, getrlimit};
use seekless_sys::lock_folder;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::Path;
use twox_hash::XxHash64;

/// The file's name in its folder.
pub(super) const NAME: &str = "objects";
/// What becomes the file when it is whole.
const MADE: &str = "objects.new";

/// What is checked and kept at once.
pub(super) const SECTOR: u64 = 4096;
/// What has a tag.
pub(super) const BLOCK: u64 = 256 << 10;
pub(super) const SECTORS: usize = (BLOCK / SECTOR) as usize;
/// Places of a set.
pub(super) const WAYS: usize = 16;

pub(super) const TAG: usize = 32;
pub(super) const TAGS: usize = WAYS * TAG;
pub(super) const SUM: usize = 8;
pub(super) const SUMS: usize = SECTORS * SUM;
pub(super) const SET: usize = TAGS + WAYS * SUMS;

const HEADER: u64 = 4096;
const MAGIC: &[u8; 16] = b"seekless objects";
const VERSION: u32 = 1;
const SETS_AT: u64 = 20;
/// No file is so large; what is computed from fewer fits into 64 bits.
const SETS_MAX: u64 = 1 << 40;
/// Magic, version, number of sets, and a checksum of these.
const HEADER_USED: usize = 16 + 4 + 8 + 8;

/// Where what lies in a file of this many sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) sets: u64,
}

impl Form {
    /// The largest that fits into `bytes`, but one set at least.
    pub(super) fn within(bytes: u64) -> Self {
        // What lies before the places is rounded up to a block.
        let rest = bytes.saturating_sub(HEADER + BLOCK);
        Self { sets: (rest / (SET as u64 + WAYS as u64 * BLOCK)).max(1) }
    }

    /// The set in which a block may lie. Neighbouring blocks lie in neighbouring sets, so an object
    /// fills all sets alike.
    pub(super) fn set_of(self, key: &Key, block: u64) -> u64 {
        key.spread().wrapping_add(block) % self.sets
    }

    pub(super) fn tags_at(self, set: u64) -> u64 {
        HEADER + set * SET as u64
    }

    pub(super) fn tag_at(self, set: u64, way: usize) -> u64 {
        self.tags_at(set) + (way * TAG) as u64
    }

    pub(super) fn sums_at(self, set: u64, way: usize) -> u64 {
        self.tags_at(set) + (TAGS + way * SUMS) as u64
    }

    /// Where the content of a place begins. The same ways of neighbouring sets lie side by side.
    pub(super) fn place_at(self, set: u64, way: usize) -> u64 {
        let first = (HEADER + self.sets * SET as u64).next_multiple_of(BLOCK);
        first + (way as u64 * self.sets + set) * BLOCK
    }

    pub(super) fn file_bytes(self) -> u64 {
        self.place_at(self.sets - 1, WAYS - 1) + BLOCK
    }

    fn header(self) -> [u8; HEADER_USED] {
        let mut header = [0; HEADER_USED];
        header[..16].copy_from_slice(MAGIC);
        header[16..20].copy_from_slice(&VERSION.to_le_bytes());
        header[20..28].copy_from_slice(&self.sets.to_le_bytes());
        let sum = XxHash64::oneshot(0, &header[..28]);
        header[28..].copy_from_slice(&sum.to_le_bytes());
        header
    }
}

/// Opens the file of this form, or makes it. Of several processes that find none, one makes it.
pub(super) fn open(folder: &Path, form: Form) -> io::Result<(File, Form)> {
    // A write beyond this limit would end the process.
    if getrlimit(Resource::Fsize).current.is_some_and(|limit| limit < form.file_bytes()) {
        let message = "it is larger than this process may make a file (ulimit -f)";
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let _lock = lock_folder(folder)?;
    let path = folder.join(NAME);
    match with(OpenOptions::new().read(true).write(true)).open(&path) {
        Ok(file) if is_of(&file, form)? => return Ok((file, form)),
        Ok(file) if is_ours(&file) => {}
        Ok(_) => {
            let message = "its file `objects` is no disk cache of Seekless: name another folder";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let made = folder.join(MADE);
    let file = with(OpenOptions::new().read(true).write(true).create(true).truncate(true))
        .mode(0o600)
        .open(&made)?;
    file.set_len(form.file_bytes())?;
    file.write_all_at(&form.header(), 0)?;
    fs::rename(&made, &path)?;
    Ok((file, form))
}

/// Opens the file, of any size; `None` if the folder has no file of this version.
pub(super) fn existing(folder: &Path) -> io::Result<Option<(File, Form)>> {
    let file = match with(OpenOptions::new().read(true).write(true)).open(folder.join(NAME)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut sets = [0; 8];
    if file.read_exact_at(&mut sets, SETS_AT).is_err() {
        return Ok(None);
    }
    let form = Form { sets: u64::from_le_bytes(sets) };
    let is_sound = form.sets > 0 && form.sets < SETS_MAX && is_of(&file, form)?;
    Ok(is_sound.then_some((file, form)))
}

/// Follows no link, and waits for no pipe.
fn with(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
}

fn is_of(file: &File, form: Form) -> io::Result<bool> {
    let about = file.metadata()?;
    let mut header = [0; HEADER_USED];
    let has_header = about.is_file() && file.read_exact_at(&mut header, 0).is_ok();
    Ok(has_header && header == form.header() && about.len() == form.file_bytes())
}

/// Whether it is such a cache of any size and version, or the rest of one.
fn is_ours(file: &File) -> bool {
    let mut magic = [0; MAGIC.len()];
    file.read_exact_at(&mut magic, 0).is_ok() && magic == *MAGIC
}
