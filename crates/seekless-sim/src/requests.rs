//! A trace as a cache sees it: which page or file is asked for, one after another, by dense ids.

mod pages;

use crate::{Error, ErrorKind, Result};
use seekless_policy::eviction::Id;
use seekless_trace::Loads;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Bytes of a page.
pub(crate) const PAGE_BYTES: u64 = 4096;

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// A whole file, which weighs its bytes.
    File,
    /// A page of 4096 bytes.
    Page,
}

impl fmt::Display for Unit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Unit::File => "file",
            Unit::Page => "page",
        })
    }
}

impl FromStr for Unit {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        match word {
            "file" => Ok(Unit::File),
            "page" => Ok(Unit::Page),
            _ => Err(Error::new(
                ErrorKind::Usage,
                format!("no unit is called {word:?}; there are file and page"),
            )),
        }
    }
}

/// The requests of one or more traces in order. 4 bytes a request, and 8 an id where weights differ.
#[derive(Clone, Debug)]
pub struct Requests {
    unit: Unit,
    ids: Vec<Id>,
    /// Weight of each id; empty if all weigh 1.
    weights: Vec<u64>,
    distinct: u32,
    distinct_weight: u64,
}

impl Requests {
    /// Reads traces (anything that [`open_any`](seekless_trace::open_any) opens) one after another; files are joined by
    /// name. In file units a request is a load, in page units each page of a read, write or fault is one, and a load only
    /// where its run has no such calls for the file. `progress` hears of rows.
    ///
    /// # Errors
    /// A trace cannot be read, or has more pages or requests than 2^32.
    pub fn read(traces: &[PathBuf], unit: Unit, progress: &mut dyn FnMut(u64, u64)) -> Result<Self> {
        match unit {
            Unit::File => Ok(Self::from_loads(&Loads::read(traces)?)),
            Unit::Page => pages::read(traces, progress),
        }
    }

    /// The loads of all runs, one run after another; each file weighs the largest size that it was seen with.
    #[must_use]
    pub fn from_loads(loads: &Loads) -> Self {
        let files: Vec<Id> = loads.runs.iter().flatten().map(|load| load.file).collect();
        Self::from_files(&files, &loads.bytes)
    }

    /// Requests for files by number; `bytes` is the size of each number.
    ///
    /// # Panics
    /// If a number has no size.
    #[must_use]
    pub fn from_files(files: &[Id], bytes: &[u64]) -> Self {
        let weights = if bytes.iter().all(|&weight| weight == 1) { Vec::new() } else { bytes.to_vec() };
        Self::new(Unit::File, files.to_vec(), weights)
    }

    /// Requests for pages by number.
    #[must_use]
    pub fn from_pages(pages: Vec<Id>) -> Self {
        Self::new(Unit::Page, pages, Vec::new())
    }

    fn new(unit: Unit, ids: Vec<Id>, weights: Vec<u64>) -> Self {
        let mut requests = Self { unit, ids, weights, distinct: 0, distinct_weight: 0 };
        let mut seen = vec![false; requests.id_limit() as usize];
        for &id in &requests.ids {
            if !std::mem::replace(&mut seen[id as usize], true) {
                requests.distinct += 1;
                requests.distinct_weight += requests.weight(id);
            }
        }
        requests
    }

    /// What a request asks for.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// How many requests there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// How many different pages or files are asked for.
    #[must_use]
    pub fn distinct(&self) -> u32 {
        self.distinct
    }

    /// What they weigh together.
    #[must_use]
    pub fn distinct_weight(&self) -> u64 {
        self.distinct_weight
    }

    /// The id of each request.
    #[must_use]
    pub fn ids(&self) -> &[Id] {
        &self.ids
    }

    /// The weight of an id: bytes of a file, 1 for a page.
    #[inline]
    #[must_use]
    pub fn weight(&self, id: Id) -> u64 {
        if self.weights.is_empty() { 1 } else { self.weights[id as usize] }
    }

    /// Whether every id weighs 1: pages, or bare ids.
    #[must_use]
    pub fn unit_weights(&self) -> bool {
        self.weights.is_empty()
    }

    /// Every id is below this.
    #[must_use]
    pub fn id_limit(&self) -> u32 {
        self.ids.iter().max().map_or(0, |&id| id + 1)
    }

    /// Bytes of a unit of weight.
    #[must_use]
    pub(crate) fn unit_bytes(&self) -> u64 {
        match self.unit {
            Unit::File => 1,
            Unit::Page => PAGE_BYTES,
        }
    }
}
