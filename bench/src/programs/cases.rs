//! Starts of programs, each with a start of the same kind to learn from: files are made for them,
//! and the programs can lie beside these, so that all is as cold as the device that it lies on.

use super::{Words, copied, headers, modules, repository, sources, words};
use anyhow::Context;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Modules that node loads, files of the tree whose status git shows, headers of a file in C.
const MODULES: usize = 500;
const TREE: usize = 5_000;
const HEADERS: usize = 400;

/// A program to start.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) start: Words,
    /// A start of the same kind, with another script or file.
    pub(crate) alike: Words,
    pub(crate) environment: Vec<(&'static str, OsString)>,
    /// A git tree whose index must be fresh where it lies, relative to where all is made.
    pub(crate) tree: Option<PathBuf>,
}

/// Where files are made, where programs then see them, and where they write.
pub(crate) struct Places<'a> {
    pub(crate) made: &'a Path,
    pub(crate) seen: &'a Path,
    pub(crate) written: &'a Path,
}

/// The programs that can be copied beside their files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// 500 modules that a script requires
    Node,
    /// `git status` of 5,000 files
    Git,
    /// `git status` of an aged clone of this repository
    Clone,
    /// A small file, with a copy of its JDK
    Javac,
    /// A file in C that includes 400 headers from 20 folders
    Cc,
}

impl Kind {
    /// The case, with a copy of the program, in a folder of its own. `None`, said so, if the
    /// program is not here.
    pub(crate) fn case(self, places: &Places) -> anyhow::Result<Option<Case>> {
        let name = match self {
            Self::Node => "node",
            Self::Git | Self::Clone => "git",
            Self::Javac => "javac",
            Self::Cc => "gcc",
        };
        let Some(program) = copied::find(Path::new(name)) else {
            eprintln!("bench: there is no {name}: left out");
            return Ok(None);
        };
        let below = format!("{self:?}").to_lowercase();
        let (made, seen) = (places.made.join(&below), places.seen.join(&below));
        let mut case = match self {
            Self::Javac => return small_javac(&program, &made, &seen, places.written).map(Some),
            Self::Cc if !copied::copy_gcc(&made)? => {
                eprintln!("bench: gcc has no cc1 or no assembler here: left out");
                return Ok(None);
            }
            Self::Cc => many_headers(&made, &seen, places.written)?,
            Self::Node | Self::Git | Self::Clone => {
                copied::copy(&program, &made, name)?;
                let program = seen.join(copied::PROGRAMS).join(name);
                match self {
                    Self::Node => node(&program, &made, &seen, MODULES)?,
                    _ => {
                        let folder = made.join("tree");
                        let files = match self {
                            Self::Clone if !repository::aged_clone(&folder)? => {
                                eprintln!("bench: this is no checkout of git: left out");
                                return Ok(None);
                            }
                            Self::Clone => "an aged clone".to_owned(),
                            _ => made_tree(&folder, TREE)?,
                        };
                        let tree = Some(Path::new(&below).join("tree"));
                        Case { tree, ..git(&program, &seen.join("tree"), &files) }
                    }
                }
            }
        };
        case.environment.push(("LD_LIBRARY_PATH", seen.join(copied::LIBRARIES).into()));
        Ok(Some(case))
    }
}

/// Loads modules that are made in `made` and seen at `seen`.
pub(crate) fn node(program: &Path, made: &Path, seen: &Path, count: usize) -> anyhow::Result<Case> {
    let count = modules::write(made, count)?;
    let all = format!("require('{}')", seen.join("all.js").display());
    let start = format!("console.log({all}.sum)");
    let alike = format!("for (const name in {all}) console.log(name)");
    Ok(Case {
        name: format!("node, {count} modules"),
        start: words(program, ["-e", &start]),
        alike: words(program, ["-e", &alike]),
        environment: Vec::new(),
        tree: None,
    })
}

