//! Makes the files that are shipped. These are the programs as `./run` builds and `./test` tests
//! them, each with a file of its symbols. The programs print the completions and man pages. The
//! licence notices of all packages that they are built with are added.

use crate::licences;
use anyhow::{Context, bail};
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The programs of the package `seekless-cli`.
pub(crate) const PROGRAMS: [&str; 3] = ["seekless", "seekless-gnu", "seekless-verbs"];

/// Shells, and the name of each one's completion file.
const SHELLS: [(&str, &str); 5] = [
    ("bash", "seekless.bash"),
    ("elvish", "seekless.elv"),
    ("fish", "seekless.fish"),
    ("powershell", "_seekless.ps1"),
    ("zsh", "_seekless"),
];

/// Writes `bin/`, `completions/`, `man/` and `THIRD-PARTY.txt` below `folder`.
pub(crate) fn write(folder: &Path) -> anyhow::Result<()> {
    let [bin, completions, man] = ["bin", "completions", "man"].map(|name| folder.join(name));
    for folder in [&bin, &completions, &man] {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    build()?;
    for name in PROGRAMS {
        fs::copy(built(name), bin.join(name)).with_context(|| format!("cannot copy {name}"))?;
    }
    for name in PROGRAMS {
        symbols(name, &bin)?;
    }
    build()?; // build the tested program again, since `symbols` linked another one
    write_pages(&bin.join("seekless"), &completions, &man)?;
    let notices = folder.join("THIRD-PARTY.txt");
    licences::write_notices(&notices)?;
    println!(
        "wrote {}, {}, {} and {}",
        bin.display(),
        completions.display(),
        man.display(),
        notices.display()
    );
    Ok(())
}

/// Has the program print its completions and man pages, into two folders that exist.
pub(crate) fn write_pages(seekless: &Path, completions: &Path, man: &Path) -> anyhow::Result<()> {
    for (shell, file) in SHELLS {
        let output = Command::new(seekless).args(["completions", shell]).output()?;
        if !output.status.success() {
            bail!("seekless completions {shell}: {}", String::from_utf8_lossy(&output.stderr));
        }
        fs::write(completions.join(file), output.stdout)?;
    }
    run(Command::new(seekless).arg("__man").arg(man))
}

fn build() -> anyhow::Result<()> {
    let mut build =
        cargo(["build", "--release", "--locked", "--package", "seekless-cli", "--bins"]);
    run(build.args(WHOLE))
}

/// Links a program again with its symbols, puts them into `bin/NAME.debug`, and names that file in
/// `bin/NAME`. The code of both must be the same, byte for byte.
fn symbols(name: &str, bin: &Path) -> anyhow::Result<()> {
    let link = ["rustc", "--release", "--locked", "--package", "seekless-cli", "--bin", name];
    run(cargo(link).args(WHOLE).args(["--", "-C", "strip=none"]))?;
    let (whole, stripped, debug) = (built(name), bin.join(name), bin.join(format!("{name}.debug")));
    if code(&whole)? != code(&stripped)? {
        bail!("{} and {} hold different code: build again", whole.display(), stripped.display());
    }
    run(Command::new("objcopy").arg("--only-keep-debug").arg(&whole).arg(&debug))?;
    run(Command::new("objcopy").arg("--add-gnu-debuglink").arg(&debug).arg(&stripped))
}

/// The machine code of a program.
fn code(program: &Path) -> anyhow::Result<Vec<u8>> {
    let text = tempfile::NamedTempFile::new()?;
    run(Command::new("objcopy")
        .args(["--output-target=binary", "--only-section=.text"])
        .arg(program)
        .arg(text.path()))?;
    Ok(fs::read(text.path())?)
}

fn built(name: &str) -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    Path::new(&target).join("release").join(name)
}

/// What releases have, and `./run` builds only when it is asked for.
pub(crate) const WHOLE: [&str; 2] = ["--features", "seekless-cli/remote"];

/// Cargo with these arguments.
pub(crate) fn cargo<const N: usize>(arguments: [&str; N]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments);
    command
}

/// Runs a command; says which if it fails.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let program = command.get_program().to_owned();
    let status = command.status().with_context(|| format!("cannot start {}", shown(&program)))?;
    if !status.success() {
        bail!("{} {} failed: {status}", shown(&program), words(command));
    }
    Ok(())
}

fn words(command: &Command) -> String {
    command.get_args().map(shown).collect::<Vec<_>>().join(" ")
}

fn shown(word: impl AsRef<OsStr>) -> String {
    word.as_ref().to_string_lossy().into_owned()
}
