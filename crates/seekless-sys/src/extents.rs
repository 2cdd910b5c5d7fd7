//! Where a file's bytes lie on its device, and where the file has holes: FIEMAP (Linux 2.6.28). It
//! moves no data and needs only an open file.

use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// `_IOWR('f', 11, struct fiemap)`.
const FS_IOC_FIEMAP: u64 = 0xC020_660B;
/// Extents asked for in the first call. Most files have fewer, and clearing room for many costs
/// more than the call.
const FIRST: usize = 4;
/// Extents asked for in each later call.
const BATCH: usize = 128;

const LAST: u32 = 0x1;
const UNKNOWN: u32 = 0x2;
const INLINE: u32 = 0x200;
const TAIL: u32 = 0x400;
const DELAYED: u32 = 0x4;
const ENCODED: u32 = 0x8;
const NOT_ALIGNED: u32 = 0x100;
const UNWRITTEN: u32 = 0x800;

/// An allocated range of a file. The ranges between extents are holes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// First byte in the file.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// The first byte on the file system's device. `None` if the extent has no place yet, or no
    /// plain one (compressed, inline).
    pub place: Option<u64>,
    /// Whether the extent is reserved but unwritten, and reads as zeros without the device.
    pub unwritten: bool,
    /// Why there is no place; `None` if there is one.
    pub placeless: Option<Placeless>,
}

/// Why an extent has no place on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Placeless {
    /// The data lies among other data, mostly in the file's inode.
    Inline,
    /// The data is compressed or encrypted, so that its bytes are not those of the file.
    Encoded,
    /// The file system has not chosen a place yet: the data is only in memory.
    Delayed,
    /// The file system does not say.
    Unknown,
}

/// The allocated ranges of part of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extents {
    /// In order of offset. The first and the last may extend beyond the range asked for.
    pub list: Vec<Extent>,
    /// The end of what was answered: the range's end, or an earlier offset if there were more
    /// extents than the limit.
    pub end: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct RawExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

#[repr(C)]
struct Request<const COUNT: usize> {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extents: [RawExtent; COUNT],
}

/// The extents of `range`, at most about `limit` of them. `None` where the file system does not say
/// (tmpfs, FUSE, NFS). Delayed allocations are not written back for it.
///
/// # Errors
/// The file is not open, or its block map cannot be read.
pub fn extents(file: impl AsFd, range: Range<u64>, limit: usize) -> io::Result<Option<Extents>> {
    let mut answer = Extents { list: Vec::new(), end: range.start };
    while answer.end < range.end {
        if answer.list.len() >= limit {
            return Ok(Some(answer));
        }
        let asked = answer.end..range.end;
        let result = match answer.list.is_empty() {
            true => ask::<FIRST>(file.as_fd(), asked, &mut answer),
            false => ask::<BATCH>(file.as_fd(), asked, &mut answer),
        };
        if let Err(error) = result {
            return refused(error);
        }
    }
    Ok(Some(answer))
}

/// Makes one call: adds its extents, and moves the end of what was answered.
fn ask<const COUNT: usize>(
    file: BorrowedFd<'_>,
    range: Range<u64>,
    answer: &mut Extents,
) -> io::Result<()> {
    let mut request = Request {
        start: range.start,
        length: range.end - range.start,
        flags: 0,
        mapped: 0,
        count: COUNT as u32,
        reserved: 0,
        extents: [RawExtent::default(); COUNT],
    };
    // SAFETY: the request is a live structure of the kernel's layout with room for the `count`
    // extents it states, and the kernel writes nowhere else.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP as _, &raw mut request) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    let found = &request.extents[..(request.mapped as usize).min(COUNT)];
    answer.list.extend(found.iter().map(extent));
    let last = found.last().filter(|last| last.flags & LAST == 0);
    answer.end = match last {
        // A file system that answers with extents before the range asked for would make the caller
        // ask for ever.
        Some(last) if last.logical.saturating_add(last.length) <= range.start => range.end,
        Some(last) => last.logical.saturating_add(last.length).min(range.end),
        None => range.end,
    };
    Ok(())
}

