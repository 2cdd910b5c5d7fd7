//! Reorders tests so that cheap ones come first, as GNU find does.
//!
//! Tests change nothing, so neighbouring tests may run in any order; actions stay in place. But a
//! test may print an error (`-xtype` of a loop of links). So the order is exactly GNU's, bugs
//! included. Tests of our own, which must open the file, come last.

use super::compare::Bound;
use super::expression::{Expression, Test};
use super::time::Window;
use rustix::fs::{Access, FileType};
use std::cmp::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

/// The most expensive thing that a test needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The name.
    Nothing,
    /// The inode number.
    Inode,
    /// The type, which is in the folder's list.
    Type,
    /// A call of stat.
    Stat,
    /// Reading a link.
    Link,
    /// Checking access rights.
    Access,
    /// Opening the file to compute its cost.
    Price,
}

/// How parts are joined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Join {
    And,
    Or,
    List,
}

/// A part of an expression with what decides its place. It is computed once for each part: a part
/// in thousands of parentheses would else be looked at thousands of times.
struct Part {
    expression: Expression,
    weight: Weight,
}

/// What decides the place of a part.
#[derive(Clone, Copy)]
struct Weight {
    /// The highest rank in it; `None` if it holds an action.
    rank: Option<Rank>,
    /// GNU find's estimate of how likely a file passes.
    odds: f32,
}

/// Reorders the tests of an expression.
pub(super) fn by_cost(expression: &mut Expression) {
    let _ = weigh(expression);
}

/// Reorders the tests of an expression, and returns its weight.
fn weigh(expression: &mut Expression) -> Weight {
    let (parts, join) = match expression {
        Expression::Action(_) => return Weight { rank: None, odds: 1.0 },
        Expression::Test(test) => {
            return Weight { rank: Some(rank_of(test)), odds: odds_of(test) };
        }
        Expression::Not(inner) => {
            let weight = weigh(inner);
            return Weight { odds: 1.0 - weight.odds, ..weight };
        }
        Expression::All(parts) => (parts, Join::And),
        Expression::Any(parts) => (parts, Join::Or),
        Expression::List(parts) => (parts, Join::List),
    };
    let weighed = |mut expression: Expression| {
        let weight = weigh(&mut expression);
        Part { expression, weight }
    };
    let mut weighed: Vec<Part> = parts.drain(..).map(weighed).collect();
    reorder(&mut weighed, join);
    let weight = together(&weighed, join);
    parts.extend(weighed.into_iter().map(|part| part.expression));
    weight
}

/// Reorders parts that stand side by side.
fn reorder(parts: &mut [Part], join: Join) {
    let pure = |part: &Part| part.weight.rank.is_some();
    if join != Join::List {
        for run in parts.chunk_by_mut(|left, right| pure(left) && pure(right)) {
            group(run, join);
        }
    }
    // A single pass from the end to the start. It brings the cheapest test to the front; the others
    // may remain partly unsorted, as in GNU find.
    for right in (1..parts.len()).rev() {
        if swaps(parts[right - 1].weight, parts[right].weight, join) {
            parts.swap(right - 1, right);
        }
    }
}

/// The weight of the whole.
fn together(parts: &[Part], join: Join) -> Weight {
    let mut ranks = parts.iter().map(|part| part.weight.rank);
    let odds = parts.iter().map(|part| part.weight.odds);
    Weight {
        rank: ranks.try_fold(Rank::Nothing, |most, rank| rank.map(|rank| most.max(rank))),
        odds: match join {
            Join::And => odds.product(),
            Join::Or => odds.sum::<f32>().min(1.0),
            Join::List => 1.0,
        },
    }
}

/// Sorts tests of names first: in `and` the least likely first, in `or` the most likely first.
/// Inode and type tests follow, then all others in their order; tests that open the file come last.
fn group(run: &mut [Part], join: Join) {
    let place = |part: &Part| match (&part.expression, part.weight.rank) {
        (Expression::Test(_), Some(rank @ (Rank::Nothing | Rank::Inode | Rank::Type))) => rank,
        (_, Some(Rank::Price)) => Rank::Price,
        _ => Rank::Stat,
    };
    run.sort_by(|left, right| {
        let (left_odds, right_odds) = (left.weight.odds, right.weight.odds);
        place(left).cmp(&place(right)).then_with(|| match (place(left), join) {
            (Rank::Stat | Rank::Price, _) => Ordering::Equal, // stable
            (_, Join::Or) => right_odds.total_cmp(&left_odds),
            _ => left_odds.total_cmp(&right_odds),
        })
    });
}

/// Whether to swap two parts. The cheaper one comes first. At equal cost, GNU puts the likelier
/// first in `and` and the less likely first in `or`, which is the wrong way round. GNU also swaps
/// around a comma, although only the last result counts there.
fn swaps(left: Weight, right: Weight, join: Join) -> bool {
    let (Some(left_rank), Some(right_rank)) = (left.rank, right.rank) else { return false };
    match left_rank.cmp(&right_rank) {
        Ordering::Less => false,
        Ordering::Greater => join != Join::List || left_rank != Rank::Price,
        Ordering::Equal => match join {
            Join::And => right.odds > left.odds,
            Join::Or => right.odds < left.odds,
            Join::List => false,
        },
    }
}

