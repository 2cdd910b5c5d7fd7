//! The programs' reports, read from the bytes of their records.

#![expect(clippy::host_endian_bytes, reason = "the kernel writes records for this machine")]

use super::layout::{
    self, CHILD, IDS, KIND, MOST, NUMBER, OPEN, TIME, call, fetched, file, kinds, shared,
};
use super::uring::{RING_READ, RING_SYNC};

const PIPES: u64 = 0x5049_5045;
const SOCKETS: u64 = 0x534f_434b;
const ANONYMOUS: u64 = 0x0904_1934;

/// Whose thread, and when. Numbers of threads are those of the first namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Which {
    /// The process.
    pub pid: i32,
    /// The thread.
    pub tid: i32,
    /// Of the monotonic clock; of a call, when it was entered.
    pub time_ns: u64,
}

/// A system call, or a request of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its number; of a request of a ring [`RING_READ`](super::RING_READ) or another of those.
    pub number: u32,
    /// Whether that is a number of the 32-bit calls.
    pub foreign: bool,
    /// Its six arguments.
    pub arguments: [u64; 6],
    /// When it was left, and with which result; 0 at its entry.
    pub left_ns: u64,
    /// The result, or a negative error number.
    pub result: i64,
    /// The words that the rule asked for.
    pub words: [u64; 2],
    /// The open files that the rule asked for, by their keys; 0 where it asked for no file.
    pub files: [u64; 2],
    /// The position and size of the last file, if the rule asked for them.
    pub position: u64,
    /// The size.
    pub bytes: u64,
}

/// An open file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name: an absolute path without links, or `pipe:[123]` for a pipe.
    pub name: Vec<u8>,
    /// Type and permissions, as `stat` gives them.
    pub mode: u32,
    /// The size.
    pub bytes: u64,
    /// The device of the file system, major and minor.
    pub device: (u32, u32),
    /// The inode.
    pub inode: u64,
    /// The position, before the call that is reported next.
    pub position: u64,
    /// The flags of its open.
    pub flags: i32,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A whole call.
    Called(Which, Call),
    /// A call's entry, for calls that are reported twice or only then.
    Entered(Which, Call),
    /// The exit of a call that was reported at its entry.
    Left(Which, Call),
    /// The path in a call of the thread; the call's end is reported next.
    Text(Which, &'a [u8]),
    /// What is behind a key from now on; whether it has just been opened.
    File(u64, bool, File),
    /// The thread has this directory now.
    Directory(Which, Vec<u8>),
    /// The thread has made another.
    Born {
        /// The maker.
        maker: Which,
        /// The new thread, and its process.
        tid: i32,
        /// The new thread's process.
        pid: i32,
        /// They have one table of descriptors.
        shares_files: bool,
        /// They have one current directory.
        shares_directory: bool,
        /// They have one address space.
        shares_memory: bool,
    },
    /// The thread has executed a program. It had this number before, and has these descriptors.
    Executed(Which, i32, Vec<i32>),
    /// The thread ends.
    Ended(Which),
    /// Pages came into the page cache for the thread.
    Fetched(Which, Fetch),
    /// Results of requests, in a call of the thread whose end is reported next.
    Reaped(Which, Reaped<'a>),
}

/// Results that io_getevents returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reaped<'a>(&'a [u8]);

impl Reaped<'_> {
    /// Of each, the address of the request's block in the program's memory, and the result, or a
    /// negative error number.
    pub fn iter(&self) -> impl Iterator<Item = (u64, i64)> {
        self.0.chunks_exact(layout::reaped::EVENT_BYTES as usize).filter_map(|event| {
            const ADDRESS: i16 = 8;
            const RESULT: i16 = 16;
            Some((word(event, ADDRESS)?, word(event, RESULT)? as i64))
        })
    }
}

/// Pages of a file that came into the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// The device of the file system, major and minor.
    pub device: (u32, u32),
    /// The inode.
    pub inode: u64,
    /// The first page.
    pub page: u64,
    /// How many.
    pub pages: u64,
    /// In which of the reported calls; whether its number is one of the 32-bit calls.
    pub call: Option<(u32, bool)>,
    /// The key of that call's first file; 0 if it has none.
    pub file: u64,
}

impl<'a> Event<'a> {
    // Inlined, since a call's record would be copied from place to place otherwise.
    #[inline]
    pub(super) fn parse(record: &'a [u8]) -> Option<Self> {
        let kind = half(record, KIND)? as i32;
        let number = half(record, NUMBER)?;
        let ids = word(record, IDS)?;
        let time_ns = word(record, TIME)?;
        let which = Which { pid: (ids >> 32) as i32, tid: ids as i32, time_ns };
        Some(match kind {
            kinds::CALLED => Event::Called(which, parse_call(record, number)?),
            kinds::ENTERED => Event::Entered(which, parse_call(record, number)?),
            kinds::LEFT => Event::Left(which, parse_call(record, number)?),
            kinds::TEXT => Event::Text(which, until_zero(record, layout::TEXT_HEADER_BYTES)?),
            kinds::FILE => match word(record, file::KEY)? {
                0 => Event::Directory(which, path(record.get(file::NAME as usize..)?)),
                key => Event::File(key, number != 0, parse_file(record)?),
            },
            kinds::BORN => Event::Born {
                maker: which,
                tid: half(record, CHILD)? as i32,
                pid: half(record, CHILD + 4)? as i32,
                shares_files: number as i32 & shared::FILES != 0,
                shares_directory: number as i32 & shared::DIRECTORY != 0,
                shares_memory: number as i32 & shared::MEMORY != 0,
            },
            kinds::EXECUTED => Event::Executed(which, number as i32, open(record)?),
            kinds::ENDED => Event::Ended(which),
            kinds::FETCHED => Event::Fetched(which, parse_fetch(record, number)?),
            kinds::REAPED => {
                let events = layout::reaped::HEADER_BYTES as usize..;
                Event::Reaped(which, Reaped(record.get(events)?))
            }
            _ => return None,
        })
    }
}

