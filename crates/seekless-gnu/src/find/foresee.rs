//! Evaluates the expression for a file ahead of its turn, without acting. It reads the attributes
//! and costs that the expression will need, as far as they can be known in advance. They are then
//! ready when the file's turn comes.

use super::answer::{by_cost, plainly};
use super::entry::Entry;
use super::expression::{Action, Expression, Plan, Test};
use super::latency::Prices;
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
        Expression::Action(Action::List { .. }) => true,
        Expression::Action(Action::Printf { format, .. }) => format.asks_stat(),
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
        Expression::Test(
            Test::Latency { .. } | Test::Cost { .. } | Test::Cached(_) | Test::Level(_),
        ) => false,
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
    let answer = if judged { foresight.holds(&plan.expression) } else { Some(false) };
    if plan.cheapest_first && answer == Some(true) && foresight.acted {
        foresight.prices.ask_ahead(entry);
    }
    let stays_out = foresight.pruned && !plan.contents_first || answer.is_none() && turns_back;
    let folder = entry.listed == Some(FileType::Directory);
    // The walk reports a link without a target, so it must visit links.
    let plain = !entry.follow || entry.listed.is_some_and(|listed| listed != FileType::Symlink);
    Foreseen {
        entered: folder && entry.depth < plan.depth_max && !stays_out,
        passed: answer == Some(false) && !foresight.acted && !entry.is_folder() && plain,
    }
}

struct Foresight<'a, 'e> {
    plan: &'a Plan,
    entry: &'a Entry<'e>,
    prices: &'a mut Prices,
    pruned: bool,
    /// The expression acts on the file, or will.
    acted: bool,
}

impl Foresight<'_, '_> {
    /// The result of the expression; `None` if it cannot be known in advance.
    fn holds(&mut self, expression: &Expression) -> Option<bool> {
        match expression {
            Expression::Test(test) => self.passes(test),
            Expression::Action(action) => self.act(action),
            Expression::Not(inner) => self.holds(inner).map(|answer| !answer),
            Expression::All(parts) => {
                for part in parts {
                    if !self.holds(part)? {
                        return Some(false);
                    }
                }
                Some(true)
            }
            Expression::Any(parts) => {
                for part in parts {
                    if self.holds(part)? {
                        return Some(true);
                    }
                }
                Some(false)
            }
            Expression::List(parts) => {
                let mut last = Some(true);
                for part in parts {
                    last = Some(self.holds(part)?);
                }
                last
            }
        }
    }

    fn passes(&mut self, test: &Test) -> Option<bool> {
        match plainly(test, self.entry).ok()? {
            Some(answer) => Some(answer),
            None => {
                by_cost(test, None)?; // asks of costs at all
                let cost = self.prices.ask_ahead(self.entry)?;
                by_cost(test, cost.kept(self.plan.unknown))
            }
        }
    }

    fn act(&mut self, action: &Action) -> Option<bool> {
        self.acted = true;
        match action {
            Action::Prune => self.pruned = true,
            Action::Quit => return None,
            Action::List { .. } => {
                self.entry.stat().ok()?;
            }
            Action::Printf { format, .. } => {
                if format.asks_latency() {
                    self.prices.ask_ahead(self.entry)?;
                } else if format.asks_stat() {
                    self.entry.stat().ok()?;
                }
            }
            // With `--cheapest-first`, these actions are postponed to the end.
            Action::Execute(_) | Action::Delete => {}
            Action::Print { .. } | Action::ExecuteMany { .. } => {}
        }
        Some(true)
    }
}
