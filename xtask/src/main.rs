//! Layers, completions and man pages.
fn main() {}
