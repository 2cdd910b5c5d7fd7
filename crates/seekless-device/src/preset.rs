//! Devices by name, and where their numbers come from: one row each.

use crate::{
    Discipline, DiskParameters, DiskZone, Error, ErrorKind, FlashParameters, Garbage, LongSeek,
    Mapping, ObjectStoreParameters, Parameters, Quantile, Seek, SegmentCache, VolumeParameters,
    nearest,
};

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const MB: u64 = 1_000_000;
const GB: u64 = 1_000_000_000;

/// A device that is known by name.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    name: &'static str,
    about: &'static str,
    source: &'static str,
    parameters: fn() -> Parameters,
}

const PRESETS: [Preset; 13] = [
    Preset {
        name: "deskstar-7k250",
        about: "the disk of Wassenberg 2006: Deskstar 7K250, 160 GB, 7200 rpm, PATA",
        source: "data sheet, recalled; the paper names the disk",
        parameters: || Parameters::Disk(deskstar(4, 100 * MB, (61.4, 29.8))),
    },
    Preset {
        name: "t7k250",
        about: "the disk of Wu, Xi and Xu 2010: Deskstar T7K250, 160 GB, 7200 rpm, SATA II",
        source: "data sheet, recalled; the paper names the disk",
        parameters: || Parameters::Disk(deskstar(3, 300 * MB, (67.0, 32.0))),
    },
    Preset {
        name: "wu-2010",
        about: "the disk fitted to the figures of Wu, Xi and Xu 2010, its own readahead off",
        source: "fitted to twelve numbers of the paper's Figs. 9, 11 and 12",
        parameters: || Parameters::Disk(wu_2010()),
    },
    Preset {
        name: "wu-2010-cached",
        about: "the same with its own readahead on",
        source: "fitted to the paper's Fig. 11(b)",
        parameters: || Parameters::Disk(wu_2010_cached()),
    },
    Preset {
        name: "850evo",
        about: "the drive of Ozen 2018: Samsung 850 EVO, 500 GB, SATA",
        source: "data sheet, recalled; inside fitted to its reads a second at depths 1 and 32",
        parameters: || Parameters::Flash(samsung_850_evo()),
    },
    Preset {
        name: "nvme",
        about: "a flash drive of 1 TB on four lanes of PCIe 3, of the class of a 970 EVO",
        source: "data sheets of the class, recalled; what is inside is assumed",
        parameters: || Parameters::Flash(nvme()),
    },
    Preset {
        name: "gp3",
        about: "a gp3 volume of Amazon EBS as it comes: 3000 requests and 125 MB a second",
        source: "Amazon's documentation, recalled; the latency is assumed",
        parameters: || {
            Parameters::Volume(VolumeParameters {
                iops: 3000,
                bytes_per_second: 125 * MB,
                latency_ns: MS,
                burst: None,
            })
        },
    },
    Preset {
        name: "s3",
        about: "an object store like Amazon S3, from a machine in its region",
        source: "published measurements, recalled: a median of 30 ms, 90 MB/s a stream",
        parameters: || Parameters::ObjectStore(s3()),
    },
    Preset {
        name: "s3-express",
        about: "Amazon S3 Express One Zone, from a machine in its zone",
        source: "Amazon promises single-digit ms, recalled; the rate is that of s3, the rest assumed",
        parameters: || {
            let first_byte = [(0, 3), (500, 5), (900, 8), (990, 20), (1000, 100)];
            Parameters::ObjectStore(object_store(90 * MB, 64, first_byte))
        },
    },
    Preset {
        name: "r2",
        about: "Cloudflare R2, from a machine of another provider",
        source: "assumed: an s3 with the way through the internet, which varies from place to place",
        parameters: || {
            let first_byte = [(0, 25), (500, 60), (900, 120), (990, 300), (1000, 1000)];
            Parameters::ObjectStore(object_store(50 * MB, 64, first_byte))
        },
    },
    Preset {
        name: "minio",
        about: "a MinIO server on flash drives, over 10 Gbit/s in one data centre",
        source: "assumed: a disk read and a way through the network each; one stream has half the link",
        parameters: || {
            let first_byte = [(0, 1), (500, 2), (900, 4), (990, 10), (1000, 50)];
            Parameters::ObjectStore(object_store(600 * MB, 64, first_byte))
        },
    },
    Preset {
        name: "cdrom-2000",
        about: "the CD-ROM of Van Meter and Gao 2000: 130 ms, 2.8 MB/s",
        source: "Table 2 of the paper; rotation and cache are assumed",
        parameters: || Parameters::Disk(level(130 * MS, 2_800_000, 650 * MB)),
    },
    Preset {
        name: "nfs-2000",
        about: "the NFS server of Van Meter and Gao 2000: 270 ms, 1 MB/s",
        source: "Table 2 of the paper; the server is taken for a disk that reads ahead",
        parameters: || Parameters::Disk(level(270 * MS, 1_000_000, 10 * GB)),
    },
];

