//! The longest line in columns, of a piece of text whose neighbours are not known yet: an element of a monoid.
//!
//! A tab goes to the next multiple of eight, so what a piece does to a line that began before it is: add columns, go to a
//! tab stop if it holds a tab, add columns again. After a tab all is known, since eight divides a tab stop.

const TAB: u64 = 8;

/// What a stretch without a line's end does to the column it starts at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Stretch {
    /// Columns before the first tab.
    before: u64,
    /// Columns after the first tab's stop; `None` without a tab.
    after: Option<u64>,
}

/// What a piece of text knows of its lines' columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Columns {
    /// Until the first end of a line.
    first: Stretch,
    /// When a line ends within: the longest that both began and ended here, and what comes after the last end.
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
            (Some(after), Some(last)) => Stretch { after: Some(stop(after + next.before) + last), ..self },
        }
    }

    /// Where it ends when it starts at column 0.
    fn end(self) -> u64 {
        self.after.map_or(self.before, |after| stop(self.before) + after)
    }
}

/// The tab stop after a column.
fn stop(column: u64) -> u64 {
    column + TAB - column % TAB
}

impl Columns {
    /// Printable characters follow.
    #[inline]
    pub(crate) fn add(&mut self, columns: u64) {
        self.last().add(columns);
    }

    /// A tab follows.
    #[inline]
    pub(crate) fn tab(&mut self) {
        self.last().tab();
    }

    /// The line ends, or starts again (carriage return, form feed).
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

    /// What both know when `next` follows.
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

    /// The longest line when nothing comes before or after.
    pub(crate) fn longest(self) -> u64 {
        let (longest, last) = self.rest.unwrap_or_default();
        self.first.end().max(longest).max(last.end())
    }
}
