//! Holds ARCHITECTURE.md's lists of the files that data passes against the files that there are.

use crate::workspace::Workspace;
use anyhow::{Context, bail};
use std::fs;

/// The heading above the lists, which end at the next heading of its rank.
const HEADING: &str = "## The way of the data";

/// Fails, naming each stop that is no file below `crates/`.
pub(crate) fn check() -> anyhow::Result<()> {
    let root = Workspace::own()?.workspace_root;
    let architecture = root.join("ARCHITECTURE.md");
    let shown = architecture.display();
    let text = fs::read_to_string(&architecture).with_context(|| format!("cannot read {shown}"))?;
    let stops = stops(&text)?;
    let missing: Vec<&str> =
        stops.iter().copied().filter(|stop| !root.join("crates").join(stop).is_file()).collect();
    if !missing.is_empty() {
        bail!(
            "{shown}, \"{}\": no such files:\n  {}",
            HEADING.trim_start_matches("## "),
            missing.join("\n  ")
        );
    }
    println!("stops: {} files on the way of the data, all there", stops.len());
    Ok(())
}

/// The files that the numbered lines below the heading begin with, in backticks.
fn stops(text: &str) -> anyhow::Result<Vec<&str>> {
    let (_, below) =
        text.split_once(HEADING).with_context(|| format!("has no heading \"{HEADING}\""))?;
    let lists = below.split("\n## ").next().unwrap_or_default();
    let mut stops = Vec::new();
    for line in lists.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit()))
    {
        let stop = line.split_once(". `").and_then(|(_, rest)| rest.split_once("`:"));
        let Some((stop, _)) = stop else { bail!("a stop names no file: {line}") };
        stops.push(stop);
    }
    if stops.is_empty() {
        bail!("\"{HEADING}\" lists no stops");
    }
    Ok(stops)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
## The way of the data

### A load

1. `io/src/store.rs`: finds the name.
2. `io/src/shared.rs`: leads (`reads.rs`).

## Rooms

1. `not/this.rs`: an other list
";

    #[test]
    fn stops_are_what_the_numbered_lines_begin_with() {
        assert_eq!(stops(TEXT).unwrap(), ["io/src/store.rs", "io/src/shared.rs"]);
    }

    #[test]
    fn a_stop_without_a_file_and_a_text_without_stops_are_errors() {
        assert!(stops(&TEXT.replace("`io/src/store.rs`", "the store")).is_err());
        assert!(stops("## The way of the data\n\nWords.\n").is_err());
        assert!(stops("# Architecture").is_err());
    }
}
