//! Large stored files, read through our page cache. Its readahead follows each stream of reads,
//! forward, backward, strided or interleaved with others, and fetches before the program asks
//! (`streams`, after Wu 2010). The kernel's own readahead reaches no further than it lets a FUSE
//! file system, and knows no other direction than forward.

use seekless_io::Store;
use seekless_page_cache::{File, PageCache};
use seekless_policy::readahead::{Options, named};
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::sync::OnceLock;

/// The cache of these files. It is made when the first is opened.
pub(crate) struct Streams {
    bytes: u64,
    cache: OnceLock<Option<PageCache>>,
}

/// A stored file that is open.
pub(crate) struct Streamed {
    pack: File,
    /// Where the file's content lies in the pack.
    content: Range<u64>,
}

impl Streams {
    /// In this much memory; with 0 no file is opened.
    pub(crate) fn new(bytes: u64) -> Self {
        Self { bytes, cache: OnceLock::new() }
    }

    /// Opens a file of a store. `None` if it is not stored, or cannot be read in this way.
    pub(crate) fn open(&self, store: &Store, name: &str) -> Option<Streamed> {
        let cache = self.cache.get_or_init(|| self.made(store)).as_ref()?;
        let at = store.stored_at(name).ok()??;
        // By its name another file might be found: the pack may have been replaced.
        let pack = cache.open(format!("/proc/self/fd/{}", at.pack.as_raw_fd())).ok()?;
        Some(Streamed { pack, content: at.offset..at.offset.checked_add(at.bytes)? })
    }

    fn made(&self, store: &Store) -> Option<PageCache> {
        let readahead = named("streams", Options::with_max_bytes(self.bytes / 4)).ok()?;
        let costs = store.statistics().costs;
        PageCache::builder().bytes(self.bytes).readahead(readahead).costs(costs).build().ok()
    }
}

impl Streamed {
    /// The bytes `wanted` of the file; `None` if they cannot be read.
    pub(crate) fn read(&self, wanted: &Range<u64>) -> Option<Vec<u8>> {
        let Range { start, end } = self.content;
        let at = start.checked_add(wanted.start)?;
        let bytes = wanted.end.min(end - start).checked_sub(wanted.start)?;
        let mut buffer = vec![0; usize::try_from(bytes).ok()?];
        let mut filled = 0;
        while filled < buffer.len() {
            match self.pack.read_at(&mut buffer[filled..], at + filled as u64) {
                Ok(0) | Err(_) => return None,
                Ok(read) => filled += read,
            }
        }
        // The kernel caches what it asked for: the room is for what it has not asked for yet.
        self.pack.wont_need(at..at + bytes);
        Some(buffer)
    }
}
