//! What the traces are played on: a file or device as his player does, and device models. The table
//! model is made of the target's own latencies.

use super::shape::Line;
use anyhow::{Context, Result, ensure};
use seekless::device::{DeviceSpec, LatencyRow, LatencyTableParameters, Parameters, SplitMix64};
use seekless::measure::replay::{
    Io, Live, Modelled, Pace, Plan, Protected, Repeat, Rounds, Target, create_file, play,
};
use std::path::Path;

const PAGE_BYTES: u64 = 4096;
/// His player's slots.
const DEPTH: u32 = 64;
/// Depths of the table model, and the I/Os that measure each.
const TABLE_DEPTHS: [u32; 4] = [1, 4, 16, 64];
const TABLE_IOS: u64 = 4000;

/// A real target.
pub(super) struct Player {
    target: Target,
    stage: Live,
    bytes: u64,
}

/// A device model.
pub(super) struct Model {
    pub(super) name: &'static str,
    spec: DeviceSpec,
}

impl Player {
    pub(super) fn on_file(
        path: &Path,
        bytes: u64,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Self> {
        create_file(path, bytes, &mut |done, total| {
            progress(done, total);
            true
        })?;
        Player::on(Target::write_file(path, &Protected::default())?, bytes)
    }

    pub(super) fn on_device(path: &Path, bytes: u64) -> Result<Self> {
        Player::on(Target::destroy_device(path)?, bytes)
    }

    fn on(target: Target, bytes: u64) -> Result<Self> {
        let has = target.file_bytes()[0];
        ensure!(
            has >= bytes,
            "{} has only {} MiB: name fewer with --target",
            target.name(),
            has >> 20
        );
        let stage = Live::new(&target, DEPTH, PAGE_BYTES, b"@".to_vec(), false)?;
        Ok(Player { target, stage, bytes })
    }

    pub(super) fn name(&self) -> String {
        let past = if self.target.is_direct() { "past" } else { "through" };
        let device = self.target.device().map_or(String::new(), |it| format!(" on {}", it.name()));
        format!("{} MiB{device}, {past} the page cache", self.bytes >> 20)
    }

    pub(super) fn engine(&self) -> &'static str {
        self.stage.engine()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The I/Os of a trace, modulo the target's size.
    pub(super) fn within(&self, lines: &[Line]) -> Vec<Io> {
        let pages = self.bytes / PAGE_BYTES;
        lines.iter().map(|&(write, page)| io(write, page % pages)).collect()
    }

    /// One round.
    pub(super) fn seconds(&mut self, ios: &[Io]) -> Result<f64> {
        Ok(self.rounds(ios, Pace::Ozen, 1)?.time.min_ns as f64 / 1e9)
    }

    fn rounds(&mut self, ios: &[Io], pace: Pace, rounds: u32) -> Result<Rounds> {
        let plan = Plan { pace, ..Plan::default() };
        let repeat = Repeat::Times(rounds);
        let stage = &mut self.stage;
        Ok(Rounds::live(ios, &plan, repeat, &self.target, stage, &mut |_, _| true)?)
    }

    /// A disk, his flash drive, and a table of the target's own latencies.
    pub(super) fn models(&mut self) -> Result<Vec<Model>> {
        let preset =
            |name: &'static str| -> Result<Model> { Ok(Model { name, spec: name.parse()? }) };
        let table = Model { name: "table", spec: DeviceSpec::new("table", self.table()?)? };
        Ok(vec![preset("t7k250")?, preset("850evo")?, table])
    }

    /// The mean latency of random reads and writes at each depth.
    fn table(&mut self) -> Result<Parameters> {
        let mut latencies = |write: bool| -> Result<Vec<LatencyRow>> {
            let pages = self.bytes / PAGE_BYTES;
            let mut seed = SplitMix64::new(u64::from(write));
            let mut row = Vec::new();
            for depth in TABLE_DEPTHS {
                let ios: Vec<Io> = (0..TABLE_IOS).map(|_| io(write, seed.below(pages))).collect();
                // Threads of a closed loop are I/Os in flight.
                let ios: Vec<Io> = ios
                    .into_iter()
                    .zip((0..depth).cycle())
                    .map(|(io, thread)| Io { thread, ..io })
                    .collect();
                let rounds = self.rounds(&ios, Pace::Closed, 3)?;
                let latency = if write { rounds.write_latency } else { rounds.read_latency };
                let mean = latency.context("I/Os were played")?.mean_ns;
                row.push((mean.round() as u64).max(1));
            }
            Ok(vec![LatencyRow { bytes: PAGE_BYTES, latency_ns: row }])
        };
        let (reads, writes) = (latencies(false)?, latencies(true)?);
        let depths = TABLE_DEPTHS.to_vec();
        Ok(Parameters::LatencyTable(LatencyTableParameters { depths, reads, writes }))
    }
}

/// An I/O on a page.
pub(super) fn io(write: bool, page: u64) -> Io {
    Io { time_ns: 0, offset: page * PAGE_BYTES, bytes: PAGE_BYTES, file: 0, thread: 0, write }
}

impl Model {
    /// What his player would take on it.
    pub(super) fn seconds(&self, ios: &[Io], bytes: u64) -> Result<f64> {
        let mut stage = Modelled::new(self.spec.model(), &[bytes], DEPTH);
        let plan = Plan { pace: Pace::Ozen, ..Plan::default() };
        Ok(play(ios, &plan, &mut stage, &mut |_, _| true)?.elapsed_ns as f64 / 1e9)
    }
}
