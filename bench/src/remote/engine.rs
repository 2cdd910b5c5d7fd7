//! What our own client loads: by our store, and file by file, which is the least that any client of
//! single files can take.

use super::means::{Loaded, Means};
use super::prepared::{PACK, TAR, Wanted};
use super::storage::BUCKET;
use anyhow::{Context, ensure};
use seekless::device::Costs;
use seekless::engine::{AlignedBuf, Engine, Opened, automatic};
use seekless::io::Store;
use seekless::measure::Checksum;
use seekless::remote::{Remote, Settings};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The name of an object.
pub(super) fn pack_name(key: &str) -> String {
    format!("s3://{BUCKET}/{key}")
}

impl Means<'_> {
    fn engine(&self) -> anyhow::Result<Arc<Remote>> {
        Ok(Arc::new(Remote::new(automatic(), self.storage.access(), Settings::default())?))
    }

    /// Our store, which finds out by itself what requests cost, unless it is told.
    pub(super) fn store(&self, predict: bool, costs: Option<Costs>) -> anyhow::Result<Store> {
        let builder = Store::builder().cache(self.args.cache << 20).predict(predict);
        let builder = builder.shared_engine(self.engine()?);
        let builder = costs.into_iter().fold(builder, |builder, costs| builder.costs(costs));
        Ok(builder.open(pack_name(PACK))?)
    }

    pub(super) fn on_demand(&self, predict: bool) -> anyhow::Result<Loaded> {
        let began = Instant::now();
        let store = self.store(predict, None)?;
        self.load_each(&store, began)
    }

    /// Loads one file after another.
    pub(super) fn load_each(&self, store: &Store, began: Instant) -> anyhow::Result<Loaded> {
        let mut delivered = Checksum::default();
        for (place, wanted) in (0..).zip(&self.prepared.wanted) {
            delivered.add(place, &store.load(&wanted.name)?);
        }
        self.all(began, delivered)
    }

    pub(super) fn listed(&self) -> anyhow::Result<Loaded> {
        let began = Instant::now();
        let store = self.store(false, None)?;
        self.load_all(&store, began)
    }

    /// Loads all files as one list.
    pub(super) fn load_all(&self, store: &Store, began: Instant) -> anyhow::Result<Loaded> {
        let mut delivered = Checksum::default();
        let names = self.prepared.wanted.iter().map(|wanted| wanted.name.as_str());
        for (place, content) in store.load_many(names) {
            delivered.add(place as u64, &content?);
        }
        self.all(began, delivered)
    }

    /// An object a file.
    pub(super) fn gets(&self, at_once: usize) -> anyhow::Result<Loaded> {
        let began = Instant::now();
        let engine = self.engine()?;
        self.by_threads(began, at_once, |wanted| {
            // An empty object has no last byte to ask for, and needs no request.
            if wanted.bytes == 0 {
                return Ok(AlignedBuf::default());
            }
            let key = pack_name(&wanted.key());
            let opened = engine.open(Path::new(&key), wanted.bytes).context("no object")??;
            Ok(opened.tail)
        })
    }

    /// Ranges of one object, from an index that the client has.
    pub(super) fn ranges(&self, at_once: usize) -> anyhow::Result<Loaded> {
        let began = Instant::now();
        let engine = self.engine()?;
        let opened = engine.open(Path::new(&pack_name(TAR)), 1).context("no object")??;
        let Opened { file, .. } = opened;
        self.by_threads(began, at_once, |wanted| {
            let buffer = AlignedBuf::with_capacity(wanted.bytes as usize);
            let (buffer, result) = engine.read_now(file.clone(), wanted.tar_offset, buffer);
            result?;
            Ok(buffer)
        })
    }

    /// Loads by this many threads, each the next file that none has taken.
    fn by_threads(
        &self,
        began: Instant,
        at_once: usize,
        load: impl Fn(&Wanted) -> anyhow::Result<AlignedBuf> + Sync,
    ) -> anyhow::Result<Loaded> {
        let (next, all) = (AtomicUsize::new(0), Mutex::new((0, Checksum::default())));
        let work = || -> anyhow::Result<()> {
            let (mut files, mut delivered) = (0, Checksum::default());
            while began.elapsed() < self.limit() {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(wanted) = self.prepared.wanted.get(place) else { break };
                let content = load(wanted)?;
                let bytes = content.len() as u64;
                ensure!(bytes == wanted.bytes, "{}: {bytes} bytes came", wanted.name);
                delivered.add(place as u64, &content);
                files += 1;
            }
            let (of_all, sum) = &mut *all.lock().unwrap_or_else(PoisonError::into_inner);
            *of_all += files;
            sum.merge(delivered);
            Ok(())
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..at_once).map(|_| scope.spawn(work)).collect();
            threads.into_iter().try_for_each(|thread| match thread.join() {
                Ok(result) => result,
                Err(_) => anyhow::bail!("a thread died"),
            })
        })?;
        let (files, delivered) = all.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.some(began, files, delivered)
    }
}
