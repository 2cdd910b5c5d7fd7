//! Records: what must not be cut apart when a file is read in pieces.

/// Most delimiters lie as near as this.
const NEAR_BYTES: usize = 512;

/// The records of a file: a chunk holds whole ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Records {
    /// Bytes stand alone: chunks may end anywhere.
    #[default]
    None,
    /// A record ends with this byte; the last record may lack it. The edges of cached ranges move
    /// to record boundaries (the paper's Fig. 4).
    Delimiter(u8),
    /// As `Delimiter`, with two bytes that end a record: lines of a text in which a NUL ends one
    /// too.
    Either(u8, u8),
    /// Records of `bytes` (not 0) from byte `origin` on. The bytes before `origin` are one record,
    /// and the last record may be short.
    Fixed {
        /// Where the first record starts.
        origin: u64,
        /// The length of each.
        bytes: u64,
    },
}

/// Where records may be cut, in a piece of a file that starts at `offset`. A cut at `n` lies before
/// byte `n` of the piece.
impl Records {
    /// Whether a record starts at this offset of the file, which is known without looking at the
    /// bytes around it.
    pub(crate) fn starts_at(self, offset: u64) -> bool {
        match self {
            Records::None => true,
            Records::Delimiter(_) | Records::Either(..) => offset == 0,
            Records::Fixed { origin, bytes } => {
                offset == 0
                    || offset
                        .checked_sub(origin)
                        .is_some_and(|after| after.is_multiple_of(bytes.max(1)))
            }
        }
    }

    /// The first place after byte 0 at which a record ends.
    pub(crate) fn first_cut(self, piece: &[u8], offset: u64) -> Option<usize> {
        match self {
            Records::None => (!piece.is_empty()).then_some(1),
            Records::Delimiter(delimiter) => first_delimiter(delimiter, piece).map(|at| at + 1),
            Records::Either(one, other) => first_of_two(one, other, piece).map(|at| at + 1),
            Records::Fixed { origin, bytes } => {
                let bytes = bytes.max(1);
                let next = match offset.checked_sub(origin) {
                    None => origin,
                    Some(after) => {
                        (after / bytes).checked_add(1)?.checked_mul(bytes)?.checked_add(origin)?
                    }
                };
                within(next - offset, piece)
            }
        }
    }

    /// The last place at which a record ends. The end of the piece counts.
    #[must_use]
    pub fn last_cut(self, piece: &[u8], offset: u64) -> Option<usize> {
        match self {
            Records::None => (!piece.is_empty()).then_some(piece.len()),
            Records::Delimiter(delimiter) => last_delimiter(delimiter, piece).map(|at| at + 1),
            Records::Either(one, other) => last_of_two(one, other, piece).map(|at| at + 1),
            Records::Fixed { origin, bytes } => {
                let bytes = bytes.max(1);
                let after = (offset + piece.len() as u64).checked_sub(origin)?;
                let last = origin + after / bytes * bytes;
                last.checked_sub(offset).filter(|&cut| cut > 0).and_then(|cut| within(cut, piece))
            }
        }
    }
}

fn first_delimiter(delimiter: u8, piece: &[u8]) -> Option<usize> {
    let (front, back) = piece.split_at(piece.len().min(NEAR_BYTES));
    match front.iter().position(|&byte| byte == delimiter) {
        Some(at) => Some(at),
        None => memchr::memchr(delimiter, back).map(|at| front.len() + at),
    }
}

/// Most delimiters are near the end, and a simple loop finds them. `memrchr` first asks what the
/// processor supports, which costs more than a small file in a virtual machine.
fn last_delimiter(delimiter: u8, piece: &[u8]) -> Option<usize> {
    let (front, back) = piece.split_at(piece.len().saturating_sub(NEAR_BYTES));
    match back.iter().rposition(|&byte| byte == delimiter) {
        Some(at) => Some(front.len() + at),
        None => memchr::memrchr(delimiter, front),
    }
}

fn first_of_two(one: u8, other: u8, piece: &[u8]) -> Option<usize> {
    let (front, back) = piece.split_at(piece.len().min(NEAR_BYTES));
    match front.iter().position(|&byte| byte == one || byte == other) {
        Some(at) => Some(at),
        None => memchr::memchr2(one, other, back).map(|at| front.len() + at),
    }
}

/// The same for two delimiters.
fn last_of_two(one: u8, other: u8, piece: &[u8]) -> Option<usize> {
    let (front, back) = piece.split_at(piece.len().saturating_sub(NEAR_BYTES));
    match back.iter().rposition(|&byte| byte == one || byte == other) {
        Some(at) => Some(front.len() + at),
        None => memchr::memrchr2(one, other, front),
    }
}

fn within(cut: u64, piece: &[u8]) -> Option<usize> {
    usize::try_from(cut).ok().filter(|&cut| cut <= piece.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_of_two_delimiters_cuts() {
        let records = Records::Either(b'\n', 0);
        for (piece, first, last) in
            [(&b"a\nb\0c"[..], 2, 4), (b"a\0b\nc", 2, 4), (b"a\0b", 2, 2), (b"\n", 1, 1)]
        {
            assert_eq!(
                (records.first_cut(piece, 7), records.last_cut(piece, 7)),
                (Some(first), Some(last))
            );
        }
        assert_eq!((records.first_cut(b"ab", 7), records.last_cut(b"ab", 7)), (None, None));
        let far = [&b"\0"[..], &vec![b'x'; 3 * NEAR_BYTES]].concat();
        assert_eq!(records.last_cut(&far, 7), Some(1));
    }

    #[test]
    fn delimiters_near_and_far_cut() {
        let records = Records::Delimiter(b'\n');
        for length in [0, 1, 2, NEAR_BYTES - 1, NEAR_BYTES, NEAR_BYTES + 1, 3 * NEAR_BYTES] {
            let mut piece = vec![b'x'; length];
            assert_eq!((records.first_cut(&piece, 7), records.last_cut(&piece, 7)), (None, None));
            for at in 0..length {
                piece[at] = b'\n';
                assert_eq!(
                    (records.first_cut(&piece, 7), records.last_cut(&piece, 7)),
                    (Some(at + 1), Some(at + 1))
                );
                piece[at] = b'x';
            }
        }
    }
}
