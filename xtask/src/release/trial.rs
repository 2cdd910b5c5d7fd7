//! Runs what was built. Programs for another architecture are run by an emulator, and must print
//! what those of this machine print.

use super::Release;
use super::build::Target;
use anyhow::{Context, bail};
use std::env::consts::ARCH;
use std::process::Command;

/// A program and what it is given; each file is one of the checkout. `seekless` only starts one of
/// the others, which an emulator does not see.
const TRIALS: [(&str, &[&str]); 4] = [
    ("seekless-verbs", &["--version"]),
    ("seekless-verbs", &["trace", "files", "examples/files.csv"]),
    ("seekless-verbs", &SIMULATED),
    ("seekless-gnu", &["wc", "README.md"]),
];

const SIMULATED: [&str; 8] = [
    "sim",
    "examples/files.csv",
    "--unit",
    "file",
    "--policy",
    "lru,landlord,sieve,arc",
    "--capacity",
    "10%..100%*2",
];

/// Runs the programs for `target`, and compares with those for `native`, which were built before.
pub(super) fn programs(
    release: &mut Release,
    target: &Target,
    native: &Target,
) -> anyhow::Result<()> {
    let is_foreign = target.name != ARCH;
    let emulator = format!("qemu-{}", target.name);
    let otherwise = format!("the programs for {} are not run", target.name);
    if is_foreign && !release.has(&emulator, &otherwise) {
        return Ok(());
    }
    for (program, words) in TRIALS {
        let printed = |target: &Target, emulator: Option<&str>| {
            let file = target.built(release).join(program);
            let mut command = match emulator {
                Some(emulator) => Command::new(emulator),
                None => Command::new(&file),
            };
            command.args(emulator.map(|_| &file)).args(words).current_dir(&release.root);
            let output = command.output().context("cannot start it")?;
            if !output.status.success() {
                bail!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
            }
            Ok(output.stdout)
        };
        let named = || format!("{program} {} for {}", words.join(" "), target.name);
        let here = printed(native, None).with_context(named)?;
        if is_foreign && printed(target, Some(&emulator)).with_context(named)? != here {
            bail!("{} does not print what {}'s prints", named(), native.name);
        }
    }
    Ok(())
}
