//! Measures the house, and holds it to its budgets: long files and functions, circles of modules,
//! words of documents. ARCHITECTURE.md quotes the table that is printed.

mod circles;
mod functions;
mod sources;

use crate::loading;
use crate::workspace::Workspace;
use anyhow::{Context, bail};
use std::fs;
use std::path::Path;

/// The heading in ARCHITECTURE.md below which the table stands.
const HEADING: &str = "## Budgets";

const FILE_LINES: usize = 500;
const FUNCTION_LINES: usize = 70;

/// A row of the table.
struct Row {
    what: String,
    now: usize,
    most: usize,
    /// What counts, one line each.
    which: Vec<String>,
}

impl Row {
    fn of(what: &str, which: Vec<String>, most: usize) -> Self {
        Self { what: what.to_owned(), now: which.len(), most, which }
    }

    fn of_words(root: &Path, page: &str, most: usize) -> anyhow::Result<Self> {
        let text =
            fs::read_to_string(root.join(page)).with_context(|| format!("cannot read {page}"))?;
        let now = text.split_whitespace().count();
        Ok(Self { what: format!("words of {page}"), now, most, which: Vec::new() })
    }
}

/// Prints the table. Fails if a budget is exceeded, or if ARCHITECTURE.md shows another table.
pub(crate) fn check() -> anyhow::Result<()> {
    let root = Workspace::own()?.workspace_root;
    let rows = rows(&root)?;
    let table = table(&rows);
    print!("{table}");
    let over: Vec<String> = rows.iter().filter(|row| row.now > row.most).map(excess).collect();
    if !over.is_empty() {
        bail!("over the budget:\n{}", over.join("\n"));
    }
    let page = fs::read_to_string(root.join("ARCHITECTURE.md")).context("ARCHITECTURE.md")?;
    let shown = page.split_once(HEADING).map_or("", |(_, below)| below);
    if !shown.contains(&table) {
        bail!("ARCHITECTURE.md, \"{HEADING}\": put the table there that stands above");
    }
    Ok(())
}

fn rows(root: &Path) -> anyhow::Result<Vec<Row>> {
    let sources = sources::read(root)?;
    let long_files = sources
        .iter()
        .filter(|source| source.text.lines().count() > FILE_LINES)
        .map(|source| source.path.clone())
        .collect();
    let long_functions = sources
        .iter()
        .filter(|source| !source.is_test())
        .flat_map(|source| functions::longer_than(FUNCTION_LINES, source))
        .collect();
    Ok(vec![
        Row::of(&format!("files of more than {FILE_LINES} lines"), long_files, LONG_FILES_MAX),
        Row::of(
            &format!("functions of more than {FUNCTION_LINES} lines, outside of tests"),
            long_functions,
            LONG_FUNCTIONS_MAX,
        ),
        Row::of("circles of modules inside crates", circles::all(&sources), CIRCLES_MAX),
        Row::of(
            "other crates that a program builds to load packs",
            loading::crates()?,
            loading::CRATES_MAX,
        ),
        Row::of_words(root, "README.md", README_WORDS_MAX)?,
        Row::of_words(root, "ARCHITECTURE.md", ARCHITECTURE_WORDS_MAX)?,
    ])
}

// Lower these when the house gets better; nothing may raise them.
const LONG_FILES_MAX: usize = 0;
const LONG_FUNCTIONS_MAX: usize = 7;
const CIRCLES_MAX: usize = 0;
const README_WORDS_MAX: usize = 700;
const ARCHITECTURE_WORDS_MAX: usize = 3000;

fn table(rows: &[Row]) -> String {
    let head = "| what | now | at most |\n|---|---|---|\n".to_owned();
    rows.iter().fold(head, |table, Row { what, now, most, .. }| {
        // The words of this page change with the figures that stand in it.
        match what.as_str() {
            "words of ARCHITECTURE.md" => format!("{table}| {what} | | {most} |\n"),
            _ => format!("{table}| {what} | {now} | {most} |\n"),
        }
    })
}

fn excess(Row { what, now, most, which }: &Row) -> String {
    let lines = which.iter().map(|line| format!("\n    {line}")).collect::<String>();
    format!("  {what}: {now}, at most {most}{lines}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_over_its_budget_names_what_counts() {
        let row = Row::of("long files", vec!["a.rs".to_owned(), "b.rs".to_owned()], 1);
        assert_eq!(excess(&row), "  long files: 2, at most 1\n    a.rs\n    b.rs");
        assert_eq!(
            table(&[row]),
            "| what | now | at most |\n|---|---|---|\n| long files | 2 | 1 |\n"
        );
    }
}