#[inline]
fn parse_call(record: &[u8], number: u32) -> Option<Call> {
    let whole = record.get(..call::NARROW_BYTES as usize)?;
    let wide = |at: i16| word(record, at).unwrap_or(0);
    let argument = |index: usize| wide(call::ARGUMENTS + 8 * index as i16);
    Some(Call {
        number,
        foreign: half(whole, call::CONVENTION)? == 1,
        arguments: std::array::from_fn(argument),
        left_ns: word(whole, call::LEFT)?,
        result: match number {
            RING_READ..=RING_SYNC => i64::from(half(whole, call::RESULT)? as i32),
            _ => word(whole, call::RESULT)? as i64,
        },
        words: [wide(call::WORDS), wide(call::WORDS + 8)],
        files: call::FILES.map(wide),
        position: wide(call::POSITION),
        bytes: wide(call::BYTES),
    })
}

fn parse_fetch(record: &[u8], number: u32) -> Option<Fetch> {
    let convention = half(record, fetched::CONVENTION)?;
    Some(Fetch {
        device: device(half(record, fetched::DEVICE)?),
        inode: word(record, fetched::INODE)?,
        page: word(record, fetched::PAGE)?,
        pages: 1_u64.checked_shl(half(record, fetched::ORDER)?)?,
        call: (convention != fetched::NO_CALL as u32).then_some((number, convention == 1)),
        file: word(record, fetched::FILE)?,
    })
}

/// As the kernel packs them.
fn device(packed: u32) -> (u32, u32) {
    (packed >> 20, packed & 0xf_ffff)
}

fn parse_file(record: &[u8]) -> Option<File> {
    let inode = word(record, file::INODE)?;
    let parts = record.get(file::NAME as usize..)?;
    Some(File {
        name: name(word(record, file::SYSTEM)?, inode, parts),
        mode: half(record, file::MODE)?,
        bytes: word(record, file::BYTES)?,
        device: device(half(record, file::DEVICE)?),
        inode,
        position: word(record, file::POSITION)?,
        flags: half(record, file::FLAGS)? as i32,
    })
}

/// The name as /proc would show it.
fn name(system: u64, inode: u64, parts: &[u8]) -> Vec<u8> {
    match system {
        PIPES => format!("pipe:[{inode}]").into_bytes(),
        SOCKETS => format!("socket:[{inode}]").into_bytes(),
        ANONYMOUS => {
            [b"anon_inode:", path(parts).trim_ascii_start().get(1..).unwrap_or(b"")].concat()
        }
        _ => path(parts),
    }
}

/// An absolute path from its parts, the last part first.
fn path(parts: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(parts.len() + 1);
    let parts = parts.strip_suffix(b"\0").unwrap_or(parts);
    for part in parts.rsplit(|byte| *byte == 0) {
        path.push(b'/');
        path.extend_from_slice(part);
    }
    path
}

/// The numbers of the descriptors that are open.
fn open(record: &[u8]) -> Option<Vec<i32>> {
    let most = half(record, MOST)? as usize;
    let bits = record.get(OPEN as usize..)?;
    let is_open = |fd: &usize| bits[fd / 8] >> (fd % 8) & 1 == 1;
    Some((0..most.min(8 * bits.len())).filter(is_open).map(|fd| fd as i32).collect())
}

fn until_zero(record: &[u8], from: i32) -> Option<&[u8]> {
    let text = record.get(from as usize..)?;
    text.split(|byte| *byte == 0).next()
}

#[inline]
fn word(record: &[u8], at: i16) -> Option<u64> {
    let bytes = record.get(at as usize..at as usize + 8)?;
    Some(u64::from_ne_bytes(bytes.try_into().ok()?))
}

#[inline]
fn half(record: &[u8], at: i16) -> Option<u32> {
    let bytes = record.get(at as usize..at as usize + 4)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_put_together_from_the_root() {
        assert_eq!(path(b"c\0bb\0a\0"), b"/a/bb/c");
        assert_eq!(path(b""), b"/");
        assert_eq!(name(PIPES, 7, b"\0"), b"pipe:[7]");
        assert_eq!(name(ANONYMOUS, 7, b"[eventpoll]\0"), b"anon_inode:[eventpoll]");
        assert_eq!(name(0, 7, b"memfd:x\0"), b"/memfd:x");
    }

    #[test]
    fn a_record_that_is_cut_off_is_none() {
        assert_eq!(Event::parse(&[8, 0, 0, 0]), None);
        let mut ended = [0_u8; 24];
        ended[0] = 8;
        ended[8..16].copy_from_slice(&(5_u64 << 32 | 6).to_ne_bytes());
        let which = Which { pid: 5, tid: 6, time_ns: 0 };
        assert_eq!(Event::parse(&ended), Some(Event::Ended(which)));
    }
}
