//! Finds long functions. The code is formatted by rustfmt, so a function ends at the first line
//! that is a brace at the indent of its head.

use super::sources::Source;

/// `path:line: lines` of each function that has more lines.
pub(super) fn longer_than(lines_max: usize, source: &Source) -> Vec<String> {
    let lines: Vec<&str> = source.text.lines().collect();
    let mut found = Vec::new();
    for (number, line) in lines.iter().enumerate().filter(|(_, line)| is_head(line)) {
        let indent = line.len() - line.trim_start().len();
        let end = format!("{}}}", &line[..indent]);
        let ends = |line: &&str| **line == end || is_without_body(line, indent);
        let Some(length) = lines[number..].iter().position(ends) else { continue };
        if length + 1 > lines_max {
            found.push(format!("{}:{}: {} lines", source.path, number + 1, length + 1));
        }
    }
    found
}

/// Whether a function begins in this line.
fn is_head(line: &str) -> bool {
    let mut words = line.split_whitespace().take_while(|word| !word.starts_with("//"));
    words
        .find(|word| {
            !matches!(*word, "const" | "async" | "unsafe" | "extern" | "\"C\"" | "default")
        })
        .map(|word| if word.starts_with("pub") { "pub" } else { word })
        .is_some_and(|word| word == "fn" || (word == "pub" && line.contains(" fn ")))
}

/// A head of a trait's method without a body, or a function of one line.
fn is_without_body(line: &str, indent: usize) -> bool {
    let own = line.len() - line.trim_start().len() == indent;
    own && (line.ends_with(';') || (line.ends_with('}') && line.contains(" fn ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_function_is_found_with_its_line() {
        let text = "trait T {\n    fn a();\n    fn b() {}\n}\npub(crate) async fn long(\n    x: u8,\n) {\n    if x {\n    }\n}\n";
        let source = Source {
            package: String::new(),
            path: "a.rs".to_owned(),
            module: None,
            text: text.to_owned(),
        };
        assert_eq!(longer_than(5, &source), ["a.rs:5: 6 lines"]);
        assert!(longer_than(6, &source).is_empty());
    }
}
