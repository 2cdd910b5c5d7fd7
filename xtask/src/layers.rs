//! Checks the manifests against ARCHITECTURE.md's table of which crate may import which.

use crate::workspace::Workspace;
use anyhow::{Context, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// The heading above the table.
const HEADING: &str = "## Who may import whom";

/// What each crate may depend on, by their names in Cargo.
type Allowed = BTreeMap<String, BTreeSet<String>>;

/// Fails if a crate has an import that the table does not allow, or has no row. Names each.
pub(crate) fn check() -> anyhow::Result<()> {
    let workspace = Workspace::own()?;
    let architecture = workspace.workspace_root.join("ARCHITECTURE.md");
    let shown = architecture.display();
    let text = fs::read_to_string(&architecture).with_context(|| format!("cannot read {shown}"))?;
    let crates: BTreeSet<&str> =
        workspace.packages.iter().map(|package| package.name.as_str()).collect();
    let allowed = read_table(&text)?;
    let imports = workspace.packages.iter().flat_map(|package| {
        package.dependencies.iter().map(|import| (package.name.as_str(), import.name.as_str()))
    });
    let mut wrong = unknown_rows(&allowed, &crates);
    wrong.extend(not_allowed(&allowed, &crates, imports));
    if !wrong.is_empty() {
        bail!("{shown}, \"{}\":\n  {}", HEADING.trim_start_matches("## "), wrong.join("\n  "));
    }
    println!("layers: {} crates, every import is allowed", crates.len());
    Ok(())
}

/// Reads the rows below the heading: `| crate | may depend on | must never know |`. A name in the
/// second column may omit `seekless-`, and a remark in parentheses may follow it.
fn read_table(text: &str) -> anyhow::Result<Allowed> {
    let (_, below) =
        text.split_once(HEADING).with_context(|| format!("has no heading \"{HEADING}\""))?;
    let rows = below
        .lines()
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'));
    let mut allowed = Allowed::new();
    for row in rows.skip(2) {
        let mut cells = row.trim_matches('|').split('|').map(str::trim);
        let (Some(name), Some(imports), Some(_), None) =
            (cells.next(), cells.next(), cells.next(), cells.next())
        else {
            bail!("a row of the table has not three columns: {row}");
        };
        allowed.insert(name.to_owned(), imports.split(',').filter_map(full_name).collect());
    }
    Ok(allowed)
}

fn full_name(import: &str) -> Option<String> {
    match import.split_whitespace().next()? {
        facade @ "seekless" => Some(facade.to_owned()),
        short => Some(format!("seekless-{short}")),
    }
}

/// A message for each row of a crate that does not exist.
fn unknown_rows(allowed: &Allowed, crates: &BTreeSet<&str>) -> Vec<String> {
    let named = allowed.iter().flat_map(|(name, imports)| imports.iter().chain([name]));
    let unknown: BTreeSet<_> = named.filter(|name| !crates.contains(name.as_str())).collect();
    unknown
        .into_iter()
        .map(|name| format!("{name} is in the table and not in the workspace"))
        .collect()
}

/// A message for each import among the workspace's crates that the table does not allow.
fn not_allowed<'a>(
    allowed: &Allowed,
    crates: &BTreeSet<&str>,
    imports: impl Iterator<Item = (&'a str, &'a str)>,
) -> Vec<String> {
    imports
        .filter(|(_, to)| crates.contains(to))
        .filter_map(|(from, to)| match allowed.get(from) {
            None => Some(format!("{from} imports {to} and has no row")),
            Some(imports) if imports.contains(to) => None,
            Some(_) => Some(format!("{from} imports {to}, which its row does not allow")),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
## Who may import whom

Words.

| crate | may depend on | must never know |
|---|---|---|
| seekless-trace | | caches |
| seekless-policy | trace (names only) | files |
| seekless-cli | seekless | anything |

| another | table | here |
";

    #[test]
    fn imports_that_the_table_does_not_allow_are_named() {
        let crates = BTreeSet::from([
            "seekless-trace",
            "seekless-policy",
            "seekless-cli",
            "seekless-sim",
            "seekless",
        ]);
        let allowed = read_table(TABLE).expect("a table");
        let imports = [
            ("seekless-policy", "seekless-trace"),
            ("seekless-policy", "serde"),
            ("seekless-cli", "seekless"),
            ("seekless-trace", "seekless-policy"),
            ("seekless-sim", "seekless-trace"),
        ];
        assert_eq!(
            not_allowed(&allowed, &crates, imports.into_iter()),
            [
                "seekless-trace imports seekless-policy, which its row does not allow",
                "seekless-sim imports seekless-trace and has no row"
            ]
        );
        assert!(unknown_rows(&allowed, &crates).is_empty());
    }

    #[test]
    fn a_row_of_a_crate_that_is_gone_is_named() {
        let allowed = read_table(TABLE).expect("a table");
        let crates = BTreeSet::from(["seekless-trace", "seekless-cli", "seekless"]);
        assert_eq!(
            unknown_rows(&allowed, &crates),
            ["seekless-policy is in the table and not in the workspace"]
        );
    }

    #[test]
    fn a_text_without_the_table_and_a_row_without_its_columns_are_errors() {
        assert!(read_table("# Architecture").is_err());
        assert!(read_table(&TABLE.replace("| caches |", "|")).is_err());
    }
}
