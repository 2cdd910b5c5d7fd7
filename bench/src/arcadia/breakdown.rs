//! Where the time of the simulated starts goes.
//!
//! A program that computes nothing keeps the volume busy from its first load to its last. So its
//! time is that of its requests or that of its bytes, whichever is longer, and what is left to gain
//! shows in what these are for. A file is named by none, by some or by all of the other runs. A
//! read belongs to the file that was loaded, whatever else it brought.

use super::start::{Start, settings};
use super::{Args, RUNS};
use anyhow::bail;
use seekless::device::DeviceSpec;
use seekless::device::units::{format_bytes, format_count};
use seekless::policy::eviction::Id;
use seekless::policy::foresight::prediction::Model;
use seekless::policy::planner::READ_BYTES_MAX;
use seekless::sim::store::{DemandRead, StoreFigures, demand_reads, listed};

pub(super) const HEADER: [&str; 9] = [
    "device",
    "start",
    "told",
    "requests take",
    "bytes take",
    "parts of large files",
    "other reads for files named by none, some, all",
    "for what was read before",
    "in vain of files named by none, some, all; again",
];

/// What the reads of a start came to, by how many of the other runs name a file.
#[derive(Debug, Default, PartialEq)]
struct Breakdown {
    large_parts: u64,
    reads: [u64; 3],
    /// Of these, reads for a file that an earlier read had brought, and memory had let go of.
    repeated: u64,
    vain_bytes: [u64; 3],
    again_bytes: u64,
}

/// A row for each thing that the store can know.
pub(super) fn rows(
    start: &Start,
    args: &Args,
    name: &str,
    spec: &DeviceSpec,
) -> anyhow::Result<Vec<Vec<String>>> {
    let &DeviceSpec::Volume { iops, bytes_per_second } = spec else {
        bail!("{spec} is no limit: give iops=N,bandwidth=RATE");
    };
    let begin = |told: &str, figures: &StoreFigures| {
        vec![
            spec.to_string(),
            name.to_owned(),
            told.to_owned(),
            format!("{:.2} s", figures.requests as f64 / iops as f64),
            format!("{:.2} s", figures.bytes as f64 / bytes_per_second as f64),
        ]
    };
    let mut rows = Vec::new();
    let models: [(&str, Option<&Model>); 3] =
        [("nothing", None), ("other runs", Some(&start.model)), ("which named", Some(&start.told))];
    for (told, model) in models {
        let settings = settings(args, spec, model.cloned());
        let (archive, loads) = (&start.archive, &start.loads);
        let (figures, reads) = demand_reads(archive, loads, &settings, &mut spec.model())?;
        let mut row = begin(told, &figures);
        row.extend(Breakdown::of(start, &reads).cells());
        rows.push(row);
    }
    let settings = settings(args, spec, None);
    let figures = listed(&start.archive, &start.loads, &settings, &mut spec.model())?;
    let mut row = begin("the list", &figures);
    row.resize(HEADER.len(), String::new());
    rows.push(row);
    Ok(rows)
}

impl Breakdown {
    fn of(start: &Start, reads: &[DemandRead]) -> Self {
        let entries = &start.archive.extents;
        let class = |id: usize| match start.naming[id] as usize {
            0 => 0,
            others if others < RUNS.len() - 1 => 1,
            _ => 2,
        };
        let needed = flags(entries.len(), &start.loads);
        let mut brought = vec![false; entries.len()];
        let mut sums = Self::default();
        for &DemandRead { id, extent } in reads {
            let id = id as usize;
            if extent.bytes > READ_BYTES_MAX {
                sums.large_parts += extent.bytes.div_ceil(READ_BYTES_MAX);
                continue;
            }
            sums.reads[class(id)] += 1;
            sums.repeated += u64::from(brought[id]);
            let first = entries.partition_point(|entry| entry.offset < extent.offset);
            let held = entries.iter().enumerate().skip(first);
            for (number, entry) in held.take_while(|(_, entry)| entry.end() <= extent.end()) {
                if std::mem::replace(&mut brought[number], true) {
                    sums.again_bytes += entry.bytes;
                } else if !needed[number] {
                    sums.vain_bytes[class(number)] += entry.bytes;
                }
            }
        }
        sums
    }

    fn cells(&self) -> [String; 4] {
        let reads = self.reads.map(format_count).join(", ");
        let vain = self.vain_bytes.map(format_bytes).join(", ");
        [
            format_count(self.large_parts),
            reads,
            format_count(self.repeated),
            format!("{vain}; {}", format_bytes(self.again_bytes)),
        ]
    }
}

fn flags(count: usize, set: &[Id]) -> Vec<bool> {
    let mut flags = vec![false; count];
    set.iter().for_each(|&id| flags[id as usize] = true);
    flags
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless::policy::layout::extents::Extent;
    use seekless::sim::store::Archive;

    #[test]
    fn a_read_is_split_by_what_it_is_for_and_what_it_brought() {
        let extents = (0..4).map(|number| Extent { offset: number * 100, bytes: 100 }).collect();
        let archive = Archive {
            extents,
            bytes: vec![100; 4],
            file_bytes: 400,
            alignment: 1,
            opening: Vec::new(),
            names: None,
        };
        let model = Model::train(4, &[]);
        let naming = vec![0, 1, RUNS.len() as u32 - 1, 0];
        let start = Start { archive, loads: vec![0, 2], naming, told: model.clone(), model };
        let read = |id, offset, bytes| DemandRead { id, extent: Extent { offset, bytes } };
        let reads = [read(0, 0, 200), read(2, 100, 300), read(0, 0, 100), read(2, 200, 3 << 20)];
        let expected = Breakdown {
            large_parts: 4,
            reads: [2, 0, 1],
            repeated: 1,
            vain_bytes: [100, 100, 0],
            again_bytes: 200,
        };
        assert_eq!(Breakdown::of(&start, &reads), expected);
    }
}
