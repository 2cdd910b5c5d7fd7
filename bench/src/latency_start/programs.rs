//! The programs that are started: Python, node, javac with its JDK, and git.

use super::Args;
use crate::programs::cases::{self, Case};
use crate::programs::{Words, sources, words};
use anyhow::ensure;
use std::path::{Path, PathBuf};

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
    let other = format!(
        "const fs = require('fs'), at = '{}/node_modules/'; for (const name of \
         fs.readdirSync(at)) fs.readFileSync(at + name + '/unused.js')",
        mounted.display()
    );
    let case = cases::node(&args.node, folder, mounted, args.modules)?;
    Ok(with(case, words(&args.node, ["-e", &other]), folder))
}

fn with(case: Case, other: Words, folder: &Path) -> Program {
    let Case { name, start, alike, .. } = case;
    Program { name, start, alike, other, folder: folder.to_owned() }
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

/// Shows the status of a tree in which one file is new.
fn git(args: &Args, folder: &Path, mounted: &Path) -> anyhow::Result<Program> {
    let files = cases::made_tree(folder, args.tree)?;
    let case = cases::git(Path::new("git"), mounted, &files);
    Ok(with(case, shell(&format!("cat '{}'/folder-1*/*", mounted.display())), folder))
}
