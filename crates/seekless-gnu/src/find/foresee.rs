//! Goes through the expression for a file that is to come, changing nothing: asks of it what the expression will ask, as far as
//! that can be known, so that it is known already when the file's turn comes.

use super::answer::{by_cost, plainly};
use super::entry::Entry;
use super::expression::{Action, Expression, Plan, Test};
use super::latency::Prices;
use rustix::fs::FileType;

/// Whether looking ahead can spare anything, and changes nothing that GNU find would show: no command of the expression may
/// remove or change files between the look and the judgement. (Those that take many files at once outdate what was seen before.)
pub(super) fn is_worthwhile(plan: &Plan) -> bool {
    let acts = |part: &Expression| {
        matches!(part, Expression::Action(Action::Execute(_) | Action::Delete)) && !plan.cheapest_first
    };
    plan.expression.any(&asks) && !plan.expression.any(&acts)
}

/// Whether this part, by itself, needs more of a file than its folder's list tells.
fn asks(part: &Expression) -> bool {
    match part {
        Expression::Test(test) => !matches!(
            test,
            Test::True | Test::False | Test::Name(_) | Test::Path(_) | Test::Regex(_) | Test::Type(_)
        ),
        Expression::Action(Action::List { .. }) => true,
        Expression::Action(Action::Printf { format, .. }) => format.asks_stat(),
        _ => false,
    }
}

/// Whether the expression can keep the walk out of a folder or end it.
pub(super) fn turns_back(plan: &Plan) -> bool {
    let turns = |part: &Expression| matches!(part, Expression::Action(Action::Prune | Action::Quit));
    plan.expression.any(&turns)
}

/// Whether the expression asks stat for more than a file's cost.
pub(super) fn asks_stat(plan: &Plan) -> bool {
    let asks_more = |part: &Expression| match part {
        Expression::Test(Test::Latency { .. } | Test::Cost { .. } | Test::Cached(_) | Test::Level(_)) => {
            false
        }
        other => asks(other),
    };
    plan.expression.any(&asks_more)
}

/// What can be said of a file that is to come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Foreseen {
    /// A folder that the walk will go into.
    pub(super) entered: bool,
    /// The expression will not hold for it, and do nothing to it; nor is it a folder.
    pub(super) passed: bool,
}

/// Asks of the file what the expression will.
pub(super) fn foresee(plan: &Plan, turns_back: bool, entry: &Entry<'_>, prices: &mut Prices) -> Foreseen {
    let mut foresight = Foresight { plan, entry, prices, pruned: false, acted: false };
    let judged = entry.depth >= plan.depth_min;
    let answer = if judged { foresight.holds(&plan.expression) } else { Some(false) };
    if plan.cheapest_first && answer == Some(true) && foresight.acted {
        foresight.prices.ask_ahead(entry);
    }
    let stays_out = foresight.pruned && !plan.contents_first || answer.is_none() && turns_back;
    let folder = entry.listed == Some(FileType::Directory);
    // Of a link that leads nowhere the walk has something to say.
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
    /// Something was or will be done to the file.
    acted: bool,
}

impl Foresight<'_, '_> {
    /// The answer that the expression will have; `None` from where on it cannot be known.
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
            // Put off to the end, with the cheapest first.
            Action::Execute(_) | Action::Delete => {}
            Action::Print { .. } | Action::ExecuteMany { .. } => {}
        }
        Some(true)
    }
}
