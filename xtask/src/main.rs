//! The project's own chores: `cargo xtask layers` and `cargo xtask dist DIR`.

mod dist;
mod layers;

use anyhow::bail;
use std::path::Path;

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["layers"] => layers::check(),
        ["dist", folder] => dist::write(Path::new(folder)),
        _ => bail!("usage: cargo xtask layers | cargo xtask dist DIR"),
    }
}
