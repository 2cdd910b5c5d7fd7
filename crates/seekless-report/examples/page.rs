//! Writes a sample of a page, made from figures that were not measured:
//! `cargo run -p seekless-report --example page -- sample.html`.

#[path = "../tests/sample/mod.rs"]
mod sample;

fn main() -> std::io::Result<()> {
    let path = std::env::args_os().nth(1).unwrap_or_else(|| "sample.html".into());
    std::fs::write(path, sample::page(800, 5_000).html())
}
