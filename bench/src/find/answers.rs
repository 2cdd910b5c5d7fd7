//! Compares answers before times: the walk and `-size` line by line with GNU's; for `-latency` what
//! must hold.

use super::{LATENCY, Question, WALK};
use anyhow::{Context, ensure};
use std::collections::HashMap;

/// GNU's answers, with which others must agree; lines sorted.
#[derive(Default)]
pub(super) struct Answers(HashMap<&'static [&'static str], Vec<Vec<u8>>>);

impl Answers {
    /// Checks an answer, or keeps it if it is the first. Returns the number of its lines.
    pub(super) fn check(&mut self, question: &Question, printed: &[u8]) -> anyhow::Result<usize> {
        let lines = sorted(printed);
        let count = lines.len();
        if LATENCY.contains(&question.tests) {
            // Pages enter and leave the cache between two runs, so two answers need not add up.
            let walk = self.0.get(WALK).context("the walk comes first")?;
            ensure!(
                is_part(&lines, walk),
                "{}: shows what the walk does not, or twice",
                question.name()
            );
        } else {
            let first = self.0.entry(question.tests).or_insert_with(|| own(&lines));
            ensure!(*first == lines, "{}: another answer than GNU's", question.name());
        }
        Ok(count)
    }

    /// Each entry has a latency of 0 or more, so one run with both tests shows all entries of the
    /// walk.
    pub(super) fn check_both(&self, printed: &[u8]) -> anyhow::Result<()> {
        let walk = self.0.get(WALK).context("the walk comes first")?;
        let lines = sorted(printed);
        ensure!(
            *walk == lines,
            "find -latency 0 -o -latency +0 shows {} of the walk's {} lines: nothing tells what of the rest is cached, or \
             what their device takes",
            lines.len(),
            walk.len()
        );
        Ok(())
    }
}

fn own(lines: &[&[u8]]) -> Vec<Vec<u8>> {
    lines.iter().map(|line| line.to_vec()).collect()
}

fn sorted(printed: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = printed.split_inclusive(|&byte| byte == b'\n').collect();
    lines.sort_unstable();
    lines
}

/// Whether each sorted line is among the sorted others, no line twice.
fn is_part(lines: &[&[u8]], others: &[Vec<u8>]) -> bool {
    let mut others = others.iter();
    lines.iter().all(|line| others.any(|other| other == line))
}

#[cfg(test)]
mod tests {
    use super::super::Who;
    use super::*;

    fn question(who: Who, tests: &'static [&'static str]) -> Question {
        Question { who, tests }
    }

    #[test]
    fn order_does_not_matter_and_lines_do() {
        let mut answers = Answers::default();
        assert_eq!(answers.check(&question(Who::Gnu, WALK), b"a\nb\n").unwrap(), 2);
        let ours = question(Who::Seekless, WALK);
        assert_eq!(answers.check(&ours, b"b\na\n").unwrap(), 2);
        assert!(answers.check(&ours, b"a\n").is_err());
        assert!(answers.check(&ours, b"a\nb\nb\n").is_err());
    }

    #[test]
    fn latency_shows_a_part_of_the_walk() {
        let mut answers = Answers::default();
        let ours = question(Who::Seekless, LATENCY[0]);
        assert!(answers.check(&ours, b"a\n").is_err());
        answers.check(&question(Who::Gnu, WALK), b"a\nb\nc\n").unwrap();
        assert_eq!(answers.check(&ours, b"c\na\n").unwrap(), 2);
        assert_eq!(answers.check(&ours, b"").unwrap(), 0);
        assert!(answers.check(&ours, b"a\na\n").is_err());
        assert!(answers.check(&ours, b"d\n").is_err());
        answers.check_both(b"c\nb\na\n").unwrap();
        assert!(answers.check_both(b"c\na\n").is_err());
    }
}
