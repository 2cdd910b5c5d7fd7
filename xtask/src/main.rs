//! The project's own chores: `cargo xtask layers`, `columns`, `house`, `licences`, `figures`,
//! `readmes`, `links`, `site DIR`, `packages`, `tests`, `dist DIR` and `release`. mdBook calls
//! `book`.

mod columns;
mod dist;
mod features;
mod figures;
mod house;
mod layers;
mod licences;
mod loading;
mod packages;
mod readmes;
mod release;
mod site;
mod stops;
mod tests;
mod tree;
mod workspace;

use anyhow::bail;
use std::path::Path;

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["layers"] => {
            layers::check()?;
            stops::check()?;
            features::check()?;
            loading::check()
        }
        ["columns"] => columns::check(),
        ["house"] => house::check(),
        ["licences"] => licences::check(),
        ["figures"] => figures::run(false),
        ["figures", "--check"] => figures::run(true),
        ["readmes"] => readmes::run(false),
        ["readmes", "--check"] => readmes::run(true),
        ["packages"] => packages::check(),
        ["links"] => site::links(),
        ["site", folder] => site::make(Path::new(folder)),
        ["book"] => site::book(),
        ["book", "supports", renderer] => site::supports(renderer),
        ["tests"] => tests::run(),
        ["release", options @ ..] => release_with(options),
        ["dist", folder] => dist::write(Path::new(folder)),
        _ => bail!(
            "usage: cargo xtask layers | columns | house | licences | figures [--check] | \
             readmes [--check] | links | site DIR | packages | tests | dist DIR | \
             release [--dry-run] [--out DIR]"
        ),
    }
}

fn release_with(options: &[&str]) -> anyhow::Result<()> {
    match options {
        [] => release::run(false, None),
        ["--dry-run"] => release::run(true, None),
        ["--out", out] => release::run(false, Some(Path::new(out))),
        ["--dry-run", "--out", out] | ["--out", out, "--dry-run"] => {
            release::run(true, Some(Path::new(out)))
        }
        _ => bail!("usage: cargo xtask release [--dry-run] [--out DIR]"),
    }
}
