//! What is known of the run that gave a table.

use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::{Command, Stdio};

/// What is known of a run. What is not known is left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Measured {
    /// What to type for the figures.
    pub command: String,
    /// What was read, from which device behind which throttle, and anything else that matters.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub conditions: String,
    /// The day, as 2026-11-27.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The commit that was measured; a `+` follows if files had been changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Where the figures come from, if the command did not write them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Load averages of the machine before and after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<[f64; 2]>,
    /// The machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
}

/// The machine of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Processors that this process may use.
    pub cores: usize,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// The kernel's release.
    pub kernel: String,
}

impl Machine {
    /// This machine, as far as the kernel describes it.
    #[must_use]
    pub fn this() -> Option<Self> {
        let read = |path: &str| std::fs::read_to_string(path).ok();
        let memory = read("/proc/meminfo")?;
        let kib = memory.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        Some(Self {
            cores: std::thread::available_parallelism().ok()?.get(),
            memory_bytes: kib.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1024,
            kernel: read("/proc/sys/kernel/osrelease")?.trim().to_owned(),
        })
    }
}

/// The load average of the last minute, if the kernel reports it.
pub(crate) fn load_average() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

/// The day in UTC.
pub(crate) fn today() -> Option<String> {
    said(Command::new("date").args(["-u", "+%F"]))
}

/// The commit of a checkout, with a `+` if its files differ from it.
pub(crate) fn commit(checkout: &Path) -> Option<String> {
    let git = || {
        let mut git = Command::new("git");
        git.arg("-C").arg(checkout);
        git
    };
    let commit = said(git().args(["rev-parse", "--short=12", "HEAD"]))?;
    // The files of results change by the run itself.
    let changed = ["status", "--porcelain", "--untracked-files=no", "--", ".", ":!bench/results"];
    let is_changed = said(git().args(changed)).is_none_or(|files| !files.is_empty());
    Some(if is_changed { format!("{commit}+") } else { commit })
}

/// The first line that a program prints, if it succeeds.
fn said(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.lines().next().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_described() {
        let machine = Machine::this().unwrap();
        assert!(machine.cores > 0 && machine.memory_bytes > 1 << 20 && !machine.kernel.is_empty());
        assert!(load_average().is_some());
        assert_eq!(today().map(|day| day.len()), Some("2026-11-27".len()));
    }

    #[test]
    fn a_folder_that_is_no_checkout_has_no_commit() {
        assert_eq!(commit(Path::new("/proc")), None);
    }
}
