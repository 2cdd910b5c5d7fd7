//! A table as cells of text.

use crate::{Better, Contender, Figure, Table, number};

/// One cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// What it holds.
    pub text: String,
    /// Whether no contender has a better figure.
    pub best: bool,
}

/// Header and rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Above the columns.
    pub header: Vec<String>,
    /// Cells, as many as the header has.
    pub rows: Vec<Vec<Cell>>,
}

/// The heading of the column that compares.
const RATIO: &str = "ours, times as good";

impl Table {
    /// The table in cells: the case, a figure for each contender, and how many times as good the
    /// best of ours is as the best rival.
    #[must_use]
    pub fn grid(&self) -> Grid {
        let heading = |contender: &Contender| match &contender.version {
            Some(version) => format!("{} {version}", contender.name),
            None => contender.name.clone(),
        };
        let compares = self.compares();
        let mut header = vec![self.cases.clone()];
        header.extend(self.contenders.iter().map(heading));
        header.extend(compares.then(|| RATIO.to_owned()));
        let row = |row: &crate::Row| {
            let best = self.best(&row.figures);
            let mut cells = vec![Cell { text: row.case.clone(), best: false }];
            cells.extend(row.figures.iter().map(|figure| Cell {
                text: figure.map_or_else(|| "-".to_owned(), |figure| self.shown(figure)),
                best: best.is_some() && figure.and_then(|figure| figure.decisive()) == best,
            }));
            if compares {
                let ratio = self.ratio(&row.figures).map(|ratio| format!("{ratio:.2} ×"));
                cells.push(Cell { text: ratio.unwrap_or_else(|| "-".to_owned()), best: false });
            }
            cells
        };
        Grid { header, rows: self.rows.iter().map(row).collect() }
    }

    /// The title, followed by the unit.
    #[must_use]
    pub fn title_and_unit(&self) -> String {
        match self.unit.as_str() {
            "" => self.title.clone(),
            unit => format!("{} ({unit})", self.title),
        }
    }

    /// A figure as a cell shows it: the value, with its spread if that is known.
    #[must_use]
    pub fn shown(&self, figure: Figure) -> String {
        let parts = [figure.value, figure.low, figure.high];
        let needed = parts.into_iter().flatten().map(decimals).max();
        let number = |value: f64| number(value, self.decimals.or(needed));
        match (figure.value, figure.low, figure.high) {
            (Some(value), Some(low), Some(high)) if low < high => {
                format!("{} ({} to {})", number(value), number(low), number(high))
            }
            (Some(value), ..) => number(value),
            (None, Some(low), Some(high)) => format!("{} to {}", number(low), number(high)),
            _ => "-".to_owned(),
        }
    }

    /// Whether ours and rivals stand in it, and one of two figures is the better one.
    fn compares(&self) -> bool {
        let has = |ours: bool| self.contenders.iter().any(|contender| contender.ours == ours);
        self.better != Better::Neither && has(true) && has(false)
    }

    fn best(&self, figures: &[Option<Figure>]) -> Option<f64> {
        if self.contenders.len() < 2 {
            return None;
        }
        self.best_of(figures.iter().flatten())
    }

    fn best_of<'a>(&self, figures: impl Iterator<Item = &'a Figure>) -> Option<f64> {
        let values = figures.filter_map(Figure::decisive);
        match self.better {
            Better::Lower => values.min_by(f64::total_cmp),
            Better::Higher => values.max_by(f64::total_cmp),
            Better::Neither => None,
        }
    }

    /// How many times as good as the best rival the best of ours is.
    #[must_use]
    pub fn ratio(&self, figures: &[Option<Figure>]) -> Option<f64> {
        let best = |ours: bool| {
            let of = self.contenders.iter().zip(figures).filter(|(who, _)| who.ours == ours);
            self.best_of(of.filter_map(|(_, figure)| figure.as_ref()))
        };
        let (ours, rival) = (best(true)?, best(false)?);
        let ratio = match self.better {
            Better::Lower => rival / ours,
            Better::Higher => ours / rival,
            Better::Neither => return None,
        };
        ratio.is_finite().then_some(ratio)
    }
}

/// Digits behind the point that a number needs.
fn decimals(value: f64) -> usize {
    format!("{value}").split_once('.').map_or(0, |(_, digits)| digits.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan() -> Table {
        Table::new("scan", "Scan", "file", "s", Better::Lower)
            .contenders([Contender::ours("wc"), Contender::rival("GNU").version("9.1")])
            .row("1 GB", [Figure::of_rounds(&[0.25, 0.2, 0.3]), Figure::exact(1.0)])
    }

    #[test]
    fn the_best_is_marked_and_compared() {
        let grid = scan().grid();
        assert_eq!(grid.header, ["file", "wc", "GNU 9.1", RATIO]);
        let texts: Vec<&str> = grid.rows[0].iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(texts, ["1 GB", "0.25 (0.20 to 0.30)", "1", "4.00 ×"]);
        let best: Vec<bool> = grid.rows[0].iter().map(|cell| cell.best).collect();
        assert_eq!(best, [false, true, false, false]);
        let higher = Table { better: Better::Higher, ..scan() }.grid();
        assert!(higher.rows[0][2].best && higher.rows[0][3].text == "0.25 ×");
    }

    #[test]
    fn what_only_describes_has_no_best() {
        let mut table = Table { better: Better::Neither, ..scan() };
        table.push("2 GB", None, vec![None, Some(Figure { value: None, ..spread() })]);
        let grid = table.grid();
        assert_eq!(grid.header.len(), 3);
        assert!(grid.rows.iter().flatten().all(|cell| !cell.best));
        assert_eq!((grid.rows[1][1].text.as_str(), grid.rows[1][2].text.as_str()), ("-", "7 to 9"));
    }

    fn spread() -> Figure {
        Figure { value: Some(8.0), low: Some(7.0), high: Some(9.0), rounds: None }
    }
}
