//! Processes that end with the lab. Ctrl-C ends the lab alone, and the kernel then ends them.

use anyhow::Context;
use nix::sys::signal::SigSet;
use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// A command that gets SIGTERM when the lab ends. It is in a process group of its own.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "TERM", "--"]).arg(program);
    command.stdin(Stdio::null()).process_group(0);
    command
}

/// Starts it. The lab blocks signals, and processes inherit that: it would not end when asked to.
pub(crate) fn spawn(command: &mut Command) -> anyhow::Result<Child> {
    let blocked = SigSet::thread_get_mask().context("cannot read the signal mask")?;
    SigSet::empty().thread_set_mask().context("cannot unblock signals")?;
    let child = command.spawn();
    blocked.thread_set_mask().context("cannot block signals again")?;
    child.context("cannot start setpriv (Debian: util-linux)")
}
