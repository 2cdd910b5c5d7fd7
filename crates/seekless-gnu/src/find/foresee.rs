//! Interprets the expression for a file ahead of its turn, without acting. This reads the
//! attributes and costs that the expression will need, as far as they can be known in advance. They
//! are then ready when the file's turn comes.

use super::answer::plainly;
use super::entry::Entry;
use super::expression::{Action, Expression, Needs, Plan, Test};
use super::interpret::{Facts, holds};
use super::latency::{NotYet, Prices};
use rustix::fs::FileType;

/// Whether looking ahead can save time without changing what GNU find would show. No command of the
/// expression may remove or change files between the look and the evaluation. Commands that take
/// many files are allowed: they invalidate what was seen before them.
pub(super) fn is_worthwhile(plan: &Plan) -> bool {
    let acts = |part: &Expression| {
        matches!(part, Expression::Action(Action::Execute(_) | Action::Delete))
            && !plan.cheapest_first
    };
    plan.expression.any(&asks) && !plan.expression.any(&acts)
}

/// Whether this part alone needs more of a file than its folder's list has.
fn asks(part: &Expression) -> bool {
    match part {
        Expression::Test(test) => !matches!(
            test,
            Test::True
                | Test::False
                | Test::Name(_)
                | Test::Path(_)
                | Test::Regex(_)
                | Test::Type(_)
        ),
        Expression::Action(action) => action.needs() != Needs::Path,
        _ => false,
    }
}

/// Whether the expression can keep the walk out of a folder or end it.
pub(super) fn turns_back(plan: &Plan) -> bool {
    let turns =
        |part: &Expression| matches!(part, Expression::Action(Action::Prune | Action::Quit));
    plan.expression.any(&turns)
}

/// Whether the expression calls stat for more than a file's cost.
pub(super) fn asks_stat(plan: &Plan) -> bool {
    let asks_more = |part: &Expression| match part {
        Expression::Test(Test::OfCost(_)) => false,
        other => asks(other),
    };
    plan.expression.any(&asks_more)
}

/// What is known of a file ahead of its turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Foreseen {
    /// It is a folder that the walk will enter.
    pub(super) entered: bool,
    /// It is not a folder, and the expression will be false for it without acting on it.
    pub(super) passed: bool,
}

/// Reads everything of the file that the expression will read.
pub(super) fn foresee(
    plan: &Plan,
    turns_back: bool,
    entry: &Entry<'_>,
    prices: &mut Prices,
) -> Foreseen {
    let mut foresight = Foresight { plan, entry, prices, pruned: false, acted: false };
    let judged = entry.depth >= plan.depth_min;
    let answer = if judged { holds(&plan.expression, &mut foresight) } else { Ok(false) };
    if plan.cheapest_first && answer == Ok(true) && foresight.acted {
        let _ = foresight.prices.ask_ahead(entry); // what fails is reported in the file's turn
    }
    let stays_out = foresight.pruned && !plan.contents_first || answer.is_err() && turns_back;
    let folder = entry.listed == Some(FileType::Directory);
    // The walk reports a link without a target, so it must visit links.
    let plain = !entry.follow || entry.listed.is_some_and(|listed| listed != FileType::Symlink);
    Foreseen {
        entered: folder && entry.depth < plan.depth_max && !stays_out,
        passed: answer == Ok(false) && !foresight.acted && !entry.is_folder() && plain,
    }
}

/// A file ahead of its turn: no action is carried out, and some facts are not known yet.
struct Foresight<'a, 'e> {
    plan: &'a Plan,
    entry: &'a Entry<'e>,
    prices: &'a mut Prices,
    pruned: bool,
    /// The expression acts on the file, or will.
    acted: bool,
}

impl<'p> Facts<'p> for Foresight<'_, '_> {
    type Stop = NotYet;

    fn passes(&mut self, test: &'p Test) -> Result<bool, NotYet> {
        match test {
            Test::OfCost(test) => {
                self.prices.passes(test, self.entry, self.plan.unknown, Prices::ask_ahead)
            }
            _ => plainly(test, self.entry)?.ok_or(NotYet),
        }
    }

    fn act(&mut self, action: &'p Action) -> Result<bool, NotYet> {
        self.acted = true;
        match action.needs() {
            Needs::Path => {}
            Needs::Stat => {
                self.entry.stat()?;
            }
            Needs::Cost => {
                self.prices.ask_ahead(self.entry)?;
            }
        }
        match action {
            Action::Quit => return Err(NotYet),
            Action::Prune => self.pruned = true,
            _ => {}
        }
        Ok(true)
    }
}
