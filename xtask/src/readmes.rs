//! Makes the README of each crate that is published from the head of its `src/lib.rs`: the first
//! paragraph and the first example, which is a doc test there. So a crate has one description.

use crate::workspace::{Package, Workspace};
use anyhow::{Context, bail};
use std::fs;

const FOOT: &str = "\
Part of Seekless, which finds out what a program reads and makes those reads cheap. It needs Linux.
The crate's documentation has the rest. Licensed under MIT or Apache-2.0, at your option.
";

/// Writes the READMEs; with `is_check` fails instead if one differs, and names each.
pub(crate) fn run(is_check: bool) -> anyhow::Result<()> {
    let workspace = Workspace::own()?;
    let mut wrong = Vec::new();
    let mut made = 0;
    for package in workspace.packages.iter().filter(|package| package.is_published()) {
        let path = package.folder()?.join("README.md");
        let text = of(package)?;
        made += 1;
        if !is_check {
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        } else if fs::read_to_string(&path).ok().as_ref() != Some(&text) {
            wrong.push(path.display().to_string());
        }
    }
    if !wrong.is_empty() {
        bail!("not what `cargo xtask readmes` makes:\n  {}", wrong.join("\n  "));
    }
    println!("readmes: {made} crates");
    Ok(())
}

fn of(package: &Package) -> anyhow::Result<String> {
    let path = package.folder()?.join("src/lib.rs");
    let source =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    made(&package.name, &source)
        .with_context(|| format!("{} has no example at its head: write one", path.display()))
}

/// The README of a crate by its name and source. `None` if its head has no example.
fn made(name: &str, source: &str) -> Option<String> {
    let head: Vec<&str> = source.lines().map_while(line_of_head).collect();
    let about: Vec<String> =
        head.iter().take_while(|line| !line.is_empty()).map(|line| without_links(line)).collect();
    let mut example = head.iter().skip_while(|line| !line.starts_with("```"));
    let kind = match example.next()?.trim_start_matches('`') {
        "" => "rust",
        "no_run" => "rust,no_run",
        other => other,
    };
    let code: Vec<&str> = example
        .take_while(|line| **line != "```")
        .filter(|line| **line != "#" && !line.starts_with("# "))
        .copied()
        .collect();
    let (about, code) = (about.join("\n"), code.join("\n"));
    Some(format!("# {name}\n\n{about}\n\n```{kind}\n{}\n```\n\n{FOOT}", code.trim()))
}

/// A line of the documentation at the head. A fence may stand in an attribute with its condition.
fn line_of_head(line: &str) -> Option<&str> {
    if let Some(text) = line.strip_prefix("//!") {
        return Some(text.strip_prefix(' ').unwrap_or(text));
    }
    match line.strip_prefix("#![cfg_attr(")?.contains("doc = \"```\"") {
        true => Some("```"),
        false => Some("#"), // the fence that holds under the other condition
    }
}

/// A line without rustdoc's links, which lead nowhere in a README: their words stay.
fn without_links(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('[') {
        let Some((words, tail)) = after.split_once(']') else { break };
        out += before;
        out += words;
        rest = match tail.strip_prefix('(').and_then(|target| target.split_once(')')) {
            Some((_, after)) => after,
            None => tail,
        };
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_readme_has_the_first_paragraph_and_the_first_example() {
        let source = "\
//! Reads [bytes](x::y) with an
//! [`Engine`].
//!
//! # Example
//!
#![cfg_attr(feature = \"a\", doc = \"```\")]
#![cfg_attr(not(feature = \"a\"), doc = \"```ignore\")]
//! use x::Engine;
//!
//! # let hidden = 1;
//! assert!(true);
//! ```
//!
//! ```
//! another();
//! ```

mod a;
";
        let readme = made("x", source).expect("an example");
        let expected = "# x\n\nReads bytes with an\n`Engine`.\n\n\
            ```rust\nuse x::Engine;\n\nassert!(true);\n```\n\n";
        assert_eq!(readme, format!("{expected}{FOOT}"));
        assert_eq!(made("x", "//! No example.\n\nmod a;\n"), None);
    }
}
