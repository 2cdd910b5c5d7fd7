//! Cheap questions first: what the folder's list tells, then what stat tells, then what needs the file opened. Tests change nothing,
//! so those that stand together may be asked in any order; actions stay where they are.

use super::expression::{Expression, Test};

/// What a question costs at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The name and the type, which the folder's list tells.
    Listed,
    /// A call of stat.
    Stat,
    /// Other calls: a link read, a folder listed, rights asked.
    Call,
    /// The file is opened to ask what it costs.
    Price,
}

/// Reorders runs of tests within `and` and `or`.
pub(super) fn by_cost(expression: &mut Expression) {
    match expression {
        Expression::Test(_) | Expression::Action(_) => {}
        Expression::Not(inner) => by_cost(inner),
        Expression::All(parts) | Expression::Any(parts) => {
            parts.iter_mut().for_each(by_cost);
            let pure = |part: &Expression| rank(part).is_some();
            for run in parts.chunk_by_mut(|left, right| pure(left) && pure(right)) {
                run.sort_by_key(rank); // stable: as written among equals
            }
        }
        Expression::List(parts) => parts.iter_mut().for_each(by_cost),
    }
}

/// The dearest question in it; `None` if it holds an action.
fn rank(expression: &Expression) -> Option<Rank> {
    match expression {
        Expression::Action(_) => None,
        Expression::Not(inner) => rank(inner),
        Expression::All(parts) | Expression::Any(parts) | Expression::List(parts) => {
            parts.iter().map(rank).try_fold(Rank::Listed, |most, part| part.map(|part| most.max(part)))
        }
        Expression::Test(test) => Some(match test {
            Test::True | Test::False | Test::Name(_) | Test::Path(_) | Test::Regex(_) | Test::Type(_) => {
                Rank::Listed
            }
            Test::LinkName(_) | Test::OtherType(_) | Test::Empty | Test::Access(_) => Rank::Call,
            Test::Latency { .. } | Test::Cached(_) | Test::Level(_) => Rank::Price,
            _ => Rank::Stat,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::parse::parse;

    /// The expression's tests by name, actions as `!`, after reordering.
    fn order(text: &str) -> Vec<String> {
        let arguments: Vec<_> = text.split(' ').map(Into::into).collect();
        let Expression::All(parts) = parse(&arguments, true).unwrap().expression else { panic!("{text}") };
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
}
