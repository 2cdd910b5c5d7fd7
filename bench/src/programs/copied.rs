//! Copies of installed programs with the libraries that they load, so that these lie where a bench
//! wants them. The libraries of C and of the compiler, which our own command loads as well, stay
//! on the machine's disk.

use crate::command::succeed;
use anyhow::{Context, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Beginnings of the names of libraries that are not copied.
const STAY: [&str; 8] = [
    "ld-linux",
    "libc.so",
    "libdl.so",
    "libgcc_s.so",
    "libm.so",
    "libpthread.so",
    "librt.so",
    "linux-vdso",
];

/// Where programs lie in a folder of copies.
pub(crate) const PROGRAMS: &str = "usr/bin";
/// Where libraries lie in it.
pub(crate) const LIBRARIES: &str = "lib";

/// The file of a program, with links resolved; `None` if it is not here.
pub(crate) fn find(program: &Path) -> Option<PathBuf> {
    let mut shell = Command::new("sh");
    let output = shell.args(["-c", "command -v \"$1\"", "sh"]).arg(program).output().ok()?;
    let found = String::from_utf8(output.stdout).ok()?;
    fs::canonicalize(found.trim()).ok()
}

/// Copies a program to `to` under this name, with the libraries that it loads.
pub(crate) fn copy(program: &Path, to: &Path, name: &str) -> anyhow::Result<()> {
    copy_file(program, &to.join(PROGRAMS).join(name))?;
    copy_libraries(program, &to.join(LIBRARIES))
}

/// Copies gcc, with its compiler of C, its headers and the assembler, laid out as it expects them.
/// Returns whether they are here.
pub(crate) fn copy_gcc(to: &Path) -> anyhow::Result<bool> {
    let (Some(gcc), Some(assembler)) = (find(Path::new("gcc")), find(Path::new("as"))) else {
        return Ok(false);
    };
    let compiler = Command::new(&gcc).arg("-print-prog-name=cc1").output()?;
    let compiler = PathBuf::from(String::from_utf8(compiler.stdout)?.trim());
    let Some(inside) = compiler.parent().filter(|folder| folder.is_absolute()) else {
        return Ok(false);
    };
    copy(&gcc, to, "gcc")?;
    copy(&assembler, to, "as")?;
    let place = to.join(inside.strip_prefix("/")?);
    copy_file(&compiler, &place.join("cc1"))?;
    copy_libraries(&compiler, &to.join(LIBRARIES))?;
    let headers = inside.join("include");
    if headers.is_dir() {
        succeed(Command::new("cp").arg("-rL").arg(headers).arg(place))?;
    }
    Ok(true)
}

fn copy_libraries(program: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    let output = Command::new("ldd").arg(program).output().context("cannot run ldd")?;
    // A script or a static program loads none.
    for library in loaded(&String::from_utf8_lossy(&output.stdout)) {
        let name = library.file_name().context("a library has a name")?;
        copy_file(&library, &to.join(name))?;
    }
    Ok(())
}

/// The libraries of ldd's answer that are copied.
fn loaded(answer: &str) -> Vec<PathBuf> {
    let places = answer.lines().filter_map(|line| {
        let (name, place) = line.trim().split_once(" => ")?;
        let place = place.split(" (").next()?;
        let stays = STAY.iter().any(|beginning| name.starts_with(beginning));
        (!stays && place.starts_with('/')).then(|| PathBuf::from(place))
    });
    places.collect()
}

fn copy_file(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to.parent().context("a file lies in a folder")?)?;
    let copied = fs::copy(from, to);
    let bytes = copied.with_context(|| format!("cannot copy {}", from.display()))?;
    ensure!(bytes > 0, "{}: it is empty", from.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_libraries_of_c_stay() {
        let answer = "\tlinux-vdso.so.1 (0x00007fa66ec21000)\n\
                      \tlibz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007fa66ebf0000)\n\
                      \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007fa66e584000)\n\
                      \tlibgone.so => not found\n\
                      \t/lib64/ld-linux-x86-64.so.2 (0x00007fa66ec23000)\n";
        assert_eq!(loaded(answer), [Path::new("/lib/x86_64-linux-gnu/libz.so.1")]);
        assert!(loaded("\tstatically linked\n").is_empty());
    }
}
