//! The programs' reports, read from the bytes of their records.

#![expect(clippy::host_endian_bytes, reason = "the kernel writes records for this machine")]

use super::layout::{
    BASE, DEVICE, FILE, FIRST, IDS, KIND, LAST, PAGES_BYTES, PAGES_IDS, RESULT, TEXT, TIME, kinds,
};

/// A file or directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FileId {
    /// The device of the file system, as the kernel numbers it.
    pub device: u32,
    /// The inode.
    pub inode: u64,
}

impl FileId {
    /// By the major and minor number of the device.
    #[must_use]
    pub fn new(major: u32, minor: u32, inode: u64) -> Self {
        Self { device: major << 20 | minor & 0xf_ffff, inode }
    }

    /// Major and minor number of the device.
    #[must_use]
    pub fn device(self) -> (u32, u32) {
        (self.device >> 20, self.device & 0xf_ffff)
    }
}

/// How pages are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A call, or a request of a ring, reads them.
    Read,
    /// They are mapped as far as they are cached, since one of them was touched.
    Window,
    /// One page was touched that was not mapped with others.
    Fault,
}

/// Something that happened, at a time of the monotonic clock in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// Pages of a file are needed, some of them for the first time.
    Pages {
        /// When.
        time_ns: u64,
        /// By which process.
        pid: i32,
        /// How.
        kind: Kind,
        /// Of which file.
        file: FileId,
        /// The first page.
        first: u64,
        /// The last page, which may lie behind the file's end.
        last: u64,
    },
    /// A call with a name has ended.
    Named {
        /// When.
        time_ns: u64,
        /// Its process.
        pid: i32,
        /// The name, as the program passed it.
        name: &'a [u8],
        /// From where a relative one goes, if that is known.
        base: Option<FileId>,
        /// The file that it opened.
        opened: Option<FileId>,
        /// The result, or a negative error number.
        result: i64,
    },
    /// A process has another current directory, or could not get it.
    Moved {
        /// When.
        time_ns: u64,
        /// The process.
        pid: i32,
        /// The name, as the program passed it: a relative one goes from the former directory.
        name: &'a [u8],
        /// The current directory now.
        folder: FileId,
        /// 0, or a negative error number.
        result: i64,
    },
    /// A folder was listed.
    Listed {
        /// When.
        time_ns: u64,
        /// Which.
        folder: FileId,
    },
    /// A program was executed, or the interpreter of a script.
    Executed {
        /// When.
        time_ns: u64,
        /// Its process.
        pid: i32,
        /// The name, as the program passed it.
        name: &'a [u8],
        /// From where a relative one goes.
        base: Option<FileId>,
    },
}

impl<'a> Event<'a> {
    pub(super) fn parse(record: &'a [u8]) -> Option<Self> {
        let kind = half(record, KIND)? as i32;
        let time_ns = word(record, TIME)?;
        let pages = |kind| {
            let whole = record.get(..PAGES_BYTES as usize)?;
            let (first, last) = (word(whole, FIRST)?, word(whole, LAST)?);
            let pid = (word(whole, PAGES_IDS)? >> 32) as i32;
            Some(Event::Pages { time_ns, pid, kind, file: file(whole, FILE)?, first, last })
        };
        let pid = |record| Some((word(record, IDS)? >> 32) as i32);
        match kind {
            kinds::READ => pages(Kind::Read),
            kinds::WINDOW => pages(Kind::Window),
            kinds::FAULT => pages(Kind::Fault),
            kinds::NAMED => Some(Event::Named {
                time_ns,
                pid: pid(record)?,
                name: text(record)?,
                base: known(file(record, BASE)?),
                opened: known(file(record, FILE)?),
                result: word(record, RESULT)? as i64,
            }),
            kinds::MOVED => Some(Event::Moved {
                time_ns,
                pid: pid(record)?,
                name: text(record)?,
                folder: known(file(record, BASE)?)?,
                result: word(record, RESULT)? as i64,
            }),
            kinds::LISTED => Some(Event::Listed { time_ns, folder: known(file(record, BASE)?)? }),
            kinds::EXECUTED => Some(Event::Executed {
                time_ns,
                pid: pid(record)?,
                name: text(record)?,
                base: known(file(record, BASE)?),
            }),
            _ => None,
        }
    }
}

fn known(file: FileId) -> Option<FileId> {
    (file.inode != 0).then_some(file)
}

fn file(record: &[u8], at: i16) -> Option<FileId> {
    Some(FileId { inode: word(record, at)?, device: half(record, at + DEVICE)? })
}

fn text(record: &[u8]) -> Option<&[u8]> {
    record.get(TEXT as usize..)?.split(|byte| *byte == 0).next()
}

fn word(record: &[u8], at: i16) -> Option<u64> {
    let bytes = record.get(at as usize..at as usize + 8)?;
    Some(u64::from_ne_bytes(bytes.try_into().ok()?))
}

fn half(record: &[u8], at: i16) -> Option<u32> {
    let bytes = record.get(at as usize..at as usize + 4)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}
