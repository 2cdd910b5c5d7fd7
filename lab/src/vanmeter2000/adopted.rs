//! Table 4 with a real program: the wc of coreutils. A script of the bindings gets its source from
//! Debian when the lab runs, and changes it to read in the order of SLEDs. Both are run over a file
//! larger than the cache, so that each finds what its own previous pass left there.

use super::files::{self, Text};
use super::group::Group;
use super::level::Level;
use super::pass::{self, At, Pass};
use super::table4::Row;
use crate::child;
use anyhow::{Context, ensure};
use seekless::device::units::format_bytes;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The size of the file, as a multiple of the cache.
const SIZE: f64 = 1.5;

/// A program before it adopts SLEDs and after.
#[derive(Serialize)]
pub(super) struct Adopted {
    #[serde(flatten)]
    pub(super) row: Row,
    file_bytes: u64,
    plain: Pass,
    sleds: Pass,
}

/// Builds both and compares them; `None`, with a line that says why, where they cannot be built.
///
/// # Errors
/// The two answer differently, or cannot be run.
pub(super) fn measure(
    group: &Group,
    folder: &Path,
    cache_bytes: u64,
) -> anyhow::Result<Option<Adopted>> {
    let built = folder.join("adopted");
    let row = match build(&built) {
        Ok(row) => row,
        Err(error) => {
            eprintln!("skipped: Table 4 with a real program: {error:#}");
            return Ok(None);
        }
    };
    let text = Text::make(folder.join("text"), (SIZE * cache_bytes as f64) as u64)?;
    let files = [text.path.clone()];
    let at = At { group, level: &Level::Disk, files: &files };
    let (plain, before) = second_pass(at, &built.join("plain/wc"))?;
    let (sleds, after) = second_pass(at, &built.join("sleds/wc"))?;
    ensure!(before == after, "{} says {before:?} before, and {after:?} after", row.application);
    let lines = before.split_whitespace().next().and_then(|word| word.parse().ok());
    ensure!(
        lines == Some(text.lines),
        "{} says {before:?} of {} lines",
        row.application,
        text.lines
    );
    fs::remove_file(&text.path)?;
    fs::remove_dir_all(&built).context("cannot remove the source")?;
    Ok(Some(Adopted { row, file_bytes: text.bytes, plain, sleds }))
}

/// Runs the script, and returns its count of lines.
fn build(folder: &Path) -> anyhow::Result<Row> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bindings/c/adopting/wc.sh");
    // The script removes its folder when this program is interrupted. In the lab's own folder it
    // would still write while the lab removes that.
    let beside = folder.parent().and_then(Path::parent).context("the lab's folder has a parent")?;
    let made = tempfile::Builder::new().prefix("seekless-vanmeter2000-wc.").tempdir_in(beside)?;
    let mut bash = child::command("bash");
    bash.arg(script).arg(made.path()).arg(libraries()?);
    let script = child::spawn(bash.stdout(Stdio::piped()).stderr(Stdio::piped()))?;
    let output = script.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}", said.trim());
    fs::rename(made.keep(), folder).context("cannot move the programs")?;
    let counted = String::from_utf8_lossy(&output.stdout).into_owned();
    Row::parse(counted.trim()).context("the script of the bindings counts nothing")
}

/// The folder of the library in C: the one of this program.
fn libraries() -> anyhow::Result<PathBuf> {
    let lab = std::env::current_exe()?;
    Ok(lab.parent().context("a program is in a folder")?.to_owned())
}

/// Counts lines, words and bytes twice, the first time from cold. Returns the second pass.
fn second_pass(at: At<'_>, program: &Path) -> anyhow::Result<(Pass, String)> {
    at.files.iter().try_for_each(|file| files::forget(file))?;
    let mut words = vec![program.as_os_str().to_owned()];
    words.extend(at.files.iter().map(|file| file.as_os_str().to_owned()));
    pass::run(at, &words)?;
    let done = pass::run(at, &words)?;
    ensure!(done.code == 0, "{} ends with {}", program.display(), done.code);
    Ok((done.pass, String::from_utf8_lossy(&done.stdout).into_owned()))
}

/// The comparison in a sentence.
pub(super) fn words(adopted: &Adopted) -> String {
    let pass =
        |pass: &Pass| format!("{} in {:.2} s", format_bytes(pass.device_bytes), pass.seconds);
    format!(
        "{}: over a file of {} on a disk without a limit, a second pass reads {} before, {} after. \
         Both answer alike.\n",
        adopted.row.application,
        format_bytes(adopted.file_bytes),
        pass(&adopted.plain),
        pass(&adopted.sleds)
    )
}
