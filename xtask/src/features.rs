//! Checks that the command alone, the wheel alone and the whole workspace build each package with
//! the same features.
//!
//! Cargo unites the features that the selected crates ask for. If the tests, which build the
//! workspace, asked for more than `./run`, which builds the command, the command tested would be
//! another program than the one that users get.

use crate::tree::packages_with_features;
use anyhow::bail;

/// What `./run`, `./run lab` and `./run bench` build, and a wheel: with other features it would not
/// take what was built for the command.
const BUILT_ALONE: [&[&str]; 4] = [
    &["seekless-cli"],
    &["seekless-cli", "seekless-lab"],
    &["seekless-cli", "seekless-bench"],
    &["seekless-python"],
];

/// As `./run` builds the command, and with all that releases and tests have.
const BUILT_WITH: [&[&str]; 2] = [&[], &["--features", "seekless-cli/remote"]];

/// Fails if a package has other features in the workspace than built alone. Names each.
pub(crate) fn check() -> anyhow::Result<()> {
    for more in BUILT_WITH {
        check_with(more)?;
    }
    println!("features: the command alone, the wheel alone and the workspace build the same");
    Ok(())
}

fn check_with(more: &[&str]) -> anyhow::Result<()> {
    let whole = [&["--workspace", "--edges", "normal,build,dev"][..], more].concat();
    let workspace = packages_with_features(&whole)?;
    // A wheel has no such feature.
    let with_command = |names: &&&[&str]| more.is_empty() || names.contains(&"seekless-cli");
    for names in BUILT_ALONE.iter().filter(with_command) {
        let mut words = [&["--edges", "normal,build"][..], more].concat();
        words.extend(names.iter().flat_map(|name| ["--package", name]));
        let alone = packages_with_features(&words)?;
        let other: Vec<&str> = alone.difference(&workspace).map(String::as_str).collect();
        if !other.is_empty() {
            bail!(
                "{} alone is built with other features than in the workspace; ask for the same \
                 in Cargo.toml:\n  {}",
                names.join(" and "),
                other.join("\n  ")
            );
        }
    }
    Ok(())
}
