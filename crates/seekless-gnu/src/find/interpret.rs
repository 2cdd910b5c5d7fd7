//! The one interpreter of the expression.
//!
//! An expression is interpreted twice for many files: ahead of their turn, to read what it will
//! need, and in their turn, to act. Both walk the expression alike, from left to right, and stop
//! where its result is certain. They differ only in where the facts about the file come from. In
//! its turn every fact can be known. Ahead of it some cannot, and the walk ends at the first of
//! those, because what follows depends on it.

use super::expression::{Action, Expression, Test};

/// Where the answers about one file come from.
pub(super) trait Facts<'p> {
    /// Why the walk of the expression ends early: a fact is not known yet, or nothing more must be
    /// done.
    type Stop;

    /// Whether the file passes a test.
    fn passes(&mut self, test: &'p Test) -> Result<bool, Self::Stop>;

    /// Carries out an action, or prepares it. Returns whether it succeeds.
    fn act(&mut self, action: &'p Action) -> Result<bool, Self::Stop>;
}

/// The result of an expression for the file of these facts.
pub(super) fn holds<'p, F: Facts<'p>>(
    expression: &'p Expression,
    facts: &mut F,
) -> Result<bool, F::Stop> {
    Ok(match expression {
        Expression::Test(test) => facts.passes(test)?,
        Expression::Action(action) => facts.act(action)?,
        Expression::Not(inner) => !holds(inner, facts)?,
        Expression::All(parts) => {
            for part in parts {
                if !holds(part, facts)? {
                    return Ok(false);
                }
            }
            true
        }
        Expression::Any(parts) => {
            for part in parts {
                if holds(part, facts)? {
                    return Ok(true);
                }
            }
            false
        }
        Expression::List(parts) => {
            let mut last = true;
            for part in parts {
                last = holds(part, facts)?;
            }
            last
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::compare::Bound;
    use proptest::prelude::*;

    /// Answers each primary by its number, up to the first that it does not know.
    struct Known<'a> {
        answers: &'a [Option<bool>],
        asked: Vec<usize>,
    }

    impl Known<'_> {
        fn ask(&mut self, number: usize) -> Result<bool, usize> {
            self.asked.push(number);
            self.answers[number].ok_or(number)
        }
    }

    impl<'p> Facts<'p> for Known<'_> {
        type Stop = usize;

        fn passes(&mut self, test: &'p Test) -> Result<bool, usize> {
            let Test::Inode(Bound::Exactly(number)) = test else { panic!("{test:?}") };
            self.ask(*number as usize)
        }

        fn act(&mut self, action: &'p Action) -> Result<bool, usize> {
            let Action::ExecuteMany { number, .. } = action else { panic!("{action:?}") };
            self.ask(*number)
        }
    }

    const PRIMARIES: usize = 6;

    fn primary() -> impl Strategy<Value = Expression> {
        (0..PRIMARIES, any::<bool>()).prop_map(|(number, acts)| match acts {
            true => {
                let command = crate::find::expression::Command {
                    words: Vec::new(),
                    in_folder: false,
                    ask: false,
                };
                Expression::Action(Action::ExecuteMany { number, command })
            }
            false => Expression::Test(Test::Inode(Bound::Exactly(number as u64))),
        })
    }

    fn expression() -> impl Strategy<Value = Expression> {
        primary().prop_recursive(4, 24, 4, |inner| {
            let parts = || prop::collection::vec(inner.clone(), 1..4);
            prop_oneof![
                inner.clone().prop_map(|inner| Expression::Not(Box::new(inner))),
                parts().prop_map(Expression::All),
                parts().prop_map(Expression::Any),
                parts().prop_map(Expression::List),
            ]
        })
    }

    /// The result by the definition of each operator, without stopping early.
    fn value(expression: &Expression, answers: &[bool]) -> bool {
        let all = |parts: &[Expression]| -> Vec<bool> {
            parts.iter().map(|part| value(part, answers)).collect()
        };
        match expression {
            Expression::Test(Test::Inode(Bound::Exactly(number))) => answers[*number as usize],
            Expression::Action(Action::ExecuteMany { number, .. }) => answers[*number],
            Expression::Not(inner) => !value(inner, answers),
            Expression::All(parts) => all(parts).iter().all(|&part| part),
            Expression::Any(parts) => all(parts).iter().any(|&part| part),
            Expression::List(parts) => *all(parts).last().expect("a part"),
            other => panic!("{other:?}"),
        }
    }

    proptest! {
        #[test]
        fn what_is_known_ahead_is_the_start_of_what_is_known_in_turn(
            expression in expression(),
            answers in prop::collection::vec(any::<bool>(), PRIMARIES),
            known in prop::collection::vec(any::<bool>(), PRIMARIES),
        ) {
            let all: Vec<_> = answers.iter().copied().map(Some).collect();
            let some: Vec<_> =
                all.iter().zip(&known).map(|(answer, known)| answer.filter(|_| *known)).collect();
            let mut in_turn = Known { answers: &all, asked: Vec::new() };
            let mut ahead = Known { answers: &some, asked: Vec::new() };
            let result = holds(&expression, &mut in_turn);
            prop_assert_eq!(result, Ok(value(&expression, &answers)));
            match holds(&expression, &mut ahead) {
                Ok(foreseen) => {
                    prop_assert_eq!(Ok(foreseen), result);
                    prop_assert_eq!(ahead.asked, in_turn.asked);
                }
                Err(unknown) => {
                    prop_assert_eq!(ahead.asked.last(), Some(&unknown));
                    prop_assert!(in_turn.asked.starts_with(&ahead.asked));
                    let first = in_turn.asked.iter().position(|&number| !known[number]);
                    prop_assert_eq!(first, Some(ahead.asked.len() - 1));
                }
            }
        }
    }
}
