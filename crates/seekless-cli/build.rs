//! Links the programs `seekless` and `seekless-gnu` statically if the C library's archives are
//! installed. Without a dynamic loader a program starts in two thirds of the time. It stays a
//! position-independent executable.
//!
//! `-C target-feature=+crt-static` would do it too. But it applies to every crate and macro unless
//! a target is named, and `cargo install` cannot pass it to one program. So the linker gets a
//! folder of archives before the system's folders. Every `-lNAME` of rustc then finds an archive
//! there, and the compiler's driver makes a static program. A crate that links a library of the
//! system names the system's folder first: then the program stays dynamic.

#![expect(clippy::disallowed_macros, clippy::disallowed_methods, reason = "cargo reads it")]

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The libraries that rustc names on Linux with glibc, with the archive of each.
const ARCHIVES: [(&str, &str); 7] = [
    ("libc.a", "libc.a"),
    ("libm.a", "libm.a"),
    ("libdl.a", "libdl.a"),
    ("librt.a", "librt.a"),
    ("libutil.a", "libutil.a"),
    ("libpthread.a", "libpthread.a"),
    ("libgcc_s.a", "libgcc_eh.a"),
];

/// The programs that are linked so. The last one only for a release, which runs where there may be
/// no C library: it looks up names of hosts, for which the C library loads others.
const STATIC: [&str; 3] = ["seekless", "seekless-gnu", "seekless-verbs"];

/// With "1" all programs are linked so, and a build that cannot do it fails.
const ALL: &str = "SEEKLESS_STATIC";

/// With "1" the crate `pcre2-sys` builds the library itself.
const BUNDLED_PCRE2: &str = "PCRE2_SYS_STATIC";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CC");
    println!("cargo:rerun-if-env-changed=RUSTC_LINKER");
    println!("cargo:rerun-if-env-changed={BUNDLED_PCRE2}");
    println!("cargo:rerun-if-env-changed={ALL}");
    enter_ahead();
    let is_all = env::var(ALL).is_ok_and(|value| value == "1");
    let folder = if links_system_pcre2() { None } else { archives() };
    let Some(folder) = folder else {
        assert!(!is_all, "{ALL}=1: the C library's archives are missing, or PCRE2 is the system's");
        return;
    };
    for program in &STATIC[..if is_all { 3 } else { 2 }] {
        // LLVM's linker keeps the exception tables of all functions, a megabyte.
        println!("cargo:rustc-link-arg-bin={program}=-fuse-ld=bfd");
        println!("cargo:rustc-link-arg-bin={program}=-static-pie");
        println!("cargo:rustc-link-arg-bin={program}=-L{}", folder.display());
        // Again, as the compiler's driver has them: on aarch64 the C library needs the compiler's,
        // but those archives stand before it.
        for word in ["-Wl,--start-group", "-lgcc", "-lgcc_eh", "-lc", "-Wl,--end-group"] {
            println!("cargo:rustc-link-arg-bin={program}={word}");
        }
    }
}

/// Has `seekless` begin with what reads it (`seekless_sys::read_itself`).
fn enter_ahead() {
    let machine = env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    if matches!(machine.as_str(), "x86_64" | "aarch64") {
        println!("cargo:rustc-link-arg-bin=seekless=-Wl,-e,seekless_entry");
    }
}

/// Whether `pcre2-sys` links the system's library, as it does where pkg-config finds one.
fn links_system_pcre2() -> bool {
    let is_bundled = env::var(BUNDLED_PCRE2).is_ok_and(|value| value == "1");
    let asked = || Command::new("pkg-config").args(["--exists", "libpcre2-8"]).status();
    !is_bundled && asked().is_ok_and(|status| status.success())
}

/// A folder with a link to each archive. `None` if an archive is missing, or if the program is
/// built for another machine by a linker that we do not know.
fn archives() -> Option<PathBuf> {
    let set = |name: &str| env::var(name).unwrap_or_default();
    if set("CARGO_CFG_TARGET_OS") != "linux" || set("CARGO_CFG_TARGET_ENV") != "gnu" {
        return None;
    }
    let compiler = compiler()?;
    let folder = PathBuf::from(env::var_os("OUT_DIR")?).join("archives");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).ok()?;
    for (name, archive) in ARCHIVES {
        symlink(found(&compiler, archive)?, folder.join(name)).ok()?;
    }
    found(&compiler, "rcrt1.o")?; // the start-up code of such a program
    Some(folder)
}

/// The C compiler that links the program: cargo names it if it is set for the target, as it is for
/// another machine.
fn compiler() -> Option<String> {
    let set = |name: &str| env::var(name).ok();
    let here = || (set("HOST") == set("TARGET")).then(|| set("CC").unwrap_or("cc".to_owned()));
    set("RUSTC_LINKER").or_else(here)
}

/// Where the C compiler finds a file. If it finds none, it prints the bare name.
fn found(compiler: &str, file: &str) -> Option<PathBuf> {
    let output = Command::new(compiler).arg(format!("-print-file-name={file}")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    (path.is_absolute() && Path::exists(&path)).then_some(path)
}
