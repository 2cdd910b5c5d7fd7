//! What a page must not have: cells that nobody can read, and figures that were typed.

use anyhow::ensure;

/// Words that a cell of a table may have.
const WORDS_MAX: usize = 25;
/// A number before one of these is a figure.
const UNITS: [&str; 9] = ["×", "%", "times", "s", "ms", "µs", "ns", "seconds", "GB/s"];

/// Fails, naming the cell, if a table has a longer one.
pub(super) fn short_cells(text: &str) -> anyhow::Result<()> {
    for (line, number) in text.lines().zip(1..) {
        let cells = line.strip_prefix('|').into_iter().flat_map(|rest| rest.split('|'));
        for cell in cells {
            let words = cell.split_whitespace().count();
            ensure!(
                words <= WORDS_MAX,
                "line {number}: a cell of {words} words; {WORDS_MAX} are the most: {cell}"
            );
        }
    }
    Ok(())
}

/// Fails, naming the line, if the words around the tables hold a number with a unit of a figure:
/// it is to be taken from a table.
pub(super) fn no_typed_figure(words: &str) -> anyhow::Result<()> {
    for (line, number) in words.lines().zip(1..) {
        let plain = without_braces(line);
        let tokens: Vec<&str> =
            plain.split_whitespace().map(|word| word.trim_matches(['(', ')', ',', ';'])).collect();
        for (at, token) in tokens.iter().enumerate() {
            let next = tokens.get(at + 1).map_or("", |next| next.trim_end_matches(['.', ':']));
            let glued = token.trim_end_matches(['.', ':']);
            let glued = UNITS.iter().find_map(|unit| glued.strip_suffix(unit)).unwrap_or("");
            let is_figure = is_number(glued) || (is_number(token) && UNITS.contains(&next));
            ensure!(!is_figure, "line {number}: {token} {next} was typed; take it from a table");
        }
    }
    Ok(())
}

fn is_number(token: &str) -> bool {
    let digits = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | ',' | '-');
    token.starts_with(|first: char| first.is_ascii_digit()) && token.chars().all(digits)
}

/// The line without what is taken from tables, and without code.
fn without_braces(line: &str) -> String {
    let mut text = String::new();
    for (at, part) in line.split('`').enumerate() {
        text += if at % 2 == 0 { part } else { "" };
    }
    while let Some((from, until)) =
        text.find("{{").and_then(|from| Some((from, from + text[from..].find("}}")? + 2)))
    {
        text.replace_range(from..until, "");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_at_most_25_words() {
        let cell = |words: usize| format!("| a | {} |\n", "word ".repeat(words));
        short_cells(&cell(25)).unwrap();
        let refused = short_cells(&format!("\n{}", cell(26))).unwrap_err().to_string();
        assert!(refused.contains("line 2: a cell of 26 words"), "{refused}");
        short_cells(&"word ".repeat(200)).unwrap();
    }

    #[test]
    fn figures_are_not_typed() {
        let refused = ["some 12 times as fast", "took 0.7 s.", "(3 %)", "it is 8×", "it is 14%."];
        for line in refused {
            assert!(no_typed_figure(line).is_err(), "{line}");
        }
        let allowed = [
            "behind 500 requests and 150 MB a second",
            "{{figure wc/times; 1.1; wc}} and more",
            "`--delay 2 ms`",
            "many times; some seconds; 0 A.D.",
        ];
        for line in allowed {
            no_typed_figure(line).unwrap();
        }
    }
}
