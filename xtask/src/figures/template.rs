//! The words of a page, and what stands in them for tables, plots and figures:
//!
//! ```text
//! {{table BENCH/ID}}                                  on a line of its own: the table
//! {{plot FILE.svg; BENCH/ID; log; log; TITLE; LABEL}} likewise: a curve a contender
//! {{figure BENCH/ID; CASE; CONTENDER}}                in a sentence: one figure with its unit
//! {{ratio BENCH/ID; CASE}}                            how many times as good ours is
//! ```
//!
//! The scales of a plot are those of the horizontal and of the vertical axis, `log` or `linear`;
//! the label is that of the horizontal one.

use super::sources::Sources;
use super::{markdown, plot};
use anyhow::{Context, bail, ensure};
use seekless_results::{Row, Table};
use std::collections::BTreeSet;

/// A page that is made.
#[derive(Default)]
pub(super) struct Page {
    pub(super) text: String,
    /// Plots by their files' names.
    pub(super) plots: Vec<(String, String)>,
    /// The tables that stand on it.
    pub(super) shown: BTreeSet<String>,
}

/// Replaces what stands in double braces. Paragraphs are wrapped again.
pub(super) fn expand(words: &str, sources: &Sources) -> anyhow::Result<Page> {
    let mut page = Page::default();
    let mut paragraph = String::new();
    for (line, number) in words.lines().zip(1..) {
        let at = || format!("line {number}");
        let alone = line.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
        let block = alone.filter(|inner| !inner.contains("{{"));
        match block.and_then(|inner| inner.split_once(' ')) {
            Some(("table", name)) => {
                page.end(&mut paragraph);
                page.table(name.trim(), sources).with_context(at)?;
            }
            Some(("plot", words)) => {
                page.end(&mut paragraph);
                page.plot(words, sources).with_context(at)?;
            }
            _ => {
                let line = inline(line, sources).with_context(at)?;
                if line.is_empty() || line.starts_with(['#', '|']) {
                    page.end(&mut paragraph);
                    page.text += &(line + "\n");
                } else {
                    // A point of a list begins a paragraph of its own.
                    if line.starts_with("- ") {
                        page.end(&mut paragraph);
                    }
                    paragraph += &(line + "\n");
                }
            }
        }
    }
    page.end(&mut paragraph);
    Ok(page)
}

impl Page {
    fn end(&mut self, paragraph: &mut String) {
        self.text += &markdown::wrapped(&std::mem::take(paragraph));
    }

    fn table(&mut self, name: &str, sources: &Sources) -> anyhow::Result<()> {
        self.text += &markdown::table(sources.table(name)?);
        let is_new = self.shown.insert(name.to_owned());
        ensure!(is_new, "{name} stands on the page twice");
        Ok(())
    }

    fn plot(&mut self, words: &str, sources: &Sources) -> anyhow::Result<()> {
        let words: Vec<&str> = words.split(';').map(str::trim).collect();
        let [file, name, x, y, title, label] = words.as_slice() else {
            bail!("a plot is FILE.svg; BENCH/ID; SCALE; SCALE; TITLE; LABEL");
        };
        let table = sources.table(name)?;
        let words = plot::Words { title, label };
        let drawing = plot::draw(table, [x, y], &words).with_context(|| (*name).to_owned())?;
        self.plots.push(((*file).to_owned(), drawing.svg()));
        self.text += &markdown::picture(title, file);
        Ok(())
    }
}

/// Replaces figures within a line.
fn inline(line: &str, sources: &Sources) -> anyhow::Result<String> {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("{{") {
        let (inner, after) = after.split_once("}}").context("{{ without }}")?;
        text += before;
        text += &figure(inner, sources)?;
        rest = after;
    }
    Ok(text + rest)
}

fn figure(inner: &str, sources: &Sources) -> anyhow::Result<String> {
    let (kind, words) = inner.split_once(' ').context("an empty pair of braces")?;
    let words: Vec<&str> = words.split(';').map(str::trim).collect();
    match (kind, words.as_slice()) {
        ("figure", [name, case, contender]) => {
            let table = sources.table(name)?;
            let place = table.contenders.iter().position(|known| known.name == *contender);
            let place = place.with_context(|| format!("{name} has no contender {contender}"))?;
            let figure = row(table, case)?.figures[place];
            let figure = figure.with_context(|| format!("{name}, {case}: not measured"))?;
            // In a sentence the range goes without its middle: that stands in the table.
            let text = table.shown(figure);
            let text = text.split_once(" (").map_or(text.as_str(), |(value, _)| value).to_owned();
            Ok(match table.unit.as_str() {
                "" => text,
                "×" => format!("{text} times"),
                unit => format!("{text} {unit}"),
            })
        }
        ("ratio", [name, case]) => {
            let table = sources.table(name)?;
            let ratio = table.ratio(&row(table, case)?.figures);
            let ratio = ratio.with_context(|| format!("{name}, {case}: nothing to compare"))?;
            Ok(format!("{ratio:.1}"))
        }
        _ => bail!("{{{{{inner}}}}}: not figure, ratio, table or plot with their words"),
    }
}

fn row<'a>(table: &'a Table, case: &str) -> anyhow::Result<&'a Row> {
    let row = table.rows.iter().find(|row| row.case == case);
    row.with_context(|| format!("{} has no case {case}", table.id))
}
