//! The longest line, in columns, of a piece of text whose neighbours are not known yet: an element
//! of a monoid.
//!
//! A piece may continue a line that began before it, at a column that is not known yet. A tab moves
//! to the next multiple of eight. So the effect of a piece is: add columns; if it holds a tab, move
//! to a tab stop; add columns again. Columns after the first tab do not depend on the start, since
//! eight divides every tab stop.

const TAB: u64 = 8;

/// The effect of text without a line end on the column at which it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Stretch {
    /// Columns before the first tab.
    before: u64,
    /// Columns after the first tab stop; `None` without a tab.
    after: Option<u64>,
}

/// What a piece of text says about the columns of its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Columns {
    /// The stretch up to the first line end.
    first: Stretch,
    /// If the piece holds a line end: the longest line that begins and ends in it, and the stretch
    /// after the last line end.
    rest: Option<(u64, Stretch)>,
}

impl Stretch {
    #[inline]
    fn add(&mut self, columns: u64) {
        *self.after.as_mut().unwrap_or(&mut self.before) += columns;
    }

    #[inline]
    fn tab(&mut self) {
        self.after = Some(self.after.map_or(0, stop));
    }

    fn then(self, next: Stretch) -> Stretch {
        match (self.after, next.after) {
            (None, _) => Stretch { before: self.before + next.before, after: next.after },
            (Some(after), None) => Stretch { after: Some(after + next.before), ..self },
            (Some(after), Some(last)) => {
                Stretch { after: Some(stop(after + next.before) + last), ..self }
            }
        }
    }

    /// The column at its end if it starts at column 0.
    fn end(self) -> u64 {
        self.after.map_or(self.before, |after| stop(self.before) + after)
    }
}

/// The tab stop after a column.
fn stop(column: u64) -> u64 {
    column + TAB - column % TAB
}

impl Columns {
    /// Appends printable characters.
    #[inline]
    pub(crate) fn add(&mut self, columns: u64) {
        self.last().add(columns);
    }

    /// Appends a tab.
    #[inline]
    pub(crate) fn tab(&mut self) {
        self.last().tab();
    }

    /// Ends the line, or returns to its start (carriage return, form feed).
    #[inline]
    pub(crate) fn end_line(&mut self) {
        self.rest = Some(match self.rest {
            None => (0, Stretch::default()),
            Some((longest, last)) => (longest.max(last.end()), Stretch::default()),
        });
    }

    #[inline]
    fn last(&mut self) -> &mut Stretch {
        match &mut self.rest {
            Some((_, last)) => last,
            None => &mut self.first,
        }
    }

    /// Joins this piece with its successor.
    pub(crate) fn join(self, next: Columns) -> Columns {
        let Some((longest, last)) = self.rest else {
            return Columns { first: self.first.then(next.first), rest: next.rest };
        };
        let middle = last.then(next.first);
        let rest = match next.rest {
            None => (longest, middle),
            Some((later, end)) => (longest.max(middle.end()).max(later), end),
        };
        Columns { rest: Some(rest), ..self }
    }

    /// The longest line if this piece is the whole text.
    pub(crate) fn longest(self) -> u64 {
        let (longest, last) = self.rest.unwrap_or_default();
        self.first.end().max(longest).max(last.end())
    }
}
