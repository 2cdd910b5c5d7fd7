//! Builds the test programs, and finds them.

use anyhow::{Context, bail};
use serde::Deserialize;
use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A test program.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// Its package and target, such as `seekless-io/soak`.
    pub(super) name: String,
    pub(super) path: PathBuf,
    /// The folder of its package, in which it runs.
    pub(super) folder: PathBuf,
    /// Names of tests that are not run.
    pub(super) left_out: Vec<String>,
}

/// The part of cargo's messages that matters here.
#[derive(Deserialize)]
struct Message {
    manifest_path: Option<PathBuf>,
    target: Option<Target>,
    profile: Option<Profile>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// Builds all, with the profile that the command is built with.
pub(super) fn build() -> anyhow::Result<Vec<Program>> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["test", "--release", "--locked", "--workspace", "--lib", "--bins", "--tests"])
        .args(crate::dist::WHOLE)
        .args(["--no-run", "--message-format", "json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    if !output.status.success() {
        bail!("the tests cannot be built");
    }
    let text = String::from_utf8(output.stdout).context("cargo's messages")?;
    let programs: anyhow::Result<Vec<Option<Program>>> = text.lines().map(program).collect();
    Ok(programs?.into_iter().flatten().collect())
}

/// The program that a message of cargo is about, if it is about one.
fn program(line: &str) -> anyhow::Result<Option<Program>> {
    let message: Message = serde_json::from_str(line).with_context(|| line.to_owned())?;
    let Message {
        manifest_path: Some(manifest),
        target: Some(target),
        profile: Some(Profile { test: true }),
        executable: Some(path),
    } = message
    else {
        return Ok(None);
    };
    let folder = manifest.parent().context("a manifest lies in a folder")?.to_owned();
    let name = named(&folder.file_name().unwrap_or_default().to_string_lossy(), &target.name);
    Ok(Some(Program { name, path, folder, left_out: Vec::new() }))
}

fn named(package: &str, target: &str) -> String {
    let same = package.replace('-', "_") == target.replace('-', "_");
    if same { package.to_owned() } else { format!("{package}/{target}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_test_program_is_found_in_cargos_messages() {
        let line = |test: bool, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/w/crates/x-io/Cargo.toml","target":{{"name":"soak","kind":["test"]}},"profile":{{"test":{test}}},"executable":{executable}}}"#
            )
        };
        let found = program(&line(true, r#""/t/soak-1""#)).expect("a message");
        let expected = Program {
            name: "x-io/soak".to_owned(),
            path: Path::new("/t/soak-1").to_owned(),
            folder: Path::new("/w/crates/x-io").to_owned(),
            left_out: Vec::new(),
        };
        assert_eq!(found, Some(expected));
        assert_eq!(program(&line(false, r#""/t/x""#)).expect("a message"), None);
        assert_eq!(program(&line(true, "null")).expect("a message"), None);
        let last = r#"{"reason":"build-finished","success":true}"#;
        assert_eq!(program(last).expect("a message"), None);
    }
}
