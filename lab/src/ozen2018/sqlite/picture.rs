//! His bar chart of each test, with our bars beside his: reads of each policy for each statement.

use super::lines::Lines;
use super::published::{POLICIES, STATEMENTS};
use super::tests_5_to_16::{Figures, Rates, TestFigures};
use crate::ozen2018::picture::ORDER;
use crate::picture as pictures;
use seekless::device::units::format_count;
use seekless::report::Drawing;
use seekless::report::chart::{Axis, BarChart, Unit};
use std::path::{Path, PathBuf};

/// Writes a file for each test: `bars.svg` becomes `bars-5.svg` and so on.
pub(super) fn save(path: &Path, figures: &Figures) -> anyhow::Result<()> {
    figures
        .tests
        .iter()
        .try_for_each(|test| pictures::save(&numbered(path, test.test), &draw(test, figures)))
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    let part =
        |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    path.with_file_name(format!("{}-{number}.{}", part(path.file_stem()), part(path.extension())))
}

fn draw(test: &TestFigures, figures: &Figures) -> Drawing {
    let place = |name: &&str| POLICIES.iter().position(|policy| policy.0 == *name);
    let order: Vec<usize> = ORDER.iter().filter_map(place).collect();
    let series = |name: &str, rates: &[Rates]| {
        (name.to_owned(), order.iter().map(|&policy| rates[policy].reads_per_statement).collect())
    };
    let ours = |lines: Lines| {
        let rates: Vec<Rates> = test.run(lines, false)?.rows.iter().map(|row| row.rates).collect();
        Some(series(&format!("ours, {}", lines.name()), &rates))
    };
    let series = [
        Some(series("published", &test.published)),
        ours(Lines::Raw),
        ours(Lines::Exact),
        ours(Lines::Merged),
    ];
    let cache = if test.application_cache { "with" } else { "without" };
    let chart = BarChart {
        title: format!(
            "Ozen 2018, test {}: SQLite, {} % reads, {cache} its own cache",
            test.test, test.reads_percent
        ),
        x_label: format!("policy as published, {} pages", format_count(test.pages)),
        y: Axis::linear("pages read a statement", Unit::Count),
        groups: order.iter().map(|&policy| POLICIES[policy].0.to_owned()).collect(),
        series: series.into_iter().flatten().collect(),
        caption: format!(
            "Published: {} statements over 10,000,000 rows. Ours: {} over {}, seed {}. Raw: nine sector lines a page, as his \
             collector wrote them; exact: eight; merged: one.",
            format_count(STATEMENTS),
            format_count(figures.setting.statements),
            format_count(figures.setting.rows),
            figures.setting.seed
        ),
    };
    chart.draw()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_has_a_file_of_its_own() {
        assert_eq!(numbered(Path::new("a/bars.svg"), 16), Path::new("a/bars-16.svg"));
    }
}
