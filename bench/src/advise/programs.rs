//! The programs: what most machines have, each copied beside the files that are made for it.

use crate::command::succeed;
use crate::programs::cases::{Case, Kind, Places};
use crate::programs::{Words, copied, words};
use anyhow::{Context, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What is made for programs, and how.
pub(super) struct Making<'a> {
    pub(super) places: Places<'a>,
    /// Our command, which makes the game.
    pub(super) ours: &'a Path,
    /// Python's packages.
    pub(super) packages: Option<&'a Path>,
    pub(super) python: &'a Path,
    /// Rows of the table, of 1 KB each.
    pub(super) rows: u64,
}

/// A program to be advised on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    Imports,
    Copied(Kind),
    Table,
    Game,
    Shell,
}

/// All of them, and a word of each that `--only` looks in.
pub(super) const ALL: [(Program, &str); 8] = [
    (Program::Imports, "imports of pandas and matplotlib"),
    (Program::Copied(Kind::Node), "node"),
    (Program::Copied(Kind::Clone), "git status"),
    (Program::Copied(Kind::Javac), "javac"),
    (Program::Copied(Kind::Cc), "gcc"),
    (Program::Table, "sqlite3"),
    (Program::Game, "game"),
    (Program::Shell, "shell"),
];

/// What a start of Python imports.
const IMPORTS: &str = "import pandas, matplotlib.pyplot, sys; sys.exit(0)";

impl Program {
    /// Makes its files. `None`, said so, if the program is not here.
    pub(super) fn case(self, making: &Making) -> anyhow::Result<Option<Case>> {
        match self {
            Self::Imports => imports(making),
            Self::Copied(kind) => kind.case(&making.places),
            Self::Table => table(making),
            Self::Game => game(making).map(Some),
            Self::Shell => shell(making).map(Some),
        }
    }
}

/// A case that is only started as it is.
fn plain(name: &str, start: Words, environment: Vec<(&'static str, std::ffi::OsString)>) -> Case {
    Case { name: name.to_owned(), alike: start.clone(), start, environment, tree: None }
}

fn left_out<T>(why: &str) -> anyhow::Result<Option<T>> {
    eprintln!("bench: {why}: left out");
    Ok(None)
}

fn imports(making: &Making) -> anyhow::Result<Option<Case>> {
    let Some(packages) = making.packages else {
        return left_out("no --packages for the imports");
    };
    let made = making.places.made.join("packages");
    succeed(Command::new("cp").args(["-a", "--reflink=auto"]).arg(packages).arg(made))?;
    let seen = making.places.seen.join("packages");
    let environment = vec![
        ("PYTHONPATH", seen.into_os_string()),
        ("PYTHONDONTWRITEBYTECODE", "1".into()),
        ("MPLCONFIGDIR", making.places.written.join("matplotlib").into()),
    ];
    let case = plain("pandas, matplotlib", words(making.python, ["-c", IMPORTS]), environment);
    // So that packages are compiled, and the list of fonts is made.
    let (first, rest) = case.start.split_first().context("no program")?;
    let mut once = Command::new(first);
    once.args(rest).env("PYTHONPATH", making.places.made.join("packages"));
    once.env("MPLCONFIGDIR", making.places.written.join("matplotlib"));
    succeed(once.stdin(Stdio::null()).stdout(Stdio::null()))?;
    Ok(Some(case))
}

/// A scan of a table.
fn table(making: &Making) -> anyhow::Result<Option<Case>> {
    let Some(sqlite) = copied::find(Path::new("sqlite3")) else {
        return left_out("there is no sqlite3");
    };
    let (made, seen) = (making.places.made.join("sqlite3"), making.places.seen.join("sqlite3"));
    copied::copy(&sqlite, &made, "sqlite3")?;
    let rows = making.rows;
    let make = format!(
        "create table t(a, b); with recursive n(x) as (select 1 union all select x + 1 from n \
         where x < {rows}) insert into t select x, printf('%.1000c', 'x') from n;"
    );
    succeed(Command::new(&sqlite).arg(made.join("table.db")).arg(make))?;
    let mut start = words(&seen.join(copied::PROGRAMS).join("sqlite3"), ["-batch", "-readonly"]);
    start.push(seen.join("table.db").into());
    start.push("select sum(length(b)) from t".into());
    let libraries = seen.join(copied::LIBRARIES).into();
    let name = format!("sqlite3, {} MB", rows / 1000);
    Ok(Some(plain(&name, start, vec![("LD_LIBRARY_PATH", libraries)])))
}

/// The held-out session of the tour's game.
fn game(making: &Making) -> anyhow::Result<Case> {
    let (made, seen) = (making.places.made.join("game"), making.places.seen.join("game"));
    let mut tour = Command::new(making.ours);
    tour.args(["tour", "--json", "--keep"]).arg(&made);
    succeed(tour.env("XDG_STATE_HOME", making.places.written).stdout(Stdio::null()))?;
    let list = newest_list(&made)?;
    let list = seen.join(list.strip_prefix(&made)?);
    let mut start = words(making.ours, ["__tour-reader"]);
    start.extend([seen.join("sample").into_os_string(), list.into_os_string()]);
    Ok(plain("the tour's game", start, Vec::new()))
}

/// The list of the last session in the tour's folder.
fn newest_list(folder: &Path) -> anyhow::Result<PathBuf> {
    let mut lists = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "list" || end == "txt") {
            lists.push(path);
        }
    }
    lists.sort();
    ensure!(!lists.is_empty(), "{}: the tour left no lists of its sessions", folder.display());
    lists.pop().context("no list")
}

/// A script of many short processes.
fn shell(making: &Making) -> anyhow::Result<Case> {
    let (made, seen) = (making.places.made.join("shell"), making.places.seen.join("shell"));
    let program = copied::find(Path::new("env")).context("there is no env")?;
    copied::copy(&program, &made, "env")?;
    let program = seen.join(copied::PROGRAMS).join("env");
    let script = format!(
        "n=0; while [ $n -lt 300 ]; do '{}' > /dev/null; n=$((n+1)); done\n",
        program.display()
    );
    fs::write(made.join("script"), script)?;
    let mut start = words(Path::new("/bin/sh"), []);
    start.push(seen.join("script").into());
    Ok(plain("shell, 300 processes", start, Vec::new()))
}
