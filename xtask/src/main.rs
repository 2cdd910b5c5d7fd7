//! The project's own chores: `cargo xtask layers`, `columns`, `house`, `licences`, `figures`,
//! `links`, `site DIR`, `tests` and `dist DIR`. mdBook calls `book`.

mod columns;
mod dist;
mod features;
mod figures;
mod house;
mod layers;
mod licences;
mod loading;
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
        ["links"] => site::links(),
        ["site", folder] => site::make(Path::new(folder)),
        ["book"] => site::book(),
        ["book", "supports", renderer] => site::supports(renderer),
        ["tests"] => tests::run(),
        ["dist", folder] => dist::write(Path::new(folder)),
        _ => bail!(
            "usage: cargo xtask layers | columns | house | licences | figures [--check] | links | site DIR \
             | tests | dist DIR"
        ),
    }
}
