//! Which rows of the inputs are used: those that `--where` accepts, of the objects in a sample, up
//! to a limit.

use super::fields::{Binding, field_named};
use super::{Format, LeftOut};
use crate::error::{Error, ErrorKind, Result};
use crate::fnv::fnv_1a_mixed;
use crate::trace::Origin;
use crate::{FileId, Kind, Trace};
use std::path::Path;
use std::str::FromStr;

/// Which rows of the inputs are used. By default all are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Select {
    /// Each must accept a row.
    pub wheres: Vec<Where>,
    /// How many rows of each file are read: those that the rules accept, in a sample or not.
    pub limit: Option<u64>,
    /// Which objects are used.
    pub sample: Option<Sample>,
}

impl Select {
    /// Whether all rows are used.
    #[must_use]
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }

    /// Refuses what a file of this format and kind cannot answer.
    pub(crate) fn check(&self, format: Format, kind: Kind, path: &Path) -> Result<()> {
        if !self.wheres.is_empty() && !format.has_columns() {
            let message = format!(
                "has format {}, which has no columns for --where: give --columns or --binary",
                format.name()
            );
            return Err(Error::new(ErrorKind::Usage, path, message));
        }
        self.check_kind(kind, path)
    }

    fn check_kind(&self, kind: Kind, path: &Path) -> Result<()> {
        if self.sample.is_some() && kind == Kind::Blocks {
            let message = "is a block trace, and --sample chooses objects by their names: use \
                           --shards, which chooses pages, or --limit";
            return Err(Error::new(ErrorKind::Usage, path, message));
        }
        Ok(())
    }

    /// Which rows of a trace are used. Of one that was imported with these rules, all are.
    ///
    /// # Errors
    /// The trace has no columns for a rule, or no names for a sample.
    pub fn of(&self, trace: &Trace) -> Result<Chosen> {
        if self.is_all() || *trace.origin() == Origin::Imported {
            return Ok(Chosen::default());
        }
        if let Some(rule) = self.wheres.first() {
            let message = format!(
                "is a trace already; --where {} is for text and records: give it to `trace import`",
                rule.text
            );
            return Err(Error::new(ErrorKind::Usage, trace.path(), message));
        }
        self.check_kind(trace.metadata().kind, trace.path())?;
        let files = match self.sample {
            None => None,
            Some(sample) => {
                Some(trace.file_names()?.iter().map(|name| sample.keeps(name)).collect())
            }
        };
        Ok(Chosen { limit: self.limit, files, not_sampled: 0 })
    }
}

/// Which rows of a trace are used.
#[derive(Debug, Default)]
pub struct Chosen {
    limit: Option<u64>,
    /// For each file, whether it is in the sample.
    files: Option<Vec<bool>>,
    not_sampled: u64,
}

impl Chosen {
    /// Whether row `number`, from 0, is behind the limit.
    #[must_use]
    pub fn is_over(&self, number: u64) -> bool {
        self.limit.is_some_and(|limit| number >= limit)
    }

    /// Whether a row of this file is in the sample; counts it otherwise.
    #[inline]
    pub fn takes(&mut self, file: FileId) -> bool {
        let Some(files) = &self.files else { return true };
        let taken = files.get(file as usize).is_none_or(|taken| *taken);
        self.not_sampled += u64::from(!taken);
        taken
    }

    /// Adds what was left out to the counts of the options.
    pub fn end(self, left_out: &LeftOut) {
        if self.not_sampled > 0 {
            left_out.count(NOT_SAMPLED, self.not_sampled);
        }
    }
}

/// The kind of a row whose object is not in the sample.
pub const NOT_SAMPLED: &str = "row by --sample";

/// A share of all objects, chosen by a hash of their names: the same ones in every trace and on
/// every machine. An object of a small sample is in each larger one. Parsed from `0.01` or `1%`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Hashes up to this are in it.
    last: u64,
}

impl Sample {
    /// Whether the object called `name` is in the sample.
    #[must_use]
    pub fn keeps(self, name: &str) -> bool {
        fnv_1a_mixed(name.as_bytes()) <= self.last
    }

    /// Whether the object that is called by its number is in the sample.
    #[must_use]
    pub fn keeps_number(self, number: u64) -> bool {
        self.keeps(itoa::Buffer::new().format(number))
    }
}

impl FromStr for Sample {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let wrong = || format!("`{text}`: expected a share over 0 and up to 1, such as 0.01 or 1%");
        let (number, unit) = match text.strip_suffix('%') {
            Some(percent) => (percent, 100.0),
            None => (text, 1.0),
        };
        let rate = number.parse::<f64>().map_err(|_| wrong())? / unit;
        if !(rate > 0.0 && rate <= 1.0) {
            return Err(wrong());
        }
        // At 1 the product is 2^64, and the conversion ends at the largest number.
        Ok(Sample { last: (rate * 2_f64.powi(64)) as u64 })
    }
}