/// Makes a tree of files in which one is new. Returns what it holds, in words.
pub(crate) fn made_tree(folder: &Path, count: usize) -> anyhow::Result<String> {
    sources::write_tree(folder, count)?;
    repository::commit(folder)?;
    std::fs::write(folder.join("new"), "new\n").context("cannot write the new file")?;
    Ok(format!("{count} files"))
}

/// Shows the status of the tree at `seen`, which may belong to another user.
pub(crate) fn git(program: &Path, seen: &Path, files: &str) -> Case {
    let status = |how: Option<&str>| {
        let mut all = words(program, ["--no-optional-locks", "-c", "safe.directory=*", "-C"]);
        all.push(seen.into());
        all.push("status".into());
        all.extend(how.map(OsString::from));
        all
    };
    Case {
        name: format!("git status, {files}"),
        start: status(Some("--short")),
        alike: status(None),
        environment: Vec::new(),
        tree: None,
    }
}

/// Compiles one small class; the profile is of a start with two others.
fn small_javac(program: &Path, made: &Path, seen: &Path, written: &Path) -> anyhow::Result<Case> {
    sources::write_classes(&made.join("one"), 1)?;
    sources::write_classes(&made.join("two"), 2)?;
    sources::copy_jdk(program, &made.join("jdk"))?;
    let compile = |files: &[&str]| {
        let mut all = words(&seen.join("jdk/bin/javac"), ["-proc:none", "-d"]);
        all.push(written.join("classes").into());
        all.extend(files.iter().map(|file| seen.join(file).into_os_string()));
        all
    };
    Ok(Case {
        name: "javac, a small file".to_owned(),
        start: compile(&["one/used/C0.java"]),
        alike: compile(&["two/used/C0.java", "two/used/C1.java"]),
        environment: Vec::new(),
        tree: None,
    })
}

/// Compiles a file with many headers; the profile is of another with the same.
fn many_headers(made: &Path, seen: &Path, written: &Path) -> anyhow::Result<Case> {
    let folders = headers::write(made, HEADERS, &["main.c", "other.c"])?;
    let programs = seen.join(copied::PROGRAMS);
    let compile = |file: &str| {
        let mut all = words(&programs.join("gcc"), ["-O1", "-c", "-o"]);
        all.push(written.join("many.o").into());
        for folder in &folders {
            all.extend(["-I".into(), seen.join(folder).into_os_string()]);
        }
        all.push(seen.join(file).into());
        all
    };
    let mut path = programs.clone().into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    Ok(Case {
        name: format!("gcc, {HEADERS} headers"),
        start: compile("main.c"),
        alike: compile("other.c"),
        environment: vec![("PATH", path)],
        tree: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// What the case prints, and where it wrote.
    fn started(kind: Kind, words: fn(&Case) -> &Words) -> Option<(String, tempfile::TempDir)> {
        let place = tempfile::tempdir().unwrap();
        let written = place.path().join("written");
        std::fs::create_dir(&written).unwrap();
        let made = place.path().join("made");
        let places = Places { made: &made, seen: &made, written: &written };
        let Some(case) = kind.case(&places).unwrap() else {
            println!("skipped: the program is not here");
            return None;
        };
        let words = words(&case);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).envs(case.environment.iter().map(|(name, value)| (name, value)));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        Some((String::from_utf8(output.stdout).unwrap(), place))
    }

    #[test]
    fn the_copied_git_finds_the_new_file_alone() {
        let Some((printed, _place)) = started(Kind::Git, |case| &case.start) else { return };
        assert_eq!(printed, "?? new\n");
    }

    #[test]
    fn the_copied_gcc_compiles_both_files() {
        for words in [|case: &Case| &case.start, |case: &Case| &case.alike] as [fn(&_) -> &_; 2] {
            let Some((_, place)) = started(Kind::Cc, words) else { return };
            assert!(place.path().join("written/many.o").exists());
        }
    }
}
