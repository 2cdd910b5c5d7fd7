//! Words of a piece of text whose neighbours are not known yet: an element of a monoid.
//!
//! A word is what lies between two separators and holds at least one printable character, so a piece without a separator
//! only says whether it holds one.

/// What a piece of text knows of its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Words {
    /// A separator was seen: the piece has a first and a last stretch.
    pub(crate) separated: bool,
    /// The stretch before the first separator holds something printable; meaningful when `separated`.
    pub(crate) head: bool,
    /// Stretches that a separator ended and that hold something printable, the first of them included.
    pub(crate) closed: u64,
    /// The stretch after the last separator (all of the piece if there is none) holds something printable.
    pub(crate) open: bool,
}

impl Words {
    /// What both know when `next` follows.
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

    /// The words when nothing comes before or after.
    pub(crate) fn total(self) -> u64 {
        self.closed + u64::from(self.open)
    }

    /// A separator follows.
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
