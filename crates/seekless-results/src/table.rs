//! A table of figures of one unit: a row a case, a column a contender.

use crate::Measured;
use anyhow::ensure;
use serde::{Deserialize, Serialize};

/// Which figures are the good ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Times, requests, bytes.
    Lower,
    /// Rates, and times as fast as something else.
    Higher,
    /// Neither: the figure describes.
    Neither,
}

/// Whose figures a column holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contender {
    /// Above the column.
    pub name: String,
    /// Whether it is a part of Seekless. Ours stand first.
    pub ours: bool,
    /// The rival's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

impl Contender {
    /// A part of Seekless.
    #[must_use]
    pub fn ours(name: &str) -> Self {
        Self { name: name.to_owned(), ours: true, version: None }
    }

    /// Another program, or another way.
    #[must_use]
    pub fn rival(name: &str) -> Self {
        Self { name: name.to_owned(), ours: false, version: None }
    }

    /// The same in this version.
    #[must_use]
    pub fn version(mut self, version: &str) -> Self {
        self.version = Some(version.to_owned());
        self
    }
}

/// One figure in the table's unit. At least a value or both ends of its spread are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The median of the rounds, or the only value. Absent if only the spread is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The least value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The greatest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// How many rounds gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
}

/// Digits that a measured figure keeps.
const DIGITS: i32 = 4;

impl Figure {
    /// A figure alone, without spread.
    #[must_use]
    pub fn exact(value: f64) -> Self {
        Self { value: Some(rounded(value)), ..Self::default() }
    }

    /// The median of rounds whose spread is not known.
    #[must_use]
    pub fn median(value: f64, rounds: usize) -> Self {
        Self { rounds: u32::try_from(rounds).ok(), ..Self::exact(value) }
    }

    /// A value with the interval that it lies in.
    #[must_use]
    pub fn within(value: f64, [low, high]: [f64; 2], rounds: usize) -> Self {
        Self { low: Some(rounded(low)), high: Some(rounded(high)), ..Self::median(value, rounds) }
    }

    /// The median of rounds, with their spread. Without rounds there is no figure.
    #[must_use]
    pub fn of_rounds(rounds: &[f64]) -> Self {
        let mut sorted = rounds.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (Some(&low), Some(&high)) = (sorted.first(), sorted.last()) else {
            return Self::default();
        };
        let middle = sorted.len() / 2;
        let value = match sorted.len() % 2 {
            0 => f64::midpoint(sorted[middle - 1], sorted[middle]),
            _ => sorted[middle],
        };
        Self {
            value: Some(rounded(value)),
            low: Some(rounded(low)),
            high: Some(rounded(high)),
            rounds: u32::try_from(rounds.len()).ok(),
        }
    }

    /// What decides between contenders: the value, else the middle of the spread.
    #[must_use]
    pub fn decisive(&self) -> Option<f64> {
        let middle = || Some(f64::midpoint(self.low?, self.high?));
        self.value.or_else(middle).filter(|value| value.is_finite())
    }
}

/// To four digits; whole numbers of more digits stay as they are.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() || value.fract() == 0.0 {
        return value;
    }
    let digits = DIGITS - 1 - value.abs().log10().floor() as i32;
    // Printed and read again, so that the file holds the shortest form.
    format!("{value:.*}", digits.max(0) as usize).parse().unwrap_or(value)
}

/// One case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its name.
    pub case: String,
    /// Its place on the horizontal axis of a plot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<f64>,
    /// A figure for each contender; `null` where it was not measured.
    pub figures: Vec<Option<Figure>>,
}

/// Figures of one unit, from one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Its name, which differs from those of the bench's other tables.
    pub id: String,
    /// What the figures are.
    pub title: String,
    /// What a case is: the heading of the first column.
    pub cases: String,
    /// The unit of all figures; empty for counts.
    pub unit: String,
    /// Which figures are the good ones.
    pub better: Better,
    /// Digits behind the point; without it each figure has as many as it needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimals: Option<usize>,
    /// The run that gave them.
    pub measured: Measured,
    /// The columns, ours first.
    pub contenders: Vec<Contender>,
    /// The cases.
    pub rows: Vec<Row>,
}