impl Preset {
    /// All of them.
    #[must_use]
    pub fn all() -> &'static [Preset] {
        &PRESETS
    }

    /// The one of that name.
    ///
    /// # Errors
    /// No preset has that name. The message names those that are spelled alike.
    pub fn named(name: &str) -> Result<&'static Preset, Error> {
        PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| {
            let near = nearest(name, PRESETS.iter().map(|preset| preset.name));
            let hint = if near.is_empty() {
                let all: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
                format!("known are {}", all.join(", "))
            } else {
                format!("did you mean {}?", near.join(" or "))
            };
            Error::new(ErrorKind::UnknownSetting, format!("no device is called {name:?}: {hint}"))
        })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it is, in half a line.
    #[must_use]
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// Where its numbers come from.
    #[must_use]
    pub fn source(&self) -> &'static str {
        self.source
    }

    /// Its numbers.
    #[must_use]
    pub fn parameters(&self) -> Parameters {
        (self.parameters)()
    }
}

/// The disk that was fitted to the figures of Wu, Xi and Xu 2010 (a Hitachi Deskstar T7K250 of
/// 160 GB), with its own readahead off.
pub(crate) fn wu_2010() -> DiskParameters {
    wu(50_500_000, false)
}

/// The same with its readahead on.
pub(crate) fn wu_2010_cached() -> DiskParameters {
    wu(52_000_000, true)
}

/// The fit has no skews, no bus and no costs of crossing tracks: its rate is that of a long
/// transfer. Its seek curve was fitted over the paper's files, so the capacity is the span of them.
fn wu(bytes_per_second: u64, read_on: bool) -> DiskParameters {
    const RPM: u32 = 7200;
    DiskParameters {
        capacity_bytes: 10 * GB,
        rpm: RPM,
        heads: 3,
        track_skew_ns: 0,
        cylinder_skew_ns: 0,
        head_switch_ns: 0,
        cylinder_switch_ns: 0,
        overhead_ns: 240 * US,
        command_bytes: 512 << 10,
        bus_bytes_per_second: None,
        queue: Discipline::Fifo,
        depth: 1,
        seek: Seek { settle_ns: 890 * US, base_ns: 0, root_ns: 89 * US, long: None },
        cache: SegmentCache { segments: 16, segment_bytes: 256 << 10, read_on },
        zones: vec![DiskZone { from_byte: 0, track_bytes: bytes_per_second * 60 / u64::from(RPM) }],
    }
}

/// A Deskstar of 160 GB whose long transfers run at these rates in MB/s, on its outermost and its
/// innermost tracks.
///
/// The data sheets give 7200 revolutions, 8.5 ms for the average seek, about 1 ms to the next
/// track, 15 ms over all tracks, and 8 MB of cache.
fn deskstar(heads: u32, bus: u64, rates: (f64, f64)) -> DiskParameters {
    let capacity_bytes = 160 * GB;
    let zones = zones(capacity_bytes, heads, rates);
    DiskParameters {
        capacity_bytes,
        rpm: 7200,
        heads,
        track_skew_ns: MS,
        cylinder_skew_ns: 1_200 * US,
        head_switch_ns: 900 * US,
        cylinder_switch_ns: 1_100 * US,
        overhead_ns: 240 * US,
        command_bytes: 512 << 10,
        bus_bytes_per_second: Some(bus),
        queue: if bus > 100 * MB { Discipline::ShortestPositioning } else { Discipline::Fifo },
        depth: if bus > 100 * MB { 32 } else { 1 },
        seek: seek(capacity_bytes / u64::from(heads) / mean_track_bytes(&zones)),
        cache: SegmentCache { segments: 16, segment_bytes: 256 << 10, read_on: true },
        zones,
    }
}

