//! `cargo xtask release [--dry-run] [--out DIR]` makes all files of a release, and a list of their
//! sums. It publishes nothing. What a missing tool leaves out is said; without `--dry-run` it is an
//! error.

mod archive;
mod bill;
mod build;
mod checks;
mod debian;
mod image;
mod notices;
mod programs;
mod python;
mod trial;

use crate::workspace::Workspace;
use crate::{dist, packages};
use anyhow::{Context, bail};
use checks::Commit;
use sha2::{Digest as _, Sha256};
use std::cell::RefCell;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// One release in the making.
struct Release {
    root: PathBuf,
    version: String,
    commit: Commit,
    /// Where the files go.
    out: PathBuf,
    /// What is made, in order.
    files: RefCell<Vec<String>>,
    /// What is not there, and what follows.
    missing: Vec<String>,
}

/// Makes it, in `out` or `target/release-VERSION`, which must not hold anything yet.
pub(crate) fn run(is_dry: bool, out: Option<&Path>) -> anyhow::Result<()> {
    let workspace = Workspace::own()?;
    let root = workspace.workspace_root.clone();
    let cli = workspace.packages.iter().find(|package| package.name == "seekless-cli");
    let cli = cli.context("there is no seekless-cli")?;
    let version = cli.version.clone();
    let oldest = cli.rust_version.clone().context("seekless-cli has no rust-version")?;
    let commit = checks::ready(&root, &version, is_dry)?;
    let default = root.join(format!("target/release-{version}"));
    let out = std::path::absolute(out.unwrap_or(&default))?;
    fs::create_dir_all(&out).with_context(|| format!("cannot make {}", out.display()))?;
    if fs::read_dir(&out)?.next().is_some() {
        bail!("{} is not empty: name another folder with --out", out.display());
    }
    let setup = "source scripts/setup.sh && setup_release";
    dist::run(Command::new("bash").args(["-c", setup]).current_dir(&root))?;
    let files = RefCell::default();
    let mut release = Release { root, version, commit, out, files, missing: Vec::new() };
    release.timed("check with the oldest Rust", |own| checks::oldest_rust(own, &oldest))?;
    release.make(&workspace)?;
    println!("{} files in {}", release.files.borrow().len(), release.out.display());
    for missing in &release.missing {
        println!("missing: {missing}");
    }
    if !is_dry && !release.missing.is_empty() {
        bail!("this is no whole release: install what is missing");
    }
    Ok(())
}

impl Release {
    fn make(&mut self, workspace: &Workspace) -> anyhow::Result<()> {
        let stages = self.target_dir().join("stages");
        if stages.exists() {
            fs::remove_dir_all(&stages)?;
        }
        let targets = build::targets(self)?;
        let native = targets.iter().find(|target| target.name == std::env::consts::ARCH);
        let native = native.context("releases are made on x86-64 or aarch64")?;
        notices::write(self)?;
        for target in &targets {
            let name = target.name;
            self.timed(&format!("programs for {name}"), |own| build::build(own, target))?;
            self.timed(&format!("trial of {name}"), |own| trial::programs(own, target, native))?;
        }
        programs::pages(self, native)?;
        self.timed("archives and .deb", |own| {
            targets.iter().try_for_each(|target| {
                programs::archive_programs(own, target)?;
                programs::archive_libraries(own, target)?;
                debian::package(own, target)
            })
        })?;
        self.timed("image", |own| image::write(own, &targets))?;
        self.timed("wheels and sources", |own| python::write(own, &targets))?;
        self.timed("crates", |own| own.crates(workspace))?;
        bill::write(self)?;
        self.sums()
    }

    /// Does one stage, and prints how long it took.
    fn timed(
        &mut self,
        stage: &str,
        work: impl FnOnce(&mut Self) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let start = Instant::now();
        work(self)?;
        println!("{stage}: {} s", start.elapsed().as_secs());
        Ok(())
    }

    /// The packages for a registry. `./test` has built each.
    fn crates(&self, workspace: &Workspace) -> anyhow::Result<()> {
        let folder = self.stage("crates")?;
        dist::run(
            packages::command(workspace).arg("--no-verify").arg("--target-dir").arg(&folder),
        )?;
        let crates = archive::below(&folder.join("package"))?;
        for file in crates.iter().filter(|file| file.extension().is_some_and(|e| e == "crate")) {
            if file.parent() == Some(&folder.join("package")) {
                let name = file.file_name().context("a file has a name")?.to_string_lossy();
                fs::copy(file, self.out.join(&*name))?;
                self.made(&name);
            }
        }
        Ok(())
    }

    /// `SHA256SUMS`, as `sha256sum --check` reads it.
    fn sums(&self) -> anyhow::Result<()> {
        let mut names = self.files.borrow().clone();
        names.sort();
        let mut text = String::new();
        for name in names {
            writeln!(text, "{}  {name}", sum(&fs::read(self.out.join(&name))?))?;
        }
        self.write("SHA256SUMS", text.as_bytes())
    }

    /// Where cargo builds it: apart from other builds, whose settings differ.
    fn target_dir(&self) -> PathBuf {
        self.root.join("target/shipped")
    }

    /// A folder for what is put together.
    fn stage(&self, name: &str) -> anyhow::Result<PathBuf> {
        let folder = self.target_dir().join("stages").join(name);
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(folder)
    }

    /// Where the notices are of all that is inside (`notices::write`).
    fn notices(&self) -> anyhow::Result<PathBuf> {
        Ok(self.stage("notices")?.join("THIRD-PARTY.txt"))
    }

    fn copy_tree(&self, from: &Path, to: &Path) -> anyhow::Result<()> {
        for path in archive::below(from)? {
            let there = to.join(path.strip_prefix(from)?);
            match path.is_dir() {
                true => fs::create_dir_all(&there)?,
                false => fs::copy(&path, &there).map(|_| ())?,
            }
        }
        Ok(())
    }

    /// Writes one file of the release.
    fn write(&self, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let path = self.out.join(name);
        fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        self.made(name);
        Ok(())
    }

    /// Notes a file that lies in `out`.
    fn made(&self, name: &str) {
        println!("made {name}");
        self.files.borrow_mut().push(name.to_owned());
    }

    /// Whether a program is there. If not, notes what follows.
    fn has(&mut self, program: &str, otherwise: &str) -> bool {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_there = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
        self.unless(is_there, program, otherwise)
    }

    fn has_file(&mut self, file: &Path, otherwise: &str) -> bool {
        self.unless(file.is_file(), &file.display().to_string(), otherwise)
    }

    fn unless(&mut self, is_there: bool, what: &str, otherwise: &str) -> bool {
        let line = format!("{what}: {otherwise}");
        if !is_there && !self.missing.contains(&line) {
            self.missing.push(line);
        }
        is_there
    }
}

/// The SHA-256 sum of bytes, in hexadecimal.
fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
