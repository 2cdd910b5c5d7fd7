//! What must hold before a release: nothing uncommitted, a changelog that says what is in it, tests
//! that passed on this commit, and the oldest Rust that the crates promise to build with.

use super::Release;
use crate::dist;
use anyhow::{Context, bail};
use std::fs;
use std::path::Path;
use std::process::Command;

/// `./test` writes the commit here after all steps passed on a clean checkout.
const TESTED: &str = "target/tested-commit";

/// The commit that is released, and its time.
pub(super) struct Commit {
    pub(super) id: String,
    pub(super) seconds: u64,
    /// As RFC 3339 and as RFC 2822, in UTC.
    pub(super) iso: String,
    pub(super) mail: String,
}

/// Refuses what is not ready. Names all that is wrong.
pub(super) fn ready(root: &Path, version: &str, is_dry: bool) -> anyhow::Result<Commit> {
    let commit = commit(root)?;
    let mut wrong = Vec::new();
    let changed = git(root, &["status", "--porcelain"])?;
    if !changed.is_empty() {
        wrong.push(format!("not committed, commit or remove it:\n{changed}"));
    }
    let path = root.join("CHANGELOG.md");
    let changelog =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    wrong.extend(changelog_lacks(&changelog, version));
    let tested = fs::read_to_string(root.join(TESTED)).unwrap_or_default();
    if !is_dry && tested.trim() != commit.id {
        wrong.push(format!("the tests did not pass on {}: run ./test", commit.id));
    }
    if !wrong.is_empty() {
        bail!("this cannot be released:\n- {}", wrong.join("\n- "));
    }
    Ok(commit)
}

/// Has the oldest Rust that the crates promise look at all of them.
pub(super) fn oldest_rust(release: &mut Release, version: &str) -> anyhow::Result<()> {
    let with_it = |words: &[&str]| {
        let mut command = Command::new("rustup");
        command.args(["run", version]).args(words).current_dir(&release.root);
        command.env("CARGO_TARGET_DIR", release.root.join("target/oldest-rust"));
        command
    };
    let is_there = with_it(&["cargo", "--version"]).output().is_ok_and(|o| o.status.success());
    let mut check = with_it(&["cargo", "check", "--workspace", "--locked", "--quiet"]);
    let what = format!("Rust {version} (rustup toolchain install {version})");
    if release.unless(is_there, &what, "the crates are not checked with it") {
        dist::run(&mut check).with_context(|| format!("Rust {version} does not build all"))?;
    }
    Ok(())
}

/// What a changelog lacks for a version: a dated entry with words below it, the first after
/// `[Unreleased]`, which is empty.
fn changelog_lacks(text: &str, version: &str) -> Option<String> {
    let mut entries = text.split("\n## ").skip(1).map(|entry| entry.split_once('\n'));
    let unreleased = entries.next().flatten();
    if !unreleased.is_some_and(|(head, body)| head == "[Unreleased]" && body.trim().is_empty()) {
        return Some(format!(
            "CHANGELOG.md: move what stands under [Unreleased] to [{version}], and leave it empty"
        ));
    }
    let entry = entries.next().flatten().filter(|(_, body)| !body.trim().is_empty());
    let date = entry.and_then(|(head, _)| head.strip_prefix(&format!("[{version}] - ")));
    if date.is_some_and(is_date) {
        return None;
    }
    Some(format!("CHANGELOG.md: [Unreleased] is not followed by `## [{version}] - YYYY-MM-DD`"))
}

fn is_date(text: &str) -> bool {
    let is_fit = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    text.len() == 10 && text.bytes().enumerate().all(is_fit)
}

fn commit(root: &Path) -> anyhow::Result<Commit> {
    let shown = |format: &str| {
        git(root, &["log", "-1", "--format=%cd", &format!("--date=format-local:{format}")])
    };
    Ok(Commit {
        id: git(root, &["rev-parse", "HEAD"])?,
        seconds: git(root, &["log", "-1", "--format=%ct"])?.parse().context("a commit's time")?,
        iso: shown("%Y-%m-%dT%H:%M:%SZ")?,
        mail: shown("%a, %d %b %Y %H:%M:%S +0000")?,
    })
}

fn git(root: &Path, words: &[&str]) -> anyhow::Result<String> {
    let output = Command::new("git").arg("-C").arg(root).args(words).env("TZ", "UTC0").output();
    let output = output.context("cannot start git")?;
    if !output.status.success() {
        bail!("git {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_released_that_the_changelog_names_first() {
        let text = |unreleased: &str, entry: &str| {
            format!("# Changelog\n\n## [Unreleased]\n{unreleased}\n## {entry}\n\n- It works.\n")
        };
        assert_eq!(changelog_lacks(&text("", "[1.2.0] - 2026-11-29"), "1.2.0"), None);
        for (unreleased, entry) in [
            ("\n- A change.\n", "[1.2.0] - 2026-11-29"),
            ("", "[1.2.0]"),
            ("", "[1.2.0] - soon"),
            ("", "[1.1.0] - 2026-11-29"),
        ] {
            assert!(changelog_lacks(&text(unreleased, entry), "1.2.0").is_some(), "{entry}");
        }
        assert!(changelog_lacks("# Changelog\n", "1.2.0").is_some());
        let bare = "# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-11-29\n";
        assert!(changelog_lacks(bare, "1.2.0").is_some(), "an entry without words");
    }
}
