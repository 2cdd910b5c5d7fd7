//! Cheap questions first, as GNU find orders them: what the folder's list tells, then what stat tells, then what needs another call,
//! and last what needs the file opened. Tests change nothing, so those that stand together may be asked in any order; actions stay
//! where they are. But a test may complain of a file (`-xtype` of a link that leads round), so the order is GNU's in all: of what
//! costs the same, it asks first what it takes for the likelier in `and`, and for the less likely in `or`.

use super::compare::Bound;
use super::expression::{Expression, Test};
use super::time::Window;
use rustix::fs::{Access, FileType};
use std::cmp::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

/// What a question costs at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The name.
    Nothing,
    /// The inode's number.
    Inode,
    /// The type, which the folder's list tells.
    Type,
    /// A call of stat.
    Stat,
    /// A link read.
    Link,
    /// Rights asked.
    Access,
    /// The file is opened to ask what it costs.
    Price,
}

/// Reorders runs of tests within `and`, `or` and the comma (where GNU find does so too, though only the last one's answer counts).
pub(super) fn by_cost(expression: &mut Expression) {
    let likely_first = match expression {
        Expression::Test(_) | Expression::Action(_) => return,
        Expression::Not(inner) => return by_cost(inner),
        Expression::All(_) => Some(true),
        Expression::Any(_) => Some(false),
        Expression::List(_) => None,
    };
    let (Expression::All(parts) | Expression::Any(parts) | Expression::List(parts)) = expression else {
        return;
    };
    parts.iter_mut().for_each(by_cost);
    let pure = |part: &Expression| rank(part).is_some();
    for run in parts.chunk_by_mut(|left, right| pure(left) && pure(right)) {
        // Stable: as written among equals.
        run.sort_by(|left, right| {
            rank(left).cmp(&rank(right)).then_with(|| match likely_first {
                Some(true) => odds(right).total_cmp(&odds(left)),
                Some(false) => odds(left).total_cmp(&odds(right)),
                None => Ordering::Equal,
            })
        });
    }
}

/// The dearest question in it; `None` if it holds an action.
fn rank(expression: &Expression) -> Option<Rank> {
    match expression {
        Expression::Action(_) => None,
        Expression::Not(inner) => rank(inner),
        Expression::All(parts) | Expression::Any(parts) | Expression::List(parts) => {
            parts.iter().map(rank).try_fold(Rank::Nothing, |most, part| part.map(|part| most.max(part)))
        }
        Expression::Test(test) => Some(match test {
            Test::True | Test::False | Test::Name(_) | Test::Path(_) | Test::Regex(_) => Rank::Nothing,
            Test::Inode(_) => Rank::Inode,
            Test::Type(_) => Rank::Type,
            Test::LinkName(_) => Rank::Link,
            Test::Access(_) => Rank::Access,
            Test::Latency { .. } | Test::Cached(_) | Test::Level(_) => Rank::Price,
            _ => Rank::Stat,
        }),
    }
}

/// How likely GNU find takes it that a file passes.
fn odds(expression: &Expression) -> f32 {
    match expression {
        Expression::Action(_) | Expression::List(_) => 1.0,
        Expression::Not(inner) => 1.0 - odds(inner),
        Expression::All(parts) => parts.iter().map(odds).product(),
        Expression::Any(parts) => parts.iter().map(odds).sum::<f32>().min(1.0),
        Expression::Test(test) => odds_of(test),
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
        Test::Type(kinds) | Test::OtherType(kinds) => kinds.iter().map(|kind| odds_of_kind(*kind)).sum(),
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

/// Shares of the files of its author's machine.
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

/// Whole days from the moment to a day ago.
fn days_since(moment: i128) -> i128 {
    const DAY_NS: i128 = 86_400 * 1_000_000_000;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i128);
    (now - DAY_NS).saturating_sub(moment) / DAY_NS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::parse::parse;

    /// The expression's tests by name, actions as `!`, after reordering.
    fn order(text: &str) -> Vec<String> {
        let arguments: Vec<_> = text.split(' ').map(Into::into).collect();
        let Expression::All(parts) = parse(&arguments, true).plan.unwrap().expression else {
            panic!("{text}")
        };
        let word = |part: &Expression| match part {
            Expression::Test(test) => {
                format!("{test:?}").split([' ', '(']).next().unwrap_or_default().to_owned()
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
