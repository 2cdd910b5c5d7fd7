//! Reads past the page cache, so that what is in it stays: in the best way that the kernel and the
//! file system support.

use seekless_sys::reads::{Caching, fill};
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// How a range that is not cached is read. The way that leaves the cache alone best comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    /// Past the page cache (O_DIRECT).
    Direct,
    /// Through it, leaving nothing (RWF_DONTCACHE).
    Leave,
    /// Exactly the range, through the page cache, where neither of the two is supported.
    Exact,
}

impl Way {
    /// The next plainer way, if the error says that this one is not supported here. A file system
    /// may accept O_DIRECT at the open and refuse the read with EINVAL.
    pub(crate) fn plainer(self, error: &io::Error) -> Option<Way> {
        if !matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput) {
            return None;
        }
        match self {
            Way::Direct => Some(Way::Leave),
            Way::Leave => Some(Way::Exact),
            Way::Exact => None,
        }
    }

    /// How a read through a plain descriptor treats the cache then.
    pub(crate) fn caching(self) -> Caching {
        if self == Way::Leave { Caching::Leave } else { Caching::Usual }
    }
}

/// Reads past the cache through a plain descriptor, and remembers whether that is supported here.
#[derive(Debug, Default)]
pub(crate) struct Bypass {
    refused: AtomicBool,
}

impl Bypass {
    /// Reads until the buffer is full or the file ends; returns the number of bytes. Nothing stays
    /// in the cache where that is supported.
    pub(crate) fn fill(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut way = if self.refused.load(Ordering::Relaxed) { Way::Exact } else { Way::Leave };
        loop {
            match fill(file, buffer, offset, way.caching()) {
                Err(error) => way = way.plainer(&error).ok_or(error)?,
                Ok(read) => {
                    self.refused.store(way == Way::Exact, Ordering::Relaxed);
                    return Ok(read);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn only_a_way_that_is_not_known_is_followed_by_a_plainer_one() {
        let error = |code| io::Error::from_raw_os_error(code);
        let (invalid, io_error) = (error(22), error(5));
        assert_eq!(Way::Direct.plainer(&invalid), Some(Way::Leave));
        assert_eq!(Way::Leave.plainer(&io::ErrorKind::Unsupported.into()), Some(Way::Exact));
        assert_eq!(Way::Exact.plainer(&invalid), None);
        assert_eq!(Way::Direct.plainer(&io_error), None);
    }

    #[test]
    fn a_read_is_that_of_pread_whether_the_way_is_known_or_not() {
        let mut file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        file.write_all(b"0123456789").unwrap();
        for refused in [false, true] {
            let bypass = Bypass { refused: AtomicBool::new(refused) };
            let mut buffer = [0; 8];
            assert_eq!(bypass.fill(&file, &mut buffer, 4).unwrap(), 6);
            assert_eq!(&buffer[..6], b"456789");
            assert!(bypass.fill(&file, &mut buffer, u64::MAX).is_err());
        }
    }
}
