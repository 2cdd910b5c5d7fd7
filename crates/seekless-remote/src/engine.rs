//! The engine: opens objects, and reads ranges of them.

use crate::cached::Through;
use crate::disk::{Cached, DiskCache};
use crate::object::{Object, tail};
use crate::provider::Providers;
use crate::range::Client;
use crate::runtime::Runtime;
use crate::{Access, Settings, Version, object};
use object_store::{GetOptions, GetRange};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use seekless_device::Costs;
use seekless_engine::{
    AlignedBuf, Completion, Counters, Done, Engine, ObjectName, Opened, Read, Scheme, Write,
};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Reads objects in object storage, and leaves files to another engine.
pub struct Remote {
    client: Arc<Client>,
    providers: Mutex<Providers>,
    /// The objects that are open, and what stands for them in reads.
    open: Mutex<Vec<(Arc<File>, Arc<Object>)>>,
    files: Arc<dyn Engine>,
    cache: Option<Arc<DiskCache>>,
    // Last, so that what it runs is dropped after nothing that it needs.
    runtime: Runtime,
}

impl Remote {
    /// An engine that reads files by `files`. Credentials are looked for when the first object of a
    /// bucket is opened.
    ///
    /// # Errors
    /// The thread for the requests cannot be started.
    pub fn new(files: Arc<dyn Engine>, access: Access, settings: Settings) -> io::Result<Self> {
        Ok(Self {
            client: Arc::new(Client::new(settings)),
            providers: Mutex::new(Providers::new(access)),
            open: Mutex::default(),
            files,
            cache: None,
            runtime: Runtime::start()?,
        })
    }

    /// Also reads from a cache on the local disk, and keeps there what is asked for. A request is
    /// then widened to whole sectors of 4 KiB. While they are read, missing ranges take twice
    /// their size in memory. Objects without a strong ETag are not kept.
    #[must_use]
    pub fn with_disk_cache(self, cache: DiskCache) -> Self {
        Self { cache: Some(Arc::new(cache)), ..self }
    }

    /// The cache on the local disk, if there is one.
    #[must_use]
    pub fn disk_cache(&self) -> Option<&DiskCache> {
        self.cache.as_deref()
    }

    /// What the disk cache has of the object for which `file` stands. This asks for nothing.
    /// `None` if there is no cache, or it can have nothing of this object.
    ///
    /// # Errors
    /// The cache cannot be read.
    pub fn cached(&self, file: &Arc<File>) -> io::Result<Option<Cached>> {
        let Some(object) = self.object(file) else { return Ok(None) };
        let Some(Through { cache, key }) = self.through(&object) else { return Ok(None) };
        let ranges = cache.ranges(&key, object.bytes())?;
        Ok(Some(Cached { path: cache.path().to_owned(), ranges }))
    }

    /// The version of the object for which `file` stands; `None` if `file` is a file.
    #[must_use]
    pub fn version(&self, file: &Arc<File>) -> Option<Version> {
        self.object(file).map(|object| object.version())
    }

    /// How an object is read through the disk cache.
    fn through(&self, object: &Object) -> Option<Through> {
        Some(Through { cache: self.cache.clone()?, key: object.key()? })
    }

    /// How many requests were made a second time because they were late.
    #[must_use]
    pub fn hedges(&self) -> u64 {
        self.client.learned.hedges()
    }

    fn open_object(&self, name: &ObjectName, tail_bytes: u64) -> io::Result<Opened> {
        let at = lock(&self.providers).locate(name)?;
        let (client, scheme) = (self.client.clone(), name.scheme());
        let (object, content) = self.runtime.wait(async move {
            let ask = match scheme {
                // It answers no suffix range, so the size is asked for first.
                Scheme::Az => {
                    let ask = GetOptions { head: true, ..GetOptions::default() };
                    let (head, _) = client.first(&at, ask).await?;
                    let bytes = head.meta.size;
                    let range = GetRange::Bounded(bytes.saturating_sub(tail_bytes)..bytes);
                    GetOptions { if_match: head.meta.e_tag, ..GetOptions::new() }
                        .with_range(Some(range))
                }
                _ => tail(tail_bytes.max(1)),
            };
            let (head, content) = client.first(&at, ask).await?;
            Ok((Object::new(at, head.meta), content))
        })?;
        let mut tail = AlignedBuf::try_with_capacity(content.len())?;
        tail.whole_mut().copy_from_slice(&content);
        tail.set_len(content.len());
        let (file, bytes) = (Arc::new(placeholder()?), object.bytes());
        let mut open = lock(&self.open);
        open.retain(|(file, _)| Arc::strong_count(file) > 1);
        open.push((file.clone(), Arc::new(object)));
        Ok(Opened { file, bytes, tail })
    }

