//! What must not be cut apart when a file is read in pieces.

/// The records of a file: a chunk holds whole ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Records {
    /// Bytes stand alone: chunks may end anywhere.
    #[default]
    None,
    /// A record ends with this byte; the last may lack it. The edges of cached ranges are pulled in to record boundaries (the paper's Fig. 4).
    Delimiter(u8),
    /// Records of `bytes` (not 0) from byte `origin` on; what lies before `origin` is one record, and the last may be short.
    Fixed {
        /// Where the first record starts.
        origin: u64,
        /// The length of each.
        bytes: u64,
    },
}

/// Where records may be cut, in a piece of a file that starts at `offset`. A cut at `n` lies before byte `n` of the piece.
impl Records {
    /// Whether a record is known to start here, whatever the bytes around say.
    pub(crate) fn starts_at(self, offset: u64) -> bool {
        match self {
            Records::None => true,
            Records::Delimiter(_) => offset == 0,
            Records::Fixed { origin, bytes } => {
                offset == 0
                    || offset.checked_sub(origin).is_some_and(|after| after.is_multiple_of(bytes.max(1)))
            }
        }
    }

    /// The first place after byte 0 at which a record ends.
    pub(crate) fn first_cut(self, piece: &[u8], offset: u64) -> Option<usize> {
        match self {
            Records::None => (!piece.is_empty()).then_some(1),
            Records::Delimiter(delimiter) => memchr::memchr(delimiter, piece).map(|at| at + 1),
            Records::Fixed { origin, bytes } => {
                let bytes = bytes.max(1);
                let next = match offset.checked_sub(origin) {
                    None => origin,
                    Some(after) => (after / bytes).checked_add(1)?.checked_mul(bytes)?.checked_add(origin)?,
                };
                within(next - offset, piece)
            }
        }
    }

    /// The last place, its end included, at which a record ends.
    pub(crate) fn last_cut(self, piece: &[u8], offset: u64) -> Option<usize> {
        match self {
            Records::None => (!piece.is_empty()).then_some(piece.len()),
            Records::Delimiter(delimiter) => memchr::memrchr(delimiter, piece).map(|at| at + 1),
            Records::Fixed { origin, bytes } => {
                let bytes = bytes.max(1);
                let after = (offset + piece.len() as u64).checked_sub(origin)?;
                let last = origin + after / bytes * bytes;
                last.checked_sub(offset).filter(|&cut| cut > 0).and_then(|cut| within(cut, piece))
            }
        }
    }
}

fn within(cut: u64, piece: &[u8]) -> Option<usize> {
    usize::try_from(cut).ok().filter(|&cut| cut <= piece.len())
}
