//! The notices of all that is inside: of the packages, and of what the linker adds to programs
//! that are static, as Debian words them.

use super::Release;
use crate::licences;
use anyhow::Context;
use std::fs;
use std::path::Path;

const LINKED: &str = "

---- What the linker adds ----

Rust's standard library   MIT OR Apache-2.0   https://github.com/rust-lang/rust
GNU C Library   LGPL-2.1-or-later   https://sourceware.org/git/glibc.git
libgcc   GPL-3.0-or-later WITH GCC-exception-3.1   https://gcc.gnu.org

The last two are inside the static programs only, and unchanged. To link the programs with another
version of the C library, build the sources of this version of Seekless, which are free.
";

const TEXTS: [&str; 2] =
    ["/usr/share/doc/libc6-dev/copyright", "/usr/share/common-licenses/LGPL-2.1"];

/// Writes them to the file that `Release::notices` names.
pub(super) fn write(release: &mut Release) -> anyhow::Result<()> {
    let path = release.notices()?;
    licences::write_notices(&path)?;
    let mut text = fs::read_to_string(&path).context("the notices")? + LINKED;
    for name in TEXTS {
        if release.has_file(Path::new(name), "the notices lack the C library's") {
            let added = fs::read_to_string(name).with_context(|| format!("cannot read {name}"))?;
            text += &format!("\n\n---- GNU C Library ----\n\n{}\n", added.trim_end());
        }
    }
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}
