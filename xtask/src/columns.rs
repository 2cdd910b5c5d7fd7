//! Holds Markdown and the comments of Rust files to 100 columns. rustfmt does so for code.

use crate::workspace::Workspace;
use anyhow::{Context, bail};
use std::fs;
use std::path::Path;

const COLUMNS: usize = 100;

/// Markdown that is not held to it: what names a figure within braces cannot be broken, and the
/// pages that are made of these words are wrapped.
const MARKDOWN_EXCEPTIONS: [&str; 1] = ["bench/pages/"];

/// Folders whose comments are not yet held to it. Delete a line when its folder passes.
const COMMENT_EXCEPTIONS: [&str; 0] = [];

/// Fails, naming each line that is too long. Rows of tables may be longer, since they cannot be
/// wrapped.
pub(crate) fn check() -> anyhow::Result<()> {
    let root = Workspace::own()?.workspace_root;
    let mut found = Found::default();
    found.visit(&root, &root)?;
    let (excused, wrong): (Vec<String>, Vec<String>) =
        found.too_long.into_iter().partition(|line| is_excused(line));
    for exception in MARKDOWN_EXCEPTIONS.iter().chain(&COMMENT_EXCEPTIONS) {
        if !excused.iter().any(|line| line.starts_with(exception)) {
            println!("columns: the exception {exception} is no longer needed");
        }
    }
    if !wrong.is_empty() {
        bail!("lines of more than {COLUMNS} columns:\n  {}", wrong.join("\n  "));
    }
    println!("columns: {} files, {} lines excused", found.files, excused.len());
    Ok(())
}

fn is_excused(line: &str) -> bool {
    MARKDOWN_EXCEPTIONS
        .iter()
        .chain(&COMMENT_EXCEPTIONS)
        .any(|exception| line.starts_with(exception))
}

#[derive(Default)]
struct Found {
    files: usize,
    /// `path:line: columns`, the path from the root.
    too_long: Vec<String>,
}

impl Found {
    fn visit(&mut self, root: &Path, folder: &Path) -> anyhow::Result<()> {
        let entries =
            fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
        let mut paths: Vec<_> =
            entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                // Built things, and what git and editors keep.
                if name != "target" && !name.starts_with('.') {
                    self.visit(root, &path)?;
                }
            } else if let Some(is_held) = rule(&name) {
                let text = fs::read_to_string(&path)
                    .with_context(|| format!("cannot read {}", path.display()))?;
                let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
                self.files += 1;
                self.too_long.extend(too_long(&shown, &text, is_held));
            }
        }
        Ok(())
    }
}

/// Which lines of the file of this name are held to the limit.
fn rule(name: &str) -> Option<fn(&str) -> bool> {
    match Path::new(name).extension()?.to_str()? {
        "md" => Some(|line| !line.starts_with('|')),
        "rs" => Some(|line| line.trim_start().starts_with("//")),
        _ => None,
    }
}

fn too_long(shown: &str, text: &str, is_held: fn(&str) -> bool) -> Vec<String> {
    let lines = text.lines().zip(1..).filter(|(line, _)| is_held(line));
    let counted = lines.map(|(line, number)| (line.chars().count(), number));
    counted
        .filter(|(columns, _)| *columns > COLUMNS)
        .map(|(columns, number)| format!("{shown}:{number}: {columns}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, text: &str) -> Vec<String> {
        too_long(name, text, rule(name).expect("a rule"))
    }

    #[test]
    fn long_lines_of_markdown_are_found_and_tables_are_not() {
        let (fits, wide) = ("é".repeat(100), "é".repeat(101));
        let text = format!("{fits}\n{wide}\n| {wide} |\n");
        assert_eq!(found("page.md", &text), ["page.md:2: 101"]);
    }

    #[test]
    fn long_comments_are_found_and_code_is_rustfmts() {
        let wide = "x".repeat(98);
        let text = format!("let {wide} = 1;\n    // {wide}\n//! {}\n", "x".repeat(96));
        assert_eq!(found("code.rs", &text), ["code.rs:2: 105"]);
    }

    #[test]
    fn other_files_are_not_read() {
        assert!(rule("picture.svg").is_none());
        assert!(rule("run").is_none());
    }
}
