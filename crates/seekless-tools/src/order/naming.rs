//! How an order learns which files name which.

use crate::pack::relative_to;
use crate::references::{self, Mentions, learn, scan_folder};
use seekless_job::{Error, Result};
use seekless_policy::eviction::Id;
use seekless_policy::foresight::references::References;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Says which files name which and how sure that is, as far as some runs show it. It is given the
/// loads of each run, oldest first, with files by the numbers of the order.
///
/// An order is judged on runs that it was not made from. So this is called for each set of runs
/// that an order is made from, and must go by these runs alone.
pub type Learn = Arc<dyn Fn(&[&[Id]]) -> References + Send + Sync>;

/// Learns from the mentions in this many files.
pub(crate) fn learner(mentions: Mentions, files: usize) -> Learn {
    Arc::new(move |runs: &[&[Id]]| learn(&mentions, files as u32, runs))
}

/// A way to find out which files name which, before their names are known.
#[derive(Clone)]
pub struct Naming(Arc<Find>);

type Find = dyn Fn(&[String], &[u64]) -> Result<Learn> + Send + Sync;

impl Naming {
    /// By `find`, which is called once with the name and the bytes of each file, by the number that
    /// the order gives it. Names are escaped as in a trace.
    pub fn new(find: impl Fn(&[String], &[u64]) -> Result<Learn> + Send + Sync + 'static) -> Self {
        Naming(Arc::new(find))
    }

    /// By the content of the files, whose names are relative to `dir` or begin with it. Those that
    /// lie elsewhere are not read, nor are those that cannot be. Set `cancel` to give up.
    /// `progress` gets the bytes that are done, and all.
    #[must_use]
    pub fn in_folder(
        dir: &Path,
        cancel: &Arc<AtomicBool>,
        progress: impl Fn(u64, u64) + Send + Sync + 'static,
    ) -> Self {
        let (dir, cancel) = (dir.to_owned(), Arc::clone(cancel));
        Self::new(move |names, bytes| {
            let dir = dir.canonicalize().map_err(|error| Error::unreadable(&dir, error))?;
            let below = |name: &String| relative_to(&dir, name).unwrap_or_else(|| name.clone());
            let below: Vec<String> = names.iter().map(below).collect();
            let files = references::Files { names: &below, bytes };
            let mentions = scan_folder(&dir, files, &cancel, &mut |done, all| progress(done, all))?;
            Ok(learner(mentions, names.len()))
        })
    }

    /// What learns of the files with these names and bytes.
    ///
    /// # Errors
    /// Those of what was given to [`Naming::new`].
    pub fn of(&self, names: &[String], bytes: &[u64]) -> Result<Learn> {
        (self.0)(names, bytes)
    }
}

impl fmt::Debug for Naming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Naming").finish_non_exhaustive()
    }
}
