//! Gives the shared library its name for the loader. The number goes up when a program that was
//! linked would no longer run.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libseekless_store.so.0");
}