fn refused(error: io::Error) -> io::Result<Option<Extents>> {
    match error.raw_os_error() {
        Some(
            libc::EOPNOTSUPP
            | libc::ENOTTY
            | libc::EINVAL
            | libc::ENOSYS
            | libc::EBADR
            | libc::EPERM,
        ) => Ok(None),
        _ => Err(error),
    }
}

fn extent(raw: &RawExtent) -> Extent {
    let placeless = placeless(raw.flags);
    Extent {
        offset: raw.logical,
        bytes: raw.length,
        place: placeless.is_none().then_some(raw.physical),
        unwritten: raw.flags & UNWRITTEN != 0,
        placeless,
    }
}

/// Delayed and encoded extents are flagged as unknown too, and inline ones as not aligned.
fn placeless(flags: u32) -> Option<Placeless> {
    let has = |flag: u32| flags & flag != 0;
    match () {
        () if has(INLINE | TAIL) => Some(Placeless::Inline),
        () if has(ENCODED) => Some(Placeless::Encoded),
        () if has(DELAYED) => Some(Placeless::Delayed),
        () if has(UNKNOWN | NOT_ALIGNED) => Some(Placeless::Unknown),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    fn on_a_disk() -> std::fs::File {
        tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap()
    }

    #[test]
    fn a_hole_of_a_tebibyte_has_no_extents_but_that_of_its_last_byte() {
        let file = on_a_disk();
        file.set_len(1 << 40).unwrap();
        file.write_all_at(b"x", 1 << 39).unwrap();
        file.sync_all().unwrap();
        let Some(found) = extents(&file, 0..1 << 40, 1000).unwrap() else {
            eprintln!("skipped: the file system does not show its extents");
            return;
        };
        assert_eq!(found.end, 1 << 40);
        let [only] = found.list[..] else { panic!("{found:?}") };
        assert!(only.offset <= 1 << 39 && only.offset + only.bytes > 1 << 39, "{only:?}");
        assert!(!only.unwritten && only.place.is_some(), "{only:?}");
    }

    #[test]
    fn what_is_reserved_and_never_written_says_so() {
        let file = on_a_disk();
        let reserved =
            rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, 1 << 20);
        let found = extents(&file, 0..1 << 20, 1000).unwrap();
        let (Ok(()), Some(found)) = (reserved, found) else {
            eprintln!("skipped: the file system reserves nothing or does not say so");
            return;
        };
        assert!(
            !found.list.is_empty() && found.list.iter().all(|extent| extent.unwritten),
            "{found:?}"
        );
    }

    #[test]
    fn the_limit_holds_and_says_how_far_the_answer_goes() {
        let file = on_a_disk();
        for piece in 0..300 {
            file.write_all_at(&[1; 4096], piece * 65536).unwrap();
        }
        file.sync_all().unwrap();
        let Some(all) = extents(&file, 0..300 * 65536, usize::MAX).unwrap() else {
            eprintln!("skipped: the file system does not show its extents");
            return;
        };
        assert_eq!((all.list.len(), all.end), (300, 300 * 65536));
        let some = extents(&file, 0..300 * 65536, 100).unwrap().unwrap();
        assert_eq!(some.list[..], all.list[..FIRST + BATCH]);
        assert_eq!(some.end, (FIRST + BATCH - 1) as u64 * 65536 + 4096);
    }

    #[test]
    fn each_flag_says_why_there_is_no_place() {
        assert_eq!(placeless(LAST | UNWRITTEN), None);
        assert_eq!(placeless(LAST | INLINE | NOT_ALIGNED), Some(Placeless::Inline));
        assert_eq!(placeless(DELAYED | UNKNOWN | UNWRITTEN), Some(Placeless::Delayed));
        assert_eq!(placeless(ENCODED), Some(Placeless::Encoded));
        assert_eq!(placeless(NOT_ALIGNED), Some(Placeless::Unknown));
    }

    #[test]
    fn a_pipe_has_none_and_says_so() {
        let (reader, _writer) = io::pipe().unwrap();
        assert_eq!(extents(&reader, 0..10, 10).unwrap(), None);
    }
}
