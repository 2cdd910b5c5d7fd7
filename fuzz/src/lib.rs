//! What fuzz targets share: their bodies, a module for each kind of input, and `drive`, which calls
//! a body on stable Rust. The tests of the crates include both by their path.

pub mod drive;
pub mod trace;

/// Lets a panic pass that is caught: the Parquet and Arrow readers panic on some damage, and a
/// trace's reader makes an error of it. libFuzzer's own hook ends the process at any panic; one
/// that nobody catches still does.
pub fn let_caught_panics_pass() {
    std::panic::set_hook(Box::new(|panic| eprintln!("{panic}")));
}