    /// The object for which `file` stands; `None` if it is a file.
    fn object(&self, file: &Arc<File>) -> Option<Arc<Object>> {
        let open = lock(&self.open);
        let found = open.iter().find(|(opened, _)| Arc::ptr_eq(opened, file));
        found.map(|(_, object)| object.clone())
    }

    fn start(&self, object: Arc<Object>, read: Read) {
        let Read { offset, buffer, tag, done, .. } = read;
        let (client, through) = (self.client.clone(), self.through(&object));
        let mut pending = Pending { tag, done: Some(done), buffer, cached: false };
        self.runtime.spawn(async move {
            let there = object.bytes().saturating_sub(offset);
            let asked = pending.buffer.capacity() as u64;
            let result = match (object::length(asked.min(there)), through) {
                (Ok(bytes), Some(through)) if bytes > 0 => {
                    let buffer = &mut pending.buffer;
                    let asked = through.read(&client, &object, offset, buffer, bytes).await;
                    pending.cached = matches!(asked, Ok(false));
                    asked.map(|_| bytes)
                }
                (Ok(bytes), _) => {
                    let into = &mut pending.buffer.whole_mut()[..bytes];
                    client.read(&object, offset, into).await.map(|()| bytes)
                }
                (Err(error), _) => Err(error),
            };
            pending.complete(result);
        });
    }
}

/// A descriptor that nothing can be read from, which stands for an object.
fn placeholder() -> io::Result<File> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    Ok(rustix::fs::open("/", flags, Mode::empty())?.into())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A read on its way. Dropped before its end, it completes as cancelled.
struct Pending {
    tag: u64,
    done: Option<Done>,
    buffer: AlignedBuf,
    /// It took no request.
    cached: bool,
}

impl Pending {
    fn complete(&mut self, result: io::Result<usize>) {
        let Some(done) = self.done.take() else { return };
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.set_len(*result.as_ref().unwrap_or(&0));
        // The receiver may be gone, which is no error.
        done.send(Completion { tag: self.tag, buffer, result, cached: self.cached });
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.complete(Err(Errno::CANCELED.into()));
    }
}

impl Engine for Remote {
    fn submit(&self, reads: Vec<Read>) {
        let mut of_files = Vec::new();
        for read in reads {
            match self.object(&read.file) {
                Some(object) => self.start(object, read),
                None => of_files.push(read),
            }
        }
        if !of_files.is_empty() {
            self.files.submit(of_files);
        }
    }

    fn write(&self, writes: Vec<Write>) {
        self.files.write(writes);
    }

    fn open(&self, path: &Path, tail_bytes: u64) -> Option<io::Result<Opened>> {
        let name = ObjectName::parse(path)?;
        Some(name.and_then(|name| self.open_object(&name, tail_bytes)))
    }

    fn counters(&self) -> Counters {
        let (of_files, (requests, bytes)) = (self.files.counters(), self.client.counted());
        Counters {
            requests: of_files.requests + requests,
            bytes: of_files.bytes + bytes,
            exact: of_files.exact,
        }
    }

    fn name(&self) -> &'static str {
        "range requests"
    }

    fn costs(&self) -> Costs {
        self.client.learned.costs()
    }

    fn near(&self, file: &Arc<File>) -> Vec<Range<u64>> {
        // What cannot be read is not there.
        let cached = self.cached(file).ok().flatten();
        let mut near: Vec<Range<u64>> = Vec::new();
        for range in cached.iter().flat_map(|cached| &cached.ranges) {
            match near.last_mut() {
                Some(last) if last.end == range.offset => last.end = range.end(),
                _ => near.push(range.offset..range.end()),
            }
        }
        near
    }

    fn learned_costs(&self) -> Option<Costs> {
        Some(self.client.learned.costs())
    }

    /// They are what requests have shown so far; those to come may show others.
    fn knows_costs(&self) -> bool {
        false
    }
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Remote").field("client", &self.client).finish_non_exhaustive()
    }
}