fn rank_of(test: &Test) -> Rank {
    match test {
        Test::True | Test::False | Test::Name(_) | Test::Path(_) | Test::Regex(_) => Rank::Nothing,
        Test::Inode(_) => Rank::Inode,
        Test::Type(_) => Rank::Type,
        Test::LinkName(_) => Rank::Link,
        Test::Access(_) => Rank::Access,
        Test::OfCost(_) => Rank::Price,
        _ => Rank::Stat,
    }
}

fn odds_of(test: &Test) -> f32 {
    match test {
        Test::False => 0.0,
        Test::Name(glob) | Test::Path(glob) => {
            match glob.pattern.to_bytes().iter().any(|byte| b"*?[".contains(byte)) {
                true => 0.8,
                false => 0.1,
            }
        }
        Test::Regex(_) => 0.8,
        Test::LinkName(_) => 0.08,
        Test::Type(kinds) | Test::OtherType(kinds) => {
            kinds.iter().map(|kind| odds_of_kind(*kind)).sum()
        }
        Test::Size { unit_bytes, bound } => match bound {
            Bound::More(count) if count.saturating_mul(*unit_bytes) > 20_480 => 0.1,
            Bound::Less(count) if count.saturating_mul(*unit_bytes) <= 20_480 => 0.1,
            Bound::More(_) | Bound::Less(_) => 0.9,
            Bound::Exactly(_) => 0.01,
        },
        Test::Empty | Test::SameFile { .. } => 0.01,
        Test::Permissions(permissions) => permissions.odds(),
        Test::Owner(bound) | Test::Group(bound) => match bound {
            Bound::More(id) | Bound::Exactly(id) | Bound::Less(id) if *id < 100 => 0.99,
            _ => 0.2,
        },
        Test::NoUser => 1e-3,
        Test::NoGroup => 1e-4,
        Test::Links(bound) => match bound {
            Bound::More(1) | Bound::Exactly(1) | Bound::Less(1) => 0.99,
            Bound::More(2) | Bound::Exactly(2) | Bound::Less(2) => 0.01,
            _ => 1e-3,
        },
        Test::Inode(_) => 1e-6,
        Test::Access(access) if access.contains(Access::EXEC_OK) => 0.2,
        Test::Access(_) => 0.9,
        Test::Time(
            _,
            Window::After(moment) | Window::Before(moment) | Window::Within { start: moment, .. },
        )
        | Test::Newer(_, moment) => odds_of_age(days_since(*moment)),
        Test::Used(used) => odds_of_age(used.whole_days()),
        Test::FileSystem(_) => 0.7,
        _ => 1.0,
    }
}

/// The shares of file types on the GNU author's machine.
fn odds_of_kind(kind: FileType) -> f32 {
    match kind {
        FileType::RegularFile => 0.875,
        FileType::Directory => 0.0922,
        FileType::Symlink => 0.0311,
        FileType::BlockDevice => 0.000_888,
        FileType::CharacterDevice => 0.000_443,
        FileType::Socket => 1.59e-5,
        FileType::Fifo => 7.554e-6,
        _ => 0.01,
    }
}

fn odds_of_age(days: i128) -> f32 {
    match days {
        ..=0 => 0.01,
        1..=100 => 0.39,
        _ => 0.3,
    }
}

/// Whole days from `moment` to one day ago.
fn days_since(moment: i128) -> i128 {
    const DAY_NS: i128 = 86_400 * 1_000_000_000;
    let now =
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i128);
    (now - DAY_NS).saturating_sub(moment) / DAY_NS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::parse::{Opening, parse};

    /// The names of the expression's tests after reordering; actions are `!`.
    fn order(text: &str) -> Vec<String> {
        let arguments: Vec<_> = text.split(' ').map(Into::into).collect();
        let Expression::All(parts) =
            parse(&arguments, true, Opening::Files).plan.unwrap().expression
        else {
            panic!("{text}")
        };
        let word = |part: &Expression| match part {
            Expression::Test(test) => {
                let shown = format!("{test:?}");
                let shown = shown.strip_prefix("OfCost(").unwrap_or(&shown);
                shown.split([' ', '(']).next().unwrap_or_default().to_owned()
            }
            _ => "!".to_owned(),
        };
        parts.iter().map(word).collect()
    }

    #[test]
    fn a_file_is_opened_only_if_no_cheaper_test_decides() {
        assert_eq!(
            order("-latency 0 -size +1 -name x -print -cached -type f"),
            ["Name", "Size", "Latency", "!", "Type", "Cached"]
        );
    }

    #[test]
    fn of_tests_that_cost_the_same_the_likelier_comes_first() {
        assert_eq!(order("-size 3 -xtype f -print"), ["OtherType", "Size", "!"]);
        assert_eq!(order("-xtype l -size +3 -print"), ["Size", "OtherType", "!"]);
    }
}
