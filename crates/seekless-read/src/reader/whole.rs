//! Files one after the other, for a program that works on whole files, such as an image with its
//! headers: what is here comes first, what must be recalled from an archive last.

use super::archive::Stub;
use super::kernel::{Kernel, Linux};
use super::recall::{RECALLS_MAX, Recalled, Recalls};
use crate::{Error, Plan, Reach};
use seekless_sled::{Confidence, Level, Survey, Surveyor};
use std::collections::VecDeque;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Hands out files, each once: those that are here in the order given, those with a part in an
/// archive after them, and those that opening recalls when all these have been worked on. A recall
/// begins only then, or at once under [`Reach::recall`]. A file with a byte beyond the bounds is
/// left out whole, and not opened.
///
/// ```
/// use seekless_read::{Reach, WholeFile, WholeFiles};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("image");
/// # std::fs::write(&path, "pixels")?;
/// for file in WholeFiles::new(vec![path.clone()], Reach::default()) {
///     match file {
///         WholeFile::Ready { number, held } => {
///             assert_eq!((number, std::fs::read(&path)?.len()), (0, 6));
///             drop(held); // from now on it may return to its archive
///         }
///         WholeFile::LeftOut { bytes, .. } => println!("{bytes} bytes were left out"),
///         WholeFile::Failed { error, .. } => return Err(error.into()),
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct WholeFiles {
    paths: Vec<PathBuf>,
    reach: Reach,
    plan: Plan,
    kernel: Arc<dyn Kernel>,
    recalls: Recalls,
    /// Files that may be opened, those that were left out, and those that failed.
    ready: VecDeque<WholeFile>,
    is_surveyed: bool,
}

/// One of the files, by its number in the order given.
#[derive(Debug)]
pub enum WholeFile {
    /// It may be opened.
    Ready {
        /// Its number.
        number: usize,
        /// The file, if it was recalled. It is not archived again while this is open.
        held: Option<File>,
    },
    /// It is beyond the bounds, and was not opened.
    LeftOut {
        /// Its number.
        number: usize,
        /// Its size.
        bytes: u64,
        /// Whether the system could not say if its bytes are cached.
        unknown: bool,
    },
    /// It could not be examined or recalled.
    Failed {
        /// Its number.
        number: usize,
        /// Why.
        error: Error,
    },
}

impl WholeFiles {
    /// These files, of which nothing is opened that lies beyond `reach`.
    #[must_use]
    pub fn new(paths: Vec<PathBuf>, reach: Reach) -> Self {
        WholeFiles::over(paths, reach, Arc::new(Linux::default()))
    }

    pub(super) fn over(paths: Vec<PathBuf>, reach: Reach, kernel: Arc<dyn Kernel>) -> Self {
        let recalls = Recalls::new(Arc::clone(&kernel));
        let (plan, ready) = (Plan::Best, VecDeque::new());
        WholeFiles { paths, reach, plan, kernel, recalls, ready, is_surveyed: false }
    }

    /// The same files in this order: [`Plan::Linear`] is the order given, archived or not.
    #[must_use]
    pub fn in_order(self, plan: Plan) -> Self {
        WholeFiles { plan, ..self }
    }

    /// Looks at all files, and opens none that opening might recall.
    fn survey(&mut self) {
        // Without rules and bounds all files are here and near enough.
        let mut surveyor = match self.reach.is_bounded() {
            true => Surveyor::new().map(Some),
            false => Surveyor::if_ruled(),
        };
        let mut in_part = VecDeque::new();
        for number in 0..self.paths.len() {
            let looked = match &mut surveyor {
                Ok(surveyor) => self.look(number, surveyor.as_mut()),
                Err(error) => Err(error.again()),
            };
            match looked {
                Ok(Place::InPart | Place::Archived(_)) if self.plan == Plan::Linear => {
                    self.ready.push_back(WholeFile::Ready { number, held: None });
                }
                Ok(Place::Here) => self.ready.push_back(WholeFile::Ready { number, held: None }),
                Ok(Place::InPart) => in_part.push_back(WholeFile::Ready { number, held: None }),
                Ok(Place::Archived(stub)) => self.recalls.push(number, stub),
                Ok(Place::Beyond { bytes, unknown }) => {
                    self.ready.push_back(WholeFile::LeftOut { number, bytes, unknown });
                }
                Err(error) => {
                    let error = Error::from(error);
                    self.ready.push_back(WholeFile::Failed { number, error });
                }
            }
        }
        self.ready.append(&mut in_part);
    }

    fn look(
        &self,
        number: usize,
        surveyor: Option<&mut Surveyor>,
    ) -> Result<Place, seekless_sled::Error> {
        let path = &self.paths[number];
        if !is_file(path) || (self.plan == Plan::Linear && !self.reach.is_bounded()) {
            return Ok(Place::Here);
        }
        if let Some(closed) = self.kernel.closed(path)? {
            return Ok(match Stub::within(&self.reach, closed) {
                Err(bytes) => Place::Beyond { bytes, unknown: false },
                Ok(stub) => Place::Archived(stub),
            });
        }
        let Some(surveyor) = surveyor else { return Ok(Place::Here) };
        let survey = surveyor.path(path)?;
        let beyond = Place::Beyond { bytes: survey.bytes, unknown: !is_known(&survey) };
        Ok(match survey.bytes_at(Level::Archive) {
            _ if self.is_beyond(&survey) => beyond,
            0 => Place::Here,
            _ => Place::InPart,
        })
    }

    /// Whether a byte of a file is beyond the bounds.
    fn is_beyond(&self, survey: &Survey) -> bool {
        if self.reach.cached_only {
            return survey.sleds.iter().any(|sled| sled.level > Level::Memory) || !is_known(survey);
        }
        let farthest = survey.sleds.iter().map(|sled| sled.latency).max().unwrap_or_default();
        self.reach.leaves_out(farthest, survey.delivery_time(Plan::Best, None).high)
    }

    fn begin_recalls(&mut self) {
        let paths = &self.paths;
        self.recalls.begin(RECALLS_MAX, |file| paths.get(file).cloned());
    }

    fn recalled(&self, recalled: Recalled) -> WholeFile {
        let Recalled { file: number, opened } = recalled;
        match opened {
            Ok(file) => WholeFile::Ready { number, held: Some(file) },
            Err(error) => {
                let error = Error::open(error).of_file(&self.paths[number]);
                WholeFile::Failed { number, error }
            }
        }
    }
}

/// Where a file lies.
enum Place {
    Here,
    /// Part of it lies in an archive; opening it recalls nothing.
    InPart,
    Archived(Stub),
    Beyond {
        bytes: u64,
        unknown: bool,
    },
}

/// A stream, a folder or a missing file has no SLEDs; opening it says what is wrong.
fn is_file(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|about| about.is_file())
}

/// Whether the system has said of each page whether it is cached.
fn is_known(survey: &Survey) -> bool {
    survey.sleds.iter().all(|sled| sled.confidence == Confidence::Exact)
}

impl Iterator for WholeFiles {
    type Item = WholeFile;

    fn next(&mut self) -> Option<WholeFile> {
        if !std::mem::replace(&mut self.is_surveyed, true) {
            self.survey();
        }
        if self.reach.recall || self.ready.is_empty() {
            self.begin_recalls();
        }
        if let Some(file) = self.ready.pop_front() {
            return Some(file);
        }
        let recalled = self.recalls.wait()?;
        self.begin_recalls(); // while this one is worked on
        Some(self.recalled(recalled))
    }
}
