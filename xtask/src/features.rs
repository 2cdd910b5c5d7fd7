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

/// Fails if a package has other features in the workspace than built alone. Names each.
pub(crate) fn check() -> anyhow::Result<()> {
    let workspace = packages_with_features(&["--workspace", "--edges", "normal,build,dev"])?;
    for names in BUILT_ALONE {
        let mut words = vec!["--edges", "normal,build"];
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
    println!("features: the command alone, the wheel alone and the workspace build the same");
    Ok(())
}
