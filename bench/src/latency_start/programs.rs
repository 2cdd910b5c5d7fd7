//! The programs that are started: Python, node, javac with its JDK, and git.

use super::{Args, modules, sources};
use anyhow::{Context, ensure};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program and its arguments.
pub(super) type Words = Vec<OsString>;

/// A program to start. All of its starts print something.
pub(super) struct Program {
    pub(super) name: String,
    pub(super) start: Words,
    /// A start of the same kind, to learn from.
    pub(super) alike: Words,
    /// Reads files of the folder that the program does not need.
    pub(super) other: Words,
    /// What the delayed file system shows.
    pub(super) folder: PathBuf,
}

/// All programs that `args` name. What is made for them lies below `place`; the delayed file system
/// shows each program's folder at `mounted`.
pub(super) fn all(args: &Args, place: &Path, mounted: &Path) -> anyhow::Result<Vec<Program>> {
    let mut programs = Vec::new();
    if let Some(packages) = &args.packages {
        programs.extend(args.imports.iter().map(|import| python(args, packages, import, mounted)));
    }
    if args.modules > 0 {
        programs.push(node(args, &place.join("modules"), mounted)?);
    }
    if args.classes > 0 {
        programs.push(javac(args, place, mounted)?);
    }
    if args.tree > 0 {
        programs.push(git(args, &place.join("tree"), mounted)?);
    }
    ensure!(
        !programs.is_empty(),
        "nothing to start: give --packages, --modules, --classes or --tree"
    );
    Ok(programs)
}

fn words<const N: usize>(file: &Path, words: [&str; N]) -> Words {
    std::iter::once(file.as_os_str().to_owned()).chain(words.map(OsString::from)).collect()
}

fn shell(script: &str) -> Words {
    words(Path::new("sh"), ["-c", script])
}

/// Imports packages. The Python itself may lie among them.
fn python(args: &Args, packages: &Path, import: &str, mounted: &Path) -> Program {
    let inside = packages.join(&args.python).is_file();
    let file = if inside { mounted.join(&args.python) } else { args.python.clone() };
    let names = import.replace('+', ", ");
    let last = import.rsplit('+').next().unwrap_or(import);
    let start = format!("import {names}, sys; print([{names}]); sys.exit(0)");
    let alike = format!("import {names}\nprint(len(dir({last})))");
    let other = format!(
        "import glob\nfor path in glob.glob('{}/**/tests/**/*.py', recursive=True): \
         open(path, 'rb').read()",
        mounted.display()
    );
    Program {
        name: import.to_owned(),
        start: words(&file, ["-c", &start]),
        alike: words(&file, ["-c", &alike]),
        other: words(&file, ["-c", &other]),
        folder: packages.to_owned(),
    }
}

/// Loads made modules.
fn node(args: &Args, folder: &Path, mounted: &Path) -> anyhow::Result<Program> {
    let count = modules::write(folder, args.modules)?;
    let all = format!("require('{}')", mounted.join("all.js").display());
    let start = format!("console.log({all}.sum)");
    let alike = format!("for (const name in {all}) console.log(name)");
    let other = format!(
        "const fs = require('fs'), at = '{}/node_modules/'; for (const name of \
         fs.readdirSync(at)) fs.readFileSync(at + name + '/unused.js')",
        mounted.display()
    );
    Ok(Program {
        name: format!("node, {count} modules"),
        start: words(&args.node, ["-e", &start]),
        alike: words(&args.node, ["-e", &alike]),
        other: words(&args.node, ["-e", &other]),
        folder: folder.to_owned(),
    })
}

/// Compiles made classes with a copy of the JDK that lies beside them.
fn javac(args: &Args, place: &Path, mounted: &Path) -> anyhow::Result<Program> {
    let (folder, out) = (place.join("java"), place.join("classes"));
    sources::write_classes(&folder, args.classes)?;
    sources::copy_jdk(&args.javac, &folder.join("jdk"))?;
    let compile = |options: &str| {
        let (javac, at, out) = (mounted.join("jdk/bin/javac"), mounted.display(), out.display());
        let javac = javac.display();
        format!("'{javac}' {options} -d '{out}' '{at}'/used/*.java && ls '{out}' | wc -l")
    };
    Ok(Program {
        name: format!("javac, {} classes", args.classes),
        start: shell(&compile("-proc:none")),
        alike: shell(&compile("-proc:none -nowarn")),
        other: shell(&format!("cat '{}'/unused/*", mounted.display())),
        folder,
    })
}

/// Tells of a tree in which one file is new.
fn git(args: &Args, folder: &Path, mounted: &Path) -> anyhow::Result<Program> {
    sources::write_tree(folder, args.tree)?;
    let git = |words: &[&str]| -> anyhow::Result<()> {
        let mut command = Command::new("git");
        command.arg("-C").arg(folder).args(words);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null");
        for (name, value) in [("AUTHOR", "bench"), ("COMMITTER", "bench")] {
            command.env(format!("GIT_{name}_NAME"), value).env(format!("GIT_{name}_EMAIL"), value);
        }
        let output = command.output().context("cannot run git")?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{command:?} failed: {said}");
        Ok(())
    };
    git(&["init", "--quiet"])?;
    git(&["add", "."])?;
    git(&["commit", "--quiet", "--message", "all"])?;
    std::fs::write(folder.join("new"), "new\n").context("cannot write the new file")?;
    // The tree belongs to the user; git asks for that where it is mounted.
    let told = |words: &str| {
        shell(&format!(
            "GIT_OPTIONAL_LOCKS=0 git -c safe.directory='*' -C '{}' {words}",
            mounted.display()
        ))
    };
    Ok(Program {
        name: format!("git status, {} files", args.tree),
        start: told("status --short"),
        alike: told("status"),
        other: shell(&format!("cat '{}'/folder-1*/*", mounted.display())),
        folder: folder.to_owned(),
    })
}
