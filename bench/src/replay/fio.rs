//! fio as a rival: the same jobs, and its replay of the same timed trace.

use super::{Job, Run};
use anyhow::{Context, bail, ensure};
use seekless::measure::replay::Io;
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// An installed fio.
pub(super) struct Fio {
    pub(super) version: String,
}

impl Fio {
    pub(super) fn find() -> Option<Self> {
        let said = Command::new("fio").arg("--version").stdin(Stdio::null()).output().ok()?;
        let version = String::from_utf8(said.stdout).ok()?.trim().to_owned();
        (said.status.success() && !version.is_empty()).then_some(Fio { version })
    }

    /// One round of a job.
    pub(super) fn run(&self, job: &Job, file: &Path, round: usize) -> anyhow::Result<Run> {
        let reads = if job.random { "randread" } else { "read" };
        let job = self.job(
            file,
            job.depth,
            &[
                format!("--rw={reads}"),
                format!("--bs={}", job.bytes),
                format!("--io_size={}", job.bytes * job.ios),
                "--norandommap".to_owned(),
                "--registerfiles=1".to_owned(),
                format!("--randseed={}", round + 1),
            ],
        )?;
        let read = &job["read"];
        let ios = read["total_ios"].as_f64().context("fio's total_ios")?;
        let runtime_ms = read["runtime"].as_f64().context("fio's runtime")?;
        let share = |name: &str| job[name].as_f64().with_context(|| format!("fio's {name}"));
        // fio's shares are of the job's whole time, which is its runtime and a little more.
        let whole_ms = job["job_runtime"].as_f64().unwrap_or(runtime_ms);
        let cpu_ms = (share("usr_cpu")? + share("sys_cpu")?) / 100.0 * whole_ms;
        let iops = read["iops"].as_f64().context("fio's iops")?;
        Ok(Run { iops, cpu_ns_per_io: cpu_ms * 1e6 / ios.max(1.0) })
    }

    /// The seconds of its replay of a timed trace.
    pub(super) fn timed(&self, ios: &[Io], file: &Path, folder: &Path) -> anyhow::Result<f64> {
        let name = file.to_str().context("a path in UTF-8")?;
        let mut log = format!("fio version 3 iolog\n0 {name} add\n0 {name} open\n");
        for io in ios {
            writeln!(log, "{} {name} read {} {}", io.time_ns / 1000, io.offset, io.bytes)?;
        }
        let last_us = ios.last().map_or(0, |io| io.time_ns / 1000);
        writeln!(log, "{last_us} {name} close")?;
        let path = folder.join("timed.iolog");
        std::fs::write(&path, log)?;
        // It cannot register the files of a log.
        let job = self.job(file, 1024, &[format!("--read_iolog={}", path.display())])?;
        Ok(job["read"]["runtime"].as_f64().context("fio's runtime")? / 1000.0)
    }

    /// Runs one job with our engine and flags; what its JSON says of it.
    fn job(&self, file: &Path, depth: u32, more: &[String]) -> anyhow::Result<Value> {
        let mut command = Command::new("fio");
        command.args(["--name=job", "--ioengine=io_uring", "--direct=1", "--fixedbufs=1"]);
        command.args(["--thread", "--output-format=json"]);
        command.arg(format!("--filename={}", file.display()));
        command.arg(format!("--iodepth={depth}")).args(more).stdin(Stdio::null());
        let output = command.output().context("cannot run fio")?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "fio failed: {said}");
        let text = String::from_utf8(output.stdout).context("fio's report")?;
        // fio writes notes before its JSON.
        let start = text.find('{').with_context(|| format!("fio printed no report: {text}"))?;
        let mut report: Value = serde_json::from_str(&text[start..]).context("fio's report")?;
        match report["jobs"][0].take() {
            Value::Null => bail!("fio's report has no job"),
            job => {
                ensure!(job["error"] == 0, "fio's job failed: {said}");
                Ok(job)
            }
        }
    }
}
