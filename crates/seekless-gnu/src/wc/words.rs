//! The words of a piece of text whose neighbours are not known yet: an element of a monoid.
//!
//! A word is a stretch between two separators that holds at least one printable character. So a
//! piece without a separator only says whether it holds a printable character.

/// What a piece of text says about its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Words {
    /// The piece holds a separator, and so a first and a last stretch.
    pub(crate) separated: bool,
    /// The stretch before the first separator holds a printable character; only valid if
    /// `separated`.
    pub(crate) head: bool,
    /// Stretches that end at a separator and hold a printable character, including the first one.
    pub(crate) closed: u64,
    /// The stretch after the last separator holds a printable character. Without a separator, that
    /// stretch is the whole piece.
    pub(crate) open: bool,
}

impl Words {
    /// Joins this piece with its successor.
    pub(crate) fn join(self, next: Words) -> Words {
        if !next.separated {
            return Words { open: self.open | next.open, ..self };
        }
        let between = self.open | next.head;
        Words {
            separated: true,
            head: if self.separated { self.head } else { between },
            closed: self.closed + next.closed - u64::from(next.head) + u64::from(between),
            open: next.open,
        }
    }

    /// The words if this piece is the whole text.
    pub(crate) fn total(self) -> u64 {
        self.closed + u64::from(self.open)
    }

    /// Appends a separator.
    #[inline]
    pub(crate) fn separator(&mut self) {
        if !self.separated {
            self.separated = true;
            self.head = self.open;
        }
        self.closed += u64::from(self.open);
        self.open = false;
    }
}
