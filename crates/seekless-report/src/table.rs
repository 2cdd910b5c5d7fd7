//! A plain table: a header, a rule, rows. Reads the same in a terminal, a mail and a README.

use comfy_table::{Cell, CellAlignment, LineStyle, Table, TableStyle};

/// Blanks after a column, beside the one that the style draws between two.
const GAP: u16 = 1;

/// Lays out `rows` under `header`; every line ends with a newline and none with a space.
///
/// A column whose cells are all figures (a number, perhaps with a unit; `unknown`, `-` and empty
/// cells do not count against it) stands to the right, with its heading. Short rows are filled up
/// with empty cells. Widths are those of a terminal, so wide characters keep the columns straight.
#[must_use]
pub fn table(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let columns = rows.iter().map(Vec::len).chain([header.len()]).max().unwrap_or(0);
    let right: Vec<bool> = (0..columns).map(|column| is_figures(&rows, column)).collect();
    lay_out(header, &rows, &right)
}

/// Lays out cells with the columns marked in `right` flush right.
pub(crate) fn lay_out(header: &[&str], rows: &[Vec<String>], right: &[bool]) -> String {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')));
    if !header.is_empty() {
        table.set_header(aligned(header.iter().copied(), right));
    }
    for row in rows {
        table.add_row(aligned(row.iter().map(String::as_str), right));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if index + 1 == right.len() { 0 } else { GAP }));
    }
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// A row's cells, filled up to the number of columns.
fn aligned<'a>(cells: impl Iterator<Item = &'a str>, right: &[bool]) -> Vec<Cell> {
    let padded = cells.chain(std::iter::repeat(""));
    padded
        .zip(right)
        .map(|(cell, &right)| {
            let side = if right { CellAlignment::Right } else { CellAlignment::Left };
            Cell::new(cell).set_alignment(side)
        })
        .collect()
}

/// Whether a column holds figures: at least one, and nothing but figures and stand-ins for them.
fn is_figures(rows: &[Vec<String>], column: usize) -> bool {
    let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.trim());
    let mut seen = false;
    for cell in cells {
        match cell {
            "" | "-" | "unknown" => {}
            _ if is_figure(cell) => seen = true,
            _ => return false,
        }
    }
    seen
}

/// A number with or without a unit: `12`, `-1.5`, `36,266`, `14.3 %`, `7.7×`, `10MB`; but not `2q`.
fn is_figure(cell: &str) -> bool {
    let unsigned =
        cell.trim_start_matches(['+', '-', '−', '~', '≈', '<', '>', '≥', '≤']).trim_start();
    if !unsigned.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let unit = unsigned.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','));
    const UNITS: [&str; 14] =
        ["", "×", "x", "%", "B", "KB", "MB", "GB", "KiB", "MiB", "GiB", "s", "ms", "µs"];
    unit.starts_with(' ') || UNITS.contains(&unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
        rows.iter().map(|row| row.iter().map(ToString::to_string).collect()).collect()
    }

    #[test]
    fn figures_stand_right_and_words_left() {
        let text = table(
            &["read from", "time", "ratio", "requests"],
            rows(&[
                &["loose files", "12.3 s", "1.0×", "1,204"],
                &["pack", "987 ms", "12.5×", "unknown"],
            ]),
        );
        let expected = "\
read from      time  ratio  requests
────────────────────────────────────
loose files  12.3 s   1.0×     1,204
pack         987 ms  12.5×   unknown
";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_policy_name_that_starts_with_a_digit_is_no_figure() {
        assert_eq!(
            table(&["policy"], rows(&[&["2q"], &["long-name"]])),
            "policy\n─────────\n2q\nlong-name\n"
        );
    }

    #[test]
    fn wide_characters_keep_the_columns_straight() {
        let text = table(&["name", "n"], rows(&[&["絵/壁.dds", "1"], &["art/wall.dds", "22"]]));
        let expected = "name           n\n────────────────\n絵/壁.dds      1\nart/wall.dds  22\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn short_rows_and_empty_tables_are_no_trouble() {
        assert_eq!(table(&["a", "b"], rows(&[&["x"], &["y", "1"]])), "a  b\n────\nx\ny  1\n");
        assert_eq!(table(&[], Vec::new()), "");
    }
}
