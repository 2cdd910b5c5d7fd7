//! Tables and paragraphs as Markdown of at most 100 columns, but for rows of tables.

use seekless_results::{Cell, Measured, Table};

const COLUMNS: usize = 100;

/// Stands for a blank at which no line is broken.
const KEPT: &str = "\0";

/// A heading, the table, and a line of conditions with the command.
pub(super) fn table(table: &Table) -> String {
    let grid = table.grid();
    let mut text = format!("### {}\n\n{}\n", table.title_and_unit(), row(&grid.header));
    let sides = std::iter::once("---").chain(vec!["---:"; grid.header.len() - 1]);
    text += &format!("|{}|\n", sides.collect::<Vec<_>>().join("|"));
    for cells in &grid.rows {
        text += &(row(&cells.iter().map(cell).collect::<Vec<_>>()) + "\n");
    }
    text + "\n" + &wrapped(&conditions(&table.measured))
}

fn row(cells: &[String]) -> String {
    format!("| {} |", cells.iter().map(|cell| escaped(cell)).collect::<Vec<_>>().join(" | "))
}

/// The best figure is bold, its spread is not.
fn cell(cell: &Cell) -> String {
    let text = &cell.text;
    match (cell.best, text.split_once(" (")) {
        (false, _) => text.clone(),
        (true, None) => format!("**{text}**"),
        (true, Some((value, spread))) => format!("**{value}** ({spread}"),
    }
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// Conditions, command, and what is known of the run.
fn conditions(measured: &Measured) -> String {
    let mut parts = Vec::new();
    if !measured.conditions.is_empty() {
        parts.push(measured.conditions.clone());
    }
    if let Some([before, after]) = measured.load {
        parts.push(format!("Load {before} before and {after} after."));
    }
    if let Some(machine) = &measured.machine {
        let gib = machine.memory_bytes >> 30;
        parts.push(format!("{} cores, {gib} GiB, Linux {}.", machine.cores, machine.kernel));
    }
    if let (Some(date), Some(commit)) = (&measured.date, &measured.commit) {
        parts.push(format!("{date}, commit {commit}."));
    }
    // A command with backquotes of its own would end the code too early.
    let command = format!("`{}`", measured.command.replace('`', "'"));
    let fits = command.chars().count() <= COLUMNS;
    parts.push(if fits { command.replace(' ', KEPT) } else { command });
    parts.join(" ") + "\n"
}

/// A picture with its name.
pub(super) fn picture(title: &str, file: &str) -> String {
    format!("![{title}]({file})\n")
}

/// A paragraph in lines of at most 100 columns. What follows the first line of a point is indented.
pub(super) fn wrapped(paragraph: &str) -> String {
    let indent = if paragraph.starts_with("- ") { "  " } else { "" };
    let mut lines: Vec<String> = Vec::new();
    for word in paragraph.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= COLUMNS => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(format!("{indent}{word}")),
            None => lines.push(word.to_owned()),
        }
    }
    lines.into_iter().map(|line| line.replace(KEPT, " ") + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_results::{Better, Contender, Figure};

    #[test]
    fn a_table_has_its_figures_conditions_and_command() {
        let mut scan = Table::new("scan", "Scan", "file", "s", Better::Lower)
            .contenders([Contender::ours("wc"), Contender::rival("GNU")])
            .row("a|b", [Figure::of_rounds(&[1.0, 2.0, 3.0]), Figure::exact(8.0)])
            .under("Quiet.");
        scan.measured.command = "./run bench wc".to_owned();
        let expected = "\
### Scan (s)

| file | wc | GNU | ours, times as good |
|---|---:|---:|---:|
| a\\|b | **2** (1 to 3) | 8 | 4.00 × |

Quiet. `./run bench wc`
";
        assert_eq!(table(&scan), expected);
    }

    #[test]
    fn paragraphs_are_wrapped_and_points_indented() {
        let text = wrapped(&format!("- {}", "word ".repeat(30)));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("- word") && lines[1].starts_with("  word"));
        assert!(lines.iter().all(|line| line.len() <= COLUMNS));
        assert_eq!(wrapped(""), "");
        let kept = format!("{} a{KEPT}b", "x".repeat(98));
        assert_eq!(wrapped(&kept), format!("{}\na b\n", "x".repeat(98)));
    }
}