/// A rule for rows of columns, parsed from `op=get`, `op=get|gets` or `tenant!=3`. The left side is
/// a field of `--columns`, a name of the header, or `#` and a position from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Where {
    left: String,
    values: Vec<String>,
    is_not: bool,
    text: String,
}

impl FromStr for Where {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let parts = text.split_once("!=").map(|parts| (parts, true));
        let parts = parts.or_else(|| text.split_once('=').map(|parts| (parts, false)));
        let ((left, right), is_not) =
            parts.filter(|((left, _), _)| !left.is_empty()).ok_or_else(|| {
                format!("`{text}`: expected FIELD=VALUE, FIELD=VALUE|VALUE or FIELD!=VALUE")
            })?;
        let values = right.split('|').map(|value| value.trim().to_owned()).collect();
        Ok(Where { left: left.trim().to_owned(), values, is_not, text: text.to_owned() })
    }
}

/// A [`Where`] whose column has been found.
#[derive(Clone, Debug)]
pub(super) struct Test {
    pub(super) column: usize,
    rule: Where,
}

impl Test {
    /// Finds the columns of the rules: `bindings` has those of the fields, `header` the names.
    pub(super) fn all(
        wheres: &[Where],
        bindings: &[Binding],
        header: Option<&[String]>,
        path: &Path,
    ) -> Result<Vec<Self>> {
        let column = |left: &str| {
            let field = field_named(left);
            let bound = bindings.iter().find(|binding| Some(binding.field) == field);
            let position = || super::fields::column_named(left, header);
            bound.map(|binding| binding.column).or_else(position)
        };
        let test = |rule: &Where| match column(&rule.left) {
            Some(column) => Ok(Test { column, rule: rule.clone() }),
            None => {
                let message = format!(
                    "has no column `{}` for --where {}: name a field of --columns, or #1, #2, ...",
                    rule.left, rule.text
                );
                Err(Error::new(ErrorKind::Usage, path, message))
            }
        };
        wheres.iter().map(test).collect()
    }

    /// Whether the rule accepts a row with this text in the column. Words are compared without
    /// their case.
    pub(super) fn accepts(&self, text: &[u8]) -> bool {
        let text = text.trim_ascii();
        let is = |value: &String| value.as_bytes().eq_ignore_ascii_case(text);
        self.rule.values.iter().any(is) != self.rule.is_not
    }

    /// The kind of a row that the rule does not accept.
    pub(super) fn kind(&self) -> String {
        format!("row by --where {}", self.rule.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_a_share_and_part_of_each_larger_one() {
        let sample = |text: &str| text.parse::<Sample>().unwrap();
        let kept = |sample: Sample| (0..100_000_u64).filter(move |&at| sample.keeps_number(at));
        for (text, least, most) in [("0.1", 9_500, 10_500), ("1%", 850, 1150)] {
            let found = kept(sample(text)).count();
            assert!((least..most).contains(&found), "{text}: {found}");
        }
        assert!(kept(sample("1%")).all(|number| sample("0.1").keeps_number(number)));
        assert_eq!(kept(sample("1")).count(), 100_000);
        let first: Vec<_> = kept(sample("0.001")).take(3).collect();
        assert_eq!(first, FIRST_SAMPLED, "the same on every machine and in every version");
        for wrong in ["0", "1.5", "-1", "x", "", "101%", "nan"] {
            assert!(wrong.parse::<Sample>().unwrap_err().contains("expected a share"), "{wrong}");
        }
    }

    const FIRST_SAMPLED: [u64; 3] = [332, 882, 1966];

    #[test]
    fn rules_compare_words_without_their_case() {
        let bindings = [];
        let header = ["op".to_owned(), "who".to_owned()];
        let test = |text: &str| {
            let rule = [text.parse::<Where>().unwrap()];
            Test::all(&rule, &bindings, Some(&header), Path::new("t.csv"))
        };
        let gets = test("op=get|GETS").unwrap().remove(0);
        assert_eq!(
            (gets.accepts(b" Get "), gets.accepts(b"gets"), gets.accepts(b"set")),
            (true, true, false)
        );
        let others = test("#2!=3").unwrap().remove(0);
        assert_eq!((others.column, others.accepts(b"3"), others.accepts(b"33")), (1, false, true));
        assert_eq!(others.kind(), "row by --where #2!=3");
        let error = test("when=3").unwrap_err().to_string();
        assert!(error.contains("t.csv") && error.contains("--where when=3"), "{error}");
        for wrong in ["op", "=get", ""] {
            assert!(wrong.parse::<Where>().is_err(), "{wrong}");
        }
    }
}
