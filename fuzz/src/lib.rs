//! The bodies of the fuzz targets, a module for each kind of input, and `drive`, which runs a body
//! on stable Rust. The crates' tests include both by path.

pub mod drive;
pub mod options;
pub mod trace;
pub mod wire;

/// Installs a panic hook that lets a caught panic pass. The Parquet reader panics on some
/// damage, and the trace reader turns that into an error. libFuzzer's own hook would end the
/// process at any panic; with this one only an uncaught panic ends it.
pub fn let_caught_panics_pass() {
    std::panic::set_hook(Box::new(|panic| eprintln!("{panic}")));
}
