//! Where the entries of all sources lie in the common space.

use super::{Error, Id, Source};
use seekless_pack::Index;
use seekless_policy::layout::extents::Extent;
use std::sync::Arc;

/// The least gap between two sources, or two loose files: more than one read of several entries may
/// cover. A power of two.
const GAP_BYTES: u64 = 1 << 30;

/// The extents of the sources so far. A single pack may have millions of entries, so its extents
/// are made where they stay.
#[derive(Default)]
pub(super) struct Extents {
    /// All of them, if they are those of one pack.
    first: Option<Arc<[Extent]>>,
    /// Else all of them.
    all: Vec<Extent>,
}

impl Extents {
    /// Adds those of a source. Returns the number of its first entry, and where it begins.
    pub(super) fn lay_out(&mut self, source: &Source) -> Result<(Id, u64), Error> {
        if let Some(first) = self.first.take() {
            self.all = first.to_vec();
        }
        let base = behind(&self.all);
        let first = Id::try_from(self.all.len() + source.len())
            .map(|end| end - source.len() as Id)
            .map_err(|_| Error::open(source.path(), "the store would have over 2^32 files"))?;
        match source {
            Source::Archive(archive) if self.all.is_empty() => {
                self.first = Some(of(&archive.index, base).collect());
            }
            Source::Archive(archive) => self.all.extend(of(&archive.index, base)),
            Source::Folder(folder) => {
                for file in &folder.files {
                    // An empty file is read like one of a byte; none comes.
                    let extent = Extent { offset: behind(&self.all), bytes: file.bytes.max(1) };
                    self.all.push(extent);
                }
            }
        }
        Ok((first, base))
    }

    pub(super) fn finish(self) -> Arc<[Extent]> {
        self.first.unwrap_or_else(|| self.all.into())
    }
}

/// Those of a pack that begins at `base`.
fn of(index: &Index, base: u64) -> impl ExactSizeIterator<Item = Extent> + '_ {
    (0..index.len() as u32).map(move |number| {
        let extent = index.extent(number);
        Extent { offset: base.saturating_add(extent.start), bytes: extent.end - extent.start }
    })
}

/// Where the next source begins.
fn behind(extents: &[Extent]) -> u64 {
    extents.last().map_or(0, |last| last.end().saturating_add(2 * GAP_BYTES) & !(GAP_BYTES - 1))
}
