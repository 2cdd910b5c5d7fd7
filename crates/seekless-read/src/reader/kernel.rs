//! What the reader asks of the system, behind a trait: tests put their own page cache, short reads
//! and failing devices there.

use super::learned::ReadCost;
use super::price::Price;
use super::schedule::Charge;
use crate::headroom::{self, Headroom};
use crate::touch::{TOUCH_MAX, runs_by_touch};
use seekless_sled::{Devices, Error, Position, Sled, Survey, Surveyor};
use seekless_sys::folios;
use seekless_sys::guarded::GuardedMap;
use seekless_sys::reads::{self, Caching};
use seekless_sys::residency::{self, PageRun, Pages};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// A file that is not opened, since that might recall it.
#[derive(Clone, Debug)]
pub(super) struct Closed {
    pub(super) sleds: Vec<Sled>,
    /// Where its archive keeps it.
    pub(super) position: Option<Position>,
}

pub(super) trait Kernel: Send + Sync + std::fmt::Debug {
    /// Which parts of the range are cached; `None` if unknown. If `touch`, it may touch pages where
    /// only that helps.
    fn runs(
        &self,
        file: &File,
        range: Range<u64>,
        grain: u64,
        touch: bool,
    ) -> io::Result<Option<Vec<PageRun>>> {
        if touch {
            runs_by_touch(file, range, grain)
        } else {
            residency::runs(file.as_fd(), range, grain)
        }
    }

    /// How many pages of the range are cached, or were; `None` if unknown.
    fn count(&self, file: &File, range: Range<u64>) -> Option<Pages> {
        residency::count(file.as_fd(), range.start, range.end - range.start).ok()
    }

    /// Whether [`count`](Self::count) costs next to nothing.
    fn is_seen(&self, file: &File) -> bool {
        residency::is_seen(file.as_fd()).unwrap_or(false)
    }

    fn read_at(
        &self,
        file: &File,
        buffer: &mut [u8],
        offset: u64,
        caching: Caching,
    ) -> io::Result<usize> {
        reads::read_at(file, buffer, offset, caching)
    }

    /// Drops a range that was read through the cache and is not to stay there. A failure is
    /// ignored: it costs cached pages of others.
    fn drop_range(&self, file: &File, range: Range<u64>) {
        let _ = residency::drop_range(file.as_fd(), range);
    }

    /// Brings a range into the cache, a whole folio or the last part of one that the file has.
    /// `None` where a read must do it.
    fn bring_in(&self, file: &File, folio: Range<u64>) -> Option<GuardedMap> {
        folios::bring_in(file, folio)
    }

    /// A mapping; `None` where a copy is better. Of pages that leave the cache before they are used
    /// a mapping asks a server one by one, a copy all at once.
    fn map(&self, file: &File, offset: u64, bytes: usize) -> Option<GuardedMap> {
        if residency::is_served(file.as_fd()) {
            return None;
        }
        GuardedMap::new(file, offset, bytes)
    }

    /// What the file's device charges, by the device table; nothing if unknown.
    fn charge(&self, path: &Path) -> Charge {
        let home = Surveyor::new().and_then(|mut surveyor| surveyor.home(path));
        home.map_or_else(
            |_| Charge::default(),
            |(_, row)| {
                let latency = Duration::from_nanos(row.at(0).latency_ns);
                Charge { latency, price: Price::of_device(latency, row.at(0).bytes_per_second) }
            },
        )
    }

    /// A file that opening might recall, by the user's rules; `None` if it may be opened.
    fn closed(&self, _: &Path) -> Result<Option<Closed>, Error> {
        Ok(None)
    }

    /// The SLEDs of an open file that one of the user's rules is about; `None` if none is.
    fn ruled(&self, _: &Path, _: &File) -> Result<Option<Vec<Sled>>, Error> {
        Ok(None)
    }

    /// Opens a file, which recalls it from its archive.
    fn recall(&self, path: &Path) -> io::Result<File> {
        File::open(path)
    }

    /// Whether a page of the file may be touched to see whether it is cached. Not where a touch
    /// costs over a millisecond.
    fn may_touch(&self, path: &Path) -> bool {
        let home = Surveyor::new().and_then(|mut surveyor| surveyor.home(path));
        home.is_ok_and(|(_, row)| u128::from(row.at(0).latency_ns) <= TOUCH_MAX.as_nanos())
    }

    /// Refines the device table by the cost of a read, if the device was ever measured. A failure
    /// is ignored: it does not affect what is read.
    fn learn(&self, path: &Path, cost: ReadCost) {
        let keep = || -> Result<(), Error> {
            let key = Surveyor::new()?.home(path)?.0.key;
            let table = Devices::path()?;
            if Devices::read(&table)?.entry(&key).is_some() {
                Devices::update(&table, |devices| {
                    devices.refine(&key, cost.bytes, cost.elapsed_ns)
                })?;
            }
            Ok(())
        };
        let _ = keep();
    }

    /// How full the cache is.
    fn headroom(&self) -> Option<Headroom> {
        headroom::tightest()
    }
}

/// The system itself.
#[derive(Debug, Default)]
pub(super) struct Linux {
    /// Asked about rules; `None` inside if the user has none.
    rules: OnceLock<Result<Option<Mutex<Surveyor>>, Error>>,
}

impl Linux {
    fn ask(
        &self,
        ask: impl FnOnce(&mut Surveyor) -> Result<Option<Survey>, Error>,
    ) -> Result<Option<Survey>, Error> {
        let rules = self.rules.get_or_init(|| Ok(Surveyor::if_ruled()?.map(Mutex::new)));
        let Some(surveyor) = rules.as_ref().map_err(Error::again)? else { return Ok(None) };
        let mut surveyor = surveyor.lock().unwrap_or_else(PoisonError::into_inner);
        ask(&mut surveyor)
    }
}

impl Kernel for Linux {
    fn closed(&self, path: &Path) -> Result<Option<Closed>, Error> {
        let survey = self.ask(|surveyor| surveyor.closed(path))?;
        Ok(survey.map(|survey| Closed { sleds: survey.sleds, position: survey.position }))
    }

    fn ruled(&self, path: &Path, file: &File) -> Result<Option<Vec<Sled>>, Error> {
        let survey = self.ask(|surveyor| surveyor.ruled(path, file))?;
        Ok(survey.map(|survey| survey.sleds))
    }
}