/// A curve that takes 8.5 ms over a third of the cylinders, the usual meaning of an average seek,
/// and 15 ms over all.
fn seek(cylinders: u64) -> Seek {
    const SETTLE: u64 = 800 * US;
    let third = cylinders / 3;
    let average = 8_500 * US - SETTLE;
    let cylinder_ns = (15 * MS - SETTLE - average) / (cylinders - third);
    Seek {
        settle_ns: SETTLE,
        base_ns: 0,
        root_ns: (average as f64 / (third as f64).sqrt()) as u64,
        long: Some(LongSeek {
            from_cylinders: third as u32,
            base_ns: average - cylinder_ns * third,
            cylinder_ns,
        }),
    }
}

fn mean_track_bytes(zones: &[DiskZone]) -> u64 {
    zones.iter().map(|zone| zone.track_bytes).sum::<u64>() / zones.len() as u64
}

/// Sixteen zones of equal size. Bytes lie equally dense, so the square of a track's length falls
/// evenly with what lies outside of it. A track is read in a revolution and its skew.
fn zones(capacity_bytes: u64, heads: u32, rates: (f64, f64)) -> Vec<DiskZone> {
    const ZONES: u64 = 16;
    let heads = f64::from(heads);
    let track_seconds = 60.0 / 7200.0 + (0.001 * (heads - 1.0) + 0.0012) / heads;
    let (outer, inner) = (rates.0 * rates.0, rates.1 * rates.1);
    let zone = |number: u64| {
        let outside = number as f64 / (ZONES - 1) as f64;
        let rate = (outer + (inner - outer) * outside).sqrt() * 1e6;
        DiskZone {
            from_byte: capacity_bytes / ZONES * number,
            track_bytes: (rate * track_seconds) as u64 / 512 * 512,
        }
    };
    (0..ZONES).map(zone).collect()
}

/// A storage level for which the paper gives only a latency and a rate. It is a disk on which every
/// seek takes the same: a request elsewhere takes the latency, and the next bytes come at the rate.
fn level(latency_ns: u64, bytes_per_second: u64, capacity_bytes: u64) -> DiskParameters {
    const RPM: u32 = 3600;
    let half_turn_ns = 30_000_000_000 / u64::from(RPM);
    let overhead_ns = 300 * US;
    DiskParameters {
        capacity_bytes,
        rpm: RPM,
        heads: 1,
        track_skew_ns: 0,
        cylinder_skew_ns: 0,
        head_switch_ns: 0,
        cylinder_switch_ns: 0,
        overhead_ns,
        command_bytes: 128 << 10,
        bus_bytes_per_second: None,
        queue: Discipline::Fifo,
        depth: 1,
        seek: Seek {
            settle_ns: latency_ns - half_turn_ns - overhead_ns,
            base_ns: 0,
            root_ns: 0,
            long: None,
        },
        cache: SegmentCache { segments: 1, segment_bytes: 256 << 10, read_on: true },
        zones: vec![DiskZone { from_byte: 0, track_bytes: bytes_per_second * 60 / u64::from(RPM) }],
    }
}

/// The data sheet gives 11,000 reads of 4 KiB a second alone, 98,000 at depth 32, and 540 MB/s. It
/// says nothing of the inside: the read time and the overhead are chosen to give those figures.
fn samsung_850_evo() -> FlashParameters {
    FlashParameters {
        capacity_bytes: 500 * GB,
        channels: 8,
        dies: 4,
        planes: 2,
        page_bytes: 16 << 10,
        pages_per_block: 256,
        chunk_bytes: 16 << 10,
        mapping: Mapping::WriteOrder,
        read_ns: 60 * US,
        program_ns: 700 * US,
        erase_ns: 3_500 * US,
        bus_bytes_per_second: 333 * MB,
        link_bytes_per_second: 540 * MB,
        overhead_ns: 10 * US,
        write_buffer_bytes: 32 << 20,
        over_provisioning_percent: 9,
        filled_percent: 100,
        garbage: Garbage { start_blocks: 4, stop_blocks: 8 },
    }
}

fn nvme() -> FlashParameters {
    FlashParameters {
        capacity_bytes: 1000 * GB,
        channels: 8,
        dies: 8,
        planes: 2,
        read_ns: 50 * US,
        program_ns: 600 * US,
        bus_bytes_per_second: 533 * MB,
        link_bytes_per_second: 3_400 * MB,
        overhead_ns: 2 * US,
        write_buffer_bytes: 64 << 20,
        ..samsung_850_evo()
    }
}