impl Table {
    /// A table without columns and rows. What is known of its run is added when it is saved.
    #[must_use]
    pub fn new(id: &str, title: &str, cases: &str, unit: &str, better: Better) -> Self {
        Self {
            id: id.to_owned(),
            title: title.to_owned(),
            cases: cases.to_owned(),
            unit: unit.to_owned(),
            better,
            decimals: None,
            measured: Measured::default(),
            contenders: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// With these columns.
    #[must_use]
    pub fn contenders(mut self, contenders: impl IntoIterator<Item = Contender>) -> Self {
        self.contenders.extend(contenders);
        self
    }

    /// With one more case.
    #[must_use]
    pub fn row(mut self, case: &str, figures: impl IntoIterator<Item = Figure>) -> Self {
        self.push(case, None, figures.into_iter().map(Some).collect());
        self
    }

    /// Adds a case, which has a place on a plot if `x` is known.
    pub fn push(&mut self, case: &str, x: Option<f64>, figures: Vec<Option<Figure>>) {
        self.rows.push(Row { case: case.to_owned(), x, figures });
    }

    /// Enters a figure. A case or a contender that the table does not have yet is added; so a new
    /// contender is a rival, and stands last. What is no number is not entered.
    pub fn set(&mut self, case: &str, contender: &str, figure: Figure) {
        if figure.decisive().is_none() {
            return;
        }
        let known = self.contenders.iter().position(|known| known.name == contender);
        let column = known.unwrap_or_else(|| {
            self.contenders.push(Contender::rival(contender));
            self.contenders.len() - 1
        });
        let known = self.rows.iter().position(|row| row.case == case);
        let row = known.unwrap_or_else(|| {
            self.push(case, None, Vec::new());
            self.rows.len() - 1
        });
        let figures = &mut self.rows[row].figures;
        if figures.len() <= column {
            figures.resize(column + 1, None);
        }
        figures[column] = Some(figure);
    }

    /// Gives a case its place on the horizontal axis of a plot.
    pub fn place(&mut self, case: &str, x: f64) {
        self.rows.iter_mut().filter(|row| row.case == case).for_each(|row| row.x = Some(x));
    }

    /// The table as it is written: each row has a place for each contender, and contenders without
    /// a figure are left out.
    pub(crate) fn finished(mut self) -> Self {
        let width = self.contenders.len();
        self.rows.iter_mut().for_each(|row| row.figures.resize(width, None));
        let has = |column: usize| self.rows.iter().any(|row| row.figures[column].is_some());
        let kept: Vec<bool> = (0..width).map(has).collect();
        let mut kept_of = kept.iter();
        self.contenders.retain(|_| kept_of.next() == Some(&true));
        for row in &mut self.rows {
            let mut kept_of = kept.iter();
            row.figures.retain(|_| kept_of.next() == Some(&true));
        }
        self
    }

    /// With what was read, and how.
    #[must_use]
    pub fn under(mut self, conditions: &str) -> Self {
        self.measured.conditions = conditions.to_owned();
        self
    }

    /// Fails if the table contradicts itself, naming the place.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let id = &self.id;
        ensure!(!self.contenders.is_empty(), "{id}: no contenders");
        ensure!(!self.rows.is_empty(), "{id}: no rows");
        let ours = self.contenders.iter().map(|contender| contender.ours);
        ensure!(ours.is_sorted_by(|one, other| one >= other), "{id}: ours do not stand first");
        for row in &self.rows {
            let (case, width) = (&row.case, self.contenders.len());
            ensure!(row.figures.len() == width, "{id}, {case}: {width} contenders, other figures");
            for figure in row.figures.iter().flatten() {
                let known = [figure.low, figure.value, figure.high];
                let rising = known.iter().flatten().is_sorted();
                ensure!(rising, "{id}, {case}: a figure lies outside its spread: {known:?}");
                ensure!(figure.decisive().is_some(), "{id}, {case}: a figure without a value");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_of_rounds_is_their_median_and_spread() {
        let figure = Figure::of_rounds(&[3.0, 1.0, 2.000_06]);
        assert_eq!(figure.value, Some(2.0));
        assert_eq!((figure.low, figure.high, figure.rounds), (Some(1.0), Some(3.0), Some(3)));
        assert_eq!(Figure::of_rounds(&[4.0, 1.0]).value, Some(2.5));
        assert_eq!(Figure::of_rounds(&[]).decisive(), None);
    }

    #[test]
    fn four_digits_are_kept() {
        assert_eq!([rounded(0.012_345_6), rounded(123.456), rounded(1e7)], [0.012_35, 123.5, 1e7]);
        assert_eq!([rounded(0.0), rounded(-1.234_56)], [0.0, -1.235]);
    }

    #[test]
    fn figures_are_entered_by_case_and_contender() {
        let mut table = Table::new("t", "T", "case", "s", Better::Lower)
            .contenders([Contender::ours("ours"), Contender::rival("absent")]);
        table.set("one", "ours", Figure::exact(1.0));
        table.set("two", "GNU", Figure::exact(3.0));
        table.set("two", "ours", Figure::median(2.0, 5));
        table.set("two", "absent", Figure::exact(f64::NAN));
        table.place("two", 2.0);
        let table = table.finished();
        table.check().unwrap();
        let names: Vec<&str> = table.contenders.iter().map(|known| known.name.as_str()).collect();
        assert_eq!(names, ["ours", "GNU"]);
        assert_eq!(table.rows[0].figures, [Some(Figure::exact(1.0)), None]);
        let two = [Some(Figure::median(2.0, 5)), Some(Figure::exact(3.0))];
        assert_eq!((table.rows[1].x, table.rows[1].figures.as_slice()), (Some(2.0), &two[..]));
        assert_eq!(Figure::within(2.0, [1.0, 3.0], 5).low, Some(1.0));
    }

    #[test]
    fn a_table_that_contradicts_itself_is_refused() {
        let table = || Table::new("t", "T", "case", "s", Better::Lower);
        let (ours, rival) = (Contender::ours("ours"), Contender::rival("GNU"));
        let good = table().contenders([ours.clone(), rival.clone()]);
        let pair = [Figure::exact(1.0), Figure::exact(2.0)];
        good.clone().row("one", pair).check().unwrap();
        let refused = |table: Table| table.check().unwrap_err().to_string();
        assert!(refused(table().contenders([rival, ours]).row("one", pair)).contains("first"));
        assert!(refused(good.clone().row("one", [pair[0]])).contains("one: 2 contenders"));
        assert!(refused(good.clone()).contains("no rows"));
        let low = Figure { low: Some(3.0), ..Figure::exact(2.0) };
        assert!(refused(good.clone().row("one", [low, low])).contains("outside its spread"));
        let nothing = Figure::default();
        assert!(refused(good.row("one", [nothing, nothing])).contains("without a value"));
    }
}
