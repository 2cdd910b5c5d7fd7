//! Where the store's file lies on its device, in pages that are numbered closely: neighbours on the
//! device have neighbouring numbers, and a number is left out between pieces that lie apart. Page 0
//! stands for what has no place, as in his program.

use anyhow::{Context, Result};
use seekless::sys::extents::extents;
use std::fs::File;
use std::path::Path;

pub(super) const PAGE_BYTES: u64 = 4096;

/// A file's pieces, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Laid {
    pieces: Vec<Piece>,
    /// Whether the file system has told it.
    told: bool,
}

/// Bytes that lie together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    /// In the file.
    offset: u64,
    bytes: u64,
    /// On the device; later where the device's bytes are numbered closely.
    place: u64,
}

impl Laid {
    /// Looks at a file, which is written back before. Where the file system does not tell, the file
    /// is taken to lie in one piece.
    pub(super) fn of(path: &Path, bytes: u64) -> Result<Self> {
        let failed = || format!("cannot find out where {} lies", path.display());
        let file = File::open(path).with_context(failed)?;
        file.sync_all().with_context(failed)?;
        let found = extents(&file, 0..bytes, usize::MAX).with_context(failed)?;
        let list = found.map_or(Vec::new(), |found| found.list);
        let placed = list.iter().map(|extent| {
            Some(Piece { offset: extent.offset, bytes: extent.bytes, place: extent.place? })
        });
        Ok(match placed.collect::<Option<Vec<Piece>>>() {
            Some(pieces) if !pieces.is_empty() => Self::numbered(joined(pieces), true),
            _ => Self::in_one_piece(bytes),
        })
    }

    pub(super) fn in_one_piece(bytes: u64) -> Self {
        Self::numbered(vec![Piece { offset: 0, bytes, place: 0 }], false)
    }

    fn numbered(mut pieces: Vec<Piece>, told: bool) -> Self {
        let mut by_place: Vec<usize> = (0..pieces.len()).collect();
        by_place.sort_by_key(|&at| pieces[at].place);
        let (mut next, mut last_end) = (PAGE_BYTES, None);
        for at in by_place {
            let Piece { place, bytes, .. } = pieces[at];
            if last_end.is_some_and(|end| end != place) {
                next = next.next_multiple_of(PAGE_BYTES) + PAGE_BYTES + place % PAGE_BYTES;
            }
            pieces[at].place = next;
            next += bytes;
            last_end = Some(place + bytes);
        }
        Self { pieces, told }
    }

    /// The page of a byte of the file; 0 if it has none.
    pub(super) fn page(&self, byte: u64) -> u32 {
        let at = self.pieces.partition_point(|piece| piece.offset + piece.bytes <= byte);
        let piece = self.pieces.get(at).filter(|piece| piece.offset <= byte);
        piece.map_or(0, |piece| ((piece.place + byte - piece.offset) / PAGE_BYTES) as u32)
    }

    /// How many pieces the file lies in; `None` if that is not known.
    pub(super) fn pieces(&self) -> Option<usize> {
        self.told.then_some(self.pieces.len())
    }
}

/// Extents that touch, in the file and on the device, are one piece.
fn joined(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut all: Vec<Piece> = Vec::new();
    for piece in pieces {
        match all.last_mut() {
            Some(last)
                if last.offset + last.bytes == piece.offset
                    && last.place + last.bytes == piece.place =>
            {
                last.bytes += piece.bytes;
            }
            _ => all.push(piece),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(offset: u64, bytes: u64, place: u64) -> Piece {
        Piece { offset: offset * 4096, bytes: bytes * 4096, place: place * 4096 }
    }

    #[test]
    fn pages_are_numbered_as_they_lie_with_a_number_between_what_is_apart() {
        let extents = vec![piece(0, 2, 900), piece(2, 1, 902), piece(3, 2, 100), piece(6, 1, 102)];
        let laid = Laid::numbered(joined(extents), true);
        let pages: Vec<u32> = (0..8).map(|page| laid.page(page * 4096 + 17)).collect();
        assert_eq!(pages, [5, 6, 7, 1, 2, 0, 3, 0]);
        assert_eq!(laid.pieces(), Some(3));
    }

    #[test]
    fn a_file_on_a_disk_has_a_place_for_each_page() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, vec![1; 40_960]).unwrap();
        let laid = Laid::of(&path, 40_960).unwrap();
        let pages: std::collections::BTreeSet<u32> =
            (0..10).map(|page| laid.page(page * 4096)).collect();
        assert_eq!((pages.len(), pages.contains(&0)), (10, false));
    }
}
