//! The descriptors of a file. They are the reader's own, so that advice about them does not affect
//! other readers of the file.

use seekless_sys::descriptor::by_descriptor;
use seekless_sys::direct;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::time::SystemTime;

/// What must divide the offset, length and address of a direct read here.
pub(super) const DIRECT_BYTES: u64 = 4096;

#[derive(Clone, Debug)]
pub(super) struct Opened {
    pub(super) buffered: Arc<File>,
    /// Opened when first needed; `None` inside where the file system refuses it.
    direct: Option<Option<Arc<File>>>,
    /// Opened when first needed.
    ahead: Option<Arc<File>>,
}

/// What identifies a file, and shows whether it was cut short.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    pub(super) device: u64,
    inode: u64,
    /// The time of birth, if the file system keeps it: an inode's number may be used again.
    born: Option<SystemTime>,
    pub(super) bytes: u64,
}

impl Opened {
    pub(super) fn new(file: File) -> Self {
        Opened { buffered: Arc::new(file), direct: None, ahead: None }
    }

    /// Turns readahead off. It would fetch what was not asked for, and leave markers that set off
    /// more of it.
    pub(super) fn advise_random(&self) {
        let _ = rustix::fs::fadvise(&*self.buffered, 0, None, rustix::fs::Advice::Random);
    }

    /// The descriptor for filling a cache that has room. It has readahead, which brings in large
    /// folios. A file cached by exact reads lies in single pages, and to ask about it or to map it
    /// costs several times as much.
    pub(super) fn ahead(&mut self) -> Arc<File> {
        let buffered = &self.buffered;
        let open = || {
            File::open(by_descriptor(&**buffered)).map_or_else(|_| Arc::clone(buffered), Arc::new)
        };
        Arc::clone(self.ahead.get_or_insert_with(open))
    }

    /// The descriptor for reads past the page cache, if the file system supports such reads of
    /// whole pages.
    pub(super) fn direct(&mut self) -> Option<Arc<File>> {
        let buffered = &self.buffered;
        self.direct
            .get_or_insert_with(|| {
                let alignment = direct::alignment(buffered.as_fd()).ok()?;
                if u64::from(alignment.memory_bytes.max(alignment.offset_bytes)) > DIRECT_BYTES {
                    return None;
                }
                direct::open_direct(&by_descriptor(&**buffered)).ok().flatten().map(Arc::new)
            })
            .clone()
    }

    /// Another descriptor of the same file, positioned at `offset`.
    pub(super) fn stream_from(&self, offset: u64) -> io::Result<File> {
        let stream = File::open(by_descriptor(&*self.buffered))?;
        rustix::fs::seek(&stream, rustix::fs::SeekFrom::Start(offset))?;
        Ok(stream)
    }
}

impl Stamp {
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let about = file.metadata()?;
        Ok(Stamp::from(&about))
    }

    /// Whether `now` is the same file, and no byte was cut off it. Times, and bytes that were
    /// appended, say nothing about the bytes that were there.
    pub(super) fn is_kept_by(&self, now: &Stamp) -> bool {
        (self.device, self.inode, self.born) == (now.device, now.inode, now.born)
            && now.bytes >= self.bytes
    }
}

impl From<&Metadata> for Stamp {
    fn from(about: &Metadata) -> Self {
        Stamp {
            device: about.dev(),
            inode: about.ino(),
            born: about.created().ok(),
            bytes: about.len(),
        }
    }
}
