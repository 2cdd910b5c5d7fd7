//! Checks how many crates are built for a program that only loads packs.
//!
//! Each crate that a store needs is one that its user must wait for, trust and update.

use crate::tree::packages_with_features;
use anyhow::bail;
use std::collections::BTreeSet;

/// The crates beside the facade itself, those that only build scripts need among them.
pub(crate) const CRATES_MAX: usize = 40;

/// Fails if the facade's feature `store` needs more crates. Names them.
pub(crate) fn check() -> anyhow::Result<()> {
    let crates = crates()?;
    if crates.len() > CRATES_MAX {
        bail!(
            "the feature `store` of seekless needs {} other crates, more than {CRATES_MAX}; put \
             what a store does not need behind a feature of its crate:\n  {}",
            crates.len(),
            crates.join("\n  ")
        );
    }
    println!("loading: a program with the feature `store` builds {} other crates", crates.len());
    Ok(())
}

/// Name and version of each crate that the facade's feature `store` needs.
pub(crate) fn crates() -> anyhow::Result<Vec<String>> {
    let words = ["--package", "seekless", "--no-default-features", "--features", "store"];
    let lines = packages_with_features(&[&words[..], &["--edges", "normal,build"]].concat())?;
    Ok(beside_the_facade(lines.iter().map(String::as_str)).into_iter().collect())
}

/// Name and version of each package. One that is built twice, with other features for a build
/// script, is one crate.
fn beside_the_facade<'a>(lines: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    let mut crates = BTreeSet::new();
    for line in lines {
        let mut words = line.split(' ');
        if let (Some(name), Some(version)) = (words.next(), words.next())
            && name != "seekless"
        {
            crates.insert(format!("{name} {version}"));
        }
    }
    crates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_counts_once_whatever_its_features_and_the_facade_does_not() {
        let lines = [
            "seekless v0.1.0 (/checkout/crates/seekless) store",
            "seekless-io v0.1.0 (/checkout/crates/seekless-io) ",
            "libc v0.2.191 default,std",
            "libc v0.2.191 ",
        ];
        let crates = beside_the_facade(lines.into_iter());
        assert_eq!(crates, ["libc v0.2.191", "seekless-io v0.1.0"].map(str::to_owned).into());
    }
}