fn s3() -> ObjectStoreParameters {
    object_store(90 * MB, 64, [(0, 15), (500, 30), (900, 60), (990, 150), (1000, 500)])
}

/// An object store whose first bytes come within these milliseconds, a point each with the permille
/// of requests that are faster.
fn object_store(
    bytes_per_second: u64,
    streams: u32,
    first_byte: [(u32, u64); 5],
) -> ObjectStoreParameters {
    let quantile = |(permille, ms)| Quantile { permille, latency_ns: ms * MS };
    let first_byte = first_byte.map(quantile).to_vec();
    ObjectStoreParameters { bytes_per_second, streams, seed: 0, first_byte }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DeviceModel;

    fn costs(name: &str) -> crate::Costs {
        Preset::named(name).unwrap().parameters().model().unwrap().costs()
    }

    #[test]
    fn names_are_unique_and_every_row_says_where_its_numbers_come_from() {
        for (place, preset) in PRESETS.iter().enumerate() {
            assert!(PRESETS[..place].iter().all(|other| other.name != preset.name));
            assert!(!preset.source.is_empty() && !preset.about.is_empty());
            assert_eq!(preset.parameters().check(), Ok(()), "{}", preset.name);
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        let message = |name| Preset::named(name).unwrap_err().to_string();
        assert!(message("deskstar-7k25").contains("did you mean deskstar-7k250"));
        assert!(message("850-evo").contains("did you mean 850evo"), "{}", message("850-evo"));
        assert!(message("zzz").contains("known are deskstar-7k250, t7k250"));
    }

    #[test]
    fn the_levels_of_van_meter_and_gao_cost_what_their_table_2_says() {
        for (name, latency_ns, rate) in
            [("cdrom-2000", 130 * MS, 2.8e6), ("nfs-2000", 270 * MS, 1e6)]
        {
            let costs = costs(name);
            assert!(costs.request_ns.abs_diff(latency_ns) <= 1, "{name}: {costs:?}");
            let apart = costs.bytes_per_second as f64 / rate;
            assert!((0.999..1.001).contains(&apart), "{name}: {costs:?}");
        }
    }

    #[test]
    fn the_disks_cost_what_their_data_sheets_say() {
        // 8.5 ms for the average seek, 4.17 ms for half a revolution, and the overhead.
        for (name, rate) in [("deskstar-7k250", 61.4), ("t7k250", 67.0)] {
            let costs = costs(name);
            assert!((12_700_000..13_200_000).contains(&costs.request_ns), "{name}: {costs:?}");
            let Parameters::Disk(disk) = Preset::named(name).unwrap().parameters() else {
                panic!()
            };
            let outer = DiskParameters { capacity_bytes: 5 * GB, ..disk };
            let outer = crate::Disk::new(outer).unwrap().costs().bytes_per_second as f64 / 1e6;
            assert!((outer / rate - 1.0).abs() < 0.01, "{name}: {outer} MB/s");
        }
    }

    /// Reads of 4 KiB a second at random places, `depth` at once.
    fn reads_a_second(name: &str, depth: u64) -> f64 {
        let mut model = Preset::named(name).unwrap().parameters().model().unwrap();
        let mut draws = crate::SplitMix64::new(1);
        let mut read = |tag| {
            let offset = draws.below(500 * GB / 4096) * 4096;
            crate::Io { tag, write: false, offset, bytes: 4096 }
        };
        const READS: u64 = 20_000;
        (0..depth).for_each(|tag| model.submit(0, read(tag)));
        let (mut now, mut ended) = (0, 0);
        while ended < READS {
            now = model.next_event().unwrap();
            let mut slots = 0;
            model.advance(now, &mut |_, _| slots += 1);
            ended += slots;
            (0..slots).for_each(|_| model.submit(now, read(ended)));
        }
        ended as f64 / (now as f64 / 1e9)
    }

    #[test]
    fn the_850_evo_reads_as_fast_as_its_data_sheet_says() {
        let (alone, many) = (reads_a_second("850evo", 1), reads_a_second("850evo", 32));
        assert!((10_500.0..11_500.0).contains(&alone), "{alone}");
        assert!((90_000.0..=100_000.0).contains(&many), "{many}");
    }
}
