//! The hash table's application cache: our own cache with LRU, in front of `pread` and `pwrite`.
//! Dirty pages are written when they are evicted and at COMMIT. A cache of 0 pages still holds the
//! present one.

use anyhow::{Context, Result};
use seekless::policy::cache::{Cache, Command, Config, Filled};
use seekless::policy::eviction::{Id, Lru, NEVER, Request, Use};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

pub(super) struct Pages {
    file: File,
    page_bytes: usize,
    cache: Cache<Lru>,
    /// The bytes of the resident pages.
    frames: Vec<Box<[u8]>>,
    commands: Vec<Command>,
}

impl Pages {
    pub(super) fn open(path: &Path, page_bytes: u32, pages: u64) -> Result<Self> {
        let file = File::options().read(true).write(true).open(path)?;
        let count = u32::try_from(file.metadata()?.len() / u64::from(page_bytes))?;
        let capacity = pages.max(1);
        let mut cache = Cache::new(Lru::new(capacity), Config::pages(capacity))?
            .fetch_on_write(true)
            .list_dirty();
        cache.grow(count);
        let frames = vec![Box::default(); count as usize];
        Ok(Self { file, page_bytes: page_bytes as usize, cache, frames, commands: Vec::new() })
    }

    pub(super) fn read(&mut self, page: u32) -> Result<&[u8]> {
        self.ask(page, Use::Read).map(|bytes| &*bytes)
    }

    /// The bytes of a page, for writing.
    pub(super) fn write(&mut self, page: u32) -> Result<&mut [u8]> {
        self.ask(page, Use::Write)
    }

    /// Writes the dirty pages in the order of the file.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.cache.flush(|_| true, &mut self.commands);
        self.commands.sort_unstable_by_key(|&command| match command {
            Command::Fetch(page) | Command::Drop(page) | Command::WriteBack(page) => page,
        });
        self.obey()
    }

    fn ask(&mut self, page: Id, kind: Use) -> Result<&mut [u8]> {
        let request =
            Request { id: page, weight: 1, cost: 1, kind, key: u64::from(page), next_use: NEVER };
        self.cache.step(&request, &mut self.commands);
        self.obey()?;
        Ok(&mut self.frames[page as usize])
    }

    fn obey(&mut self) -> Result<()> {
        let mut position = 0;
        while let Some(&command) = self.commands.get(position) {
            position += 1;
            match command {
                Command::Fetch(page) => {
                    let mut frame = vec![0; self.page_bytes].into_boxed_slice();
                    self.file
                        .read_exact_at(&mut frame, self.offset(page))
                        .context("the hash file is cut short")?;
                    self.frames[page as usize] = frame;
                    self.cache.complete(page, Filled::Yes, &mut self.commands);
                }
                Command::WriteBack(page) => {
                    self.file.write_all_at(&self.frames[page as usize], self.offset(page))?;
                    self.cache.written(page, &mut self.commands);
                }
                Command::Drop(page) => self.frames[page as usize] = Box::default(),
            }
        }
        self.commands.clear();
        Ok(())
    }

    fn offset(&self, page: Id) -> u64 {
        u64::from(page) * self.page_bytes as u64
    }
}
