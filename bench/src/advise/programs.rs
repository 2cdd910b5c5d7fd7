//! The programs: some that most machines have, and files for them.

use crate::command::succeed;
use crate::folder::Folder;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program to be advised on.
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) words: Vec<String>,
    /// Where it runs.
    pub(super) folder: PathBuf,
}

/// Small files that one process reads, as a game does.
const ASSETS: usize = 1_500;
/// Files in a git tree.
const TRACKED: usize = 4_000;
/// Rows of a table, of 1 KB each.
const ROWS: usize = 150_000;

/// Those that are here.
pub(super) fn all(folder: &Folder) -> anyhow::Result<Vec<Program>> {
    let program = |name, words: &[&str], folder: &Path| Program {
        name,
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        folder: folder.to_owned(),
    };
    let place = folder.path().canonicalize()?;
    let mut all = vec![
        program("shell, 300 processes", &["/bin/sh", "-c", PROCESSES], &place),
        program(
            "reads 1,500 small files",
            &["/bin/sh", "-c", "cat assets/*/* > /dev/null"],
            &place,
        ),
    ];
    assets(&place.join("assets"))?;
    let python = "/usr/bin/python3";
    if is_here(python) {
        all.push(program("Python imports", &[python, "-c", IMPORTS], &place));
        let scan = "import sqlite3; c = sqlite3.connect('table.db'); \
                    print(c.execute('select sum(length(b)) from t').fetchone())";
        table(python, &place)?;
        all.push(program("sqlite3, 150 MB", &[python, "-c", scan], &place));
    }
    if is_here("git") {
        repository(&place.join("tree"))?;
        all.push(program("git status", &["git", "status", "--short"], &place.join("tree")));
    }
    if is_here("cc") {
        fs::write(place.join("many.c"), HEADERS)?;
        all.push(program(
            "cc, many headers",
            &["cc", "-O1", "-c", "many.c", "-o", "many.o"],
            &place,
        ));
    }
    if is_here("perl") {
        all.push(program("perl modules", &["perl", "-e", PERL], &place));
    }
    Ok(all)
}

const PROCESSES: &str = "n=0; while [ $n -lt 300 ]; do /bin/true; n=$((n+1)); done";
const IMPORTS: &str = "import asyncio, http.server, json, sqlite3, unittest, xml.dom.minidom, email, \
                       multiprocessing, decimal, urllib.request";
const PERL: &str = "use POSIX; use Encode; use File::Find; use Data::Dumper; use Storable; \
                    use Unicode::UCD qw(charinfo); charinfo(0x41); print qq(done\n)";
const HEADERS: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
#include <math.h>\n#include <pthread.h>\n#include <sys/socket.h>\n#include <netinet/in.h>\n\
#include <arpa/inet.h>\n#include <netdb.h>\n#include <signal.h>\n#include <sys/mman.h>\n\
#include <sys/epoll.h>\n#include <complex.h>\n#include <wchar.h>\n#include <locale.h>\n\
int main(void) { return 0; }\n";

fn is_here(program: &str) -> bool {
    let mut version = Command::new(program);
    version.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    version.status().is_ok_and(|status| status.success())
}

/// Files whose order on the device is not that of their names.
fn assets(folder: &Path) -> anyhow::Result<()> {
    for number in 0..ASSETS {
        let place = folder.join(format!("{:02}", number * 7 % 30));
        fs::create_dir_all(&place)?;
        let bytes = 2_000 + number * 37 % 24_000;
        fs::write(place.join(format!("{:04}", number * 811 % ASSETS)), vec![number as u8; bytes])?;
    }
    Ok(())
}

fn repository(folder: &Path) -> anyhow::Result<()> {
    for number in 0..TRACKED {
        let place = folder.join(format!("module-{}", number % 120));
        fs::create_dir_all(&place)?;
        fs::write(place.join(format!("file-{number}.txt")), format!("line {number}\n").repeat(40))?;
    }
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        succeed(git.args(words).current_dir(folder).stdout(Stdio::null()))
    };
    git(&["init", "-q"])?;
    git(&["add", "-A"])?;
    git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "all"])
}

fn table(python: &str, place: &Path) -> anyhow::Result<()> {
    let make = format!(
        "import sqlite3; c = sqlite3.connect('table.db'); c.execute('create table t(a, b)'); \
         c.executemany('insert into t values(?, ?)', ((i, 'x' * 1000) for i in range({ROWS}))); \
         c.commit()"
    );
    succeed(Command::new(python).args(["-c", &make]).current_dir(place))
}
