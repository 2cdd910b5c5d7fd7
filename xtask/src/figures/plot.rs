//! A table as curves: a line a contender, over the places of the cases.

use anyhow::{bail, ensure};
use seekless_report::Drawing;
use seekless_report::chart::{Axis, LineChart, LinePoint, Scale, Series, Unit};
use seekless_results::{Figure, Table};

/// What stands above the plot and below its horizontal axis.
pub(super) struct Words<'a> {
    pub(super) title: &'a str,
    pub(super) label: &'a str,
}

/// Draws the table with these scales. The spread is drawn of a single curve only: those of several
/// would hide each other.
pub(super) fn draw(table: &Table, [x, y]: [&str; 2], words: &Words) -> anyhow::Result<Drawing> {
    let (x, y) = (scale(x)?, scale(y)?);
    let placed = table.rows.iter().filter(|row| row.x.is_some()).count();
    ensure!(placed > 1, "fewer than two cases have a place (x): there is no curve");
    let axis = |label: &str, scale| Axis { label: label.to_owned(), scale, unit: Unit::Number };
    let names = table.contenders.iter().enumerate();
    let series = names
        .map(|(at, contender)| Series { name: contender.name.clone(), points: points(table, at) });
    let mut series: Vec<Series> = series.filter(|series| !series.points.is_empty()).collect();
    if series.len() > 1 {
        let points = series.iter_mut().flat_map(|series| &mut series.points);
        points.for_each(|point| *point = LinePoint::exact(point.x, point.y));
    }
    let chart = LineChart {
        title: words.title.to_owned(),
        x: axis(words.label, x),
        y: axis(if table.unit == "×" { "times" } else { &table.unit }, y),
        series,
        caption: plain(&format!("{} {}", table.measured.conditions, table.measured.command)),
    };
    Ok(chart.draw_labelled())
}

/// Words without the marks of Markdown's code, which a picture would show.
fn plain(words: &str) -> String {
    words.replace('`', "")
}

fn scale(word: &str) -> anyhow::Result<Scale> {
    Ok(match word {
        "log" => Scale::Log,
        "linear" => Scale::Linear,
        _ => bail!("{word}: a scale is log or linear"),
    })
}

/// The curve of one contender, in rising order.
fn points(table: &Table, contender: usize) -> Vec<LinePoint> {
    let point = |row: &seekless_results::Row| {
        let figure: Figure = row.figures[contender]?;
        let (x, y) = (row.x?, figure.decisive()?);
        Some(LinePoint { x, y, low: figure.low.unwrap_or(y), high: figure.high.unwrap_or(y) })
    };
    let mut points: Vec<LinePoint> = table.rows.iter().filter_map(point).collect();
    points.sort_by(|one, other| one.x.total_cmp(&other.x));
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_results::{Better, Contender};

    #[test]
    fn a_curve_has_a_point_for_each_placed_case() {
        let mut table = Table::new("t", "Title", "size", "s", Better::Lower)
            .contenders([Contender::ours("ours"), Contender::rival("GNU")]);
        for (x, seconds) in [(20.0, 2.0), (10.0, 1.0)] {
            let figures = vec![Some(Figure::exact(seconds)), None];
            table.push(&x.to_string(), Some(x), figures);
        }
        table.push("no place", None, vec![Some(Figure::exact(9.0)), None]);
        let places: Vec<(f64, f64)> = points(&table, 0).iter().map(|at| (at.x, at.y)).collect();
        assert_eq!(places, [(10.0, 1.0), (20.0, 2.0)]);
        let words = Words { title: "Title", label: "size" };
        let svg = draw(&table, ["log", "linear"], &words).unwrap().svg();
        assert!(svg.contains(">ours<") && !svg.contains(">GNU<"));
        assert!(draw(&table, ["log", "square"], &words).is_err());
        table.rows.truncate(1);
        assert!(draw(&table, ["log", "log"], &words).unwrap_err().to_string().contains("no curve"));
    }
}
