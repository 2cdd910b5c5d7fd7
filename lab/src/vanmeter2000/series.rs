//! The passes of a rival over one file, in the same mode again and again, as in the paper. Each
//! pass finds the cache as the previous one left it. So rivals take turns by blocks, not by passes.
//! A block begins with the file out of the cache and one pass that is discarded.

use super::estimate::{Estimate, estimate};
use super::pass::{self, At, Pass};
use super::programs::Programs;
use super::task::{Task, Tool};
use anyhow::{Context, ensure};
use serde::Serialize;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// How often a block is repeated because caches were emptied meanwhile.
const REDONE_MAX: u64 = 5;

/// The measurements of a rival.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Series {
    pub(super) tool: Tool,
    /// The first pass of each block, from cold. It is not in the figures.
    pub(super) discarded: Vec<Pass>,
    pub(super) passes: Vec<Pass>,
    /// Blocks repeated because the kernel's count of cache drops changed.
    pub(super) redone: u64,
    /// Drops during passes that were kept after too many repeats.
    pub(super) drops_kept: u64,
    #[serde(skip)]
    output_digest: Option<u64>,
}

/// Checks the exit code and the output of a task.
pub(super) type Check<'a> = dyn Fn(&Task, i32, &[u8]) -> anyhow::Result<()> + 'a;

/// The place and the number of passes.
pub(super) struct Setting<'a> {
    pub(super) at: At<'a>,
    pub(super) programs: &'a Programs,
    /// The output file of tools that write one; removed after each pass.
    pub(super) output: &'a Path,
    pub(super) blocks: usize,
    pub(super) check: &'a Check<'a>,
}

impl Setting<'_> {
    /// Each tool does `warming` and then `tasks`, in blocks.
    pub(super) fn measure(
        &self,
        tools: &[Tool],
        warming: &Task,
        tasks: &[Task],
    ) -> anyhow::Result<Vec<Series>> {
        let empty = |&tool: &Tool| Series {
            tool,
            discarded: Vec::new(),
            passes: Vec::new(),
            redone: 0,
            drops_kept: 0,
            output_digest: None,
        };
        let mut all: Vec<Series> = tools.iter().map(empty).collect();
        for tasks in tasks.chunks(tasks.len().div_ceil(self.blocks).max(1)) {
            for series in &mut all {
                self.block(series, warming, tasks)?;
            }
        }
        let digests: Vec<u64> = all.iter().filter_map(|series| series.output_digest).collect();
        ensure!(digests.windows(2).all(|pair| pair[0] == pair[1]), "the rivals' outputs differ");
        Ok(all)
    }

    fn block(&self, series: &mut Series, warming: &Task, tasks: &[Task]) -> anyhow::Result<()> {
        loop {
            let drops = cache_drops();
            self.at.level.forget(self.at.files)?;
            let first = self.pass(series.tool.warmer(), warming, None)?;
            let last = tasks.len().saturating_sub(1);
            let mut passes = Vec::new();
            for (index, task) in tasks.iter().enumerate() {
                let digest = (index == last).then_some(&mut series.output_digest);
                passes.push(self.pass(series.tool, task, digest)?);
            }
            let moved = cache_drops() - drops;
            if moved > 0 && series.redone < REDONE_MAX {
                series.redone += 1;
                continue;
            }
            series.drops_kept += moved;
            series.discarded.push(first);
            series.passes.extend(passes);
            return Ok(());
        }
    }

    /// Runs one pass and checks its answer.
    pub(super) fn pass(
        &self,
        tool: Tool,
        task: &Task,
        digest: Option<&mut Option<u64>>,
    ) -> anyhow::Result<Pass> {
        let words = self.programs.command(tool, task, self.at.files, self.output);
        let done = pass::run(self.at, &words)?;
        (self.check)(task, done.code, &done.stdout)
            .with_context(|| format!("{} answers wrongly", tool.name()))?;
        if self.output.exists() {
            if let Some(digest) = digest {
                *digest = Some(digest_of(self.output)?);
            }
            fs::remove_file(self.output)
                .with_context(|| format!("cannot remove {}", self.output.display()))?;
        }
        Ok(done.pass)
    }
}

impl Series {
    pub(super) fn seconds(&self) -> Estimate {
        estimate(&self.passes.iter().map(|pass| pass.seconds).collect::<Vec<_>>())
    }

    pub(super) fn device_bytes(&self) -> Estimate {
        estimate(&self.passes.iter().map(|pass| pass.device_bytes as f64).collect::<Vec<_>>())
    }

    pub(super) fn most(&self, what: fn(&Pass) -> u64) -> u64 {
        self.passes.iter().map(what).max().unwrap_or(0)
    }

    /// The median of the bytes in the cache at the start of a pass.
    pub(super) fn median_resident(&self) -> u64 {
        let mut all: Vec<u64> = self.passes.iter().map(|pass| pass.resident_bytes).collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied().unwrap_or(0)
    }
}

/// How often the kernel was told to drop its caches; 0 where it does not count that.
fn cache_drops() -> u64 {
    let counts = fs::read_to_string("/proc/vmstat").unwrap_or_default();
    counts.lines().find_map(|line| line.strip_prefix("drop_pagecache ")?.parse().ok()).unwrap_or(0)
}

/// FNV-1a, over words of eight bytes.
fn digest_of(path: &Path) -> anyhow::Result<u64> {
    let mut file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let (mut digest, mut buffer) = (0xcbf2_9ce4_8422_2325_u64, vec![0; 1 << 20]);
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(digest);
        }
        for word in buffer[..read].chunks(8) {
            let value = word.iter().fold(0_u64, |value, &byte| value << 8 | u64::from(byte));
            digest = (digest ^ value).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
