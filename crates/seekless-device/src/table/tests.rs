use super::*;
use crate::ErrorKind;
use proptest::prelude::*;

#[test]
fn the_papers_levels_are_those_of_its_table_2() {
    let table = Table::paper();
    let figures = |name| {
        let zone = table.row(name).expect(name).at(0);
        (zone.latency_ns, zone.bytes_per_second)
    };
    assert_eq!(figures("memory"), (175, 48_000_000));
    assert_eq!(figures("disk"), (18_000_000, 9_000_000));
    assert_eq!(figures("cd-rom"), (130_000_000, 2_800_000));
    assert_eq!(figures("nfs"), (270_000_000, 1_000_000));
    assert_eq!(table.row("disk").expect("disk").at(0).read_ns(9_000_000), 1_018_000_000);
}

#[test]
fn every_table_that_is_made_here_makes_sense_and_memory_is_the_cheapest() {
    for table in [Table::assumed(), Table::paper(), Table::paper_lheasoft()] {
        table.check().expect("sound");
        let memory = *table.row(Table::MEMORY).expect("memory").at(0);
        assert!(table.rows().all(|(_, row)| row.at(0).latency_ns >= memory.latency_ns));
    }
}

fn zone(from_byte: u64, bytes_per_second: u64) -> Zone {
    Zone { from_byte, latency_ns: 8_000_000, latency_p90_ns: None, bytes_per_second }
}

#[test]
fn a_byte_costs_what_its_zone_says() {
    let row =
        Row { origin: Origin::Given, zones: vec![zone(0, 200), zone(1000, 150), zone(5000, 100)] };
    let bandwidth = |byte| row.at(byte).bytes_per_second;
    assert_eq!([0, 999, 1000, 4999, 5000, u64::MAX].map(bandwidth), [200, 200, 150, 150, 100, 100]);
    assert_eq!([0, 1000, 5000].map(|byte| row.zone_end(byte)), [Some(1000), Some(5000), None]);
}

#[test]
fn rows_that_make_no_sense_are_refused_by_name() {
    let bad = [
        (vec![], ErrorKind::Missing),
        (vec![zone(5, 1)], ErrorKind::Missing),
        (vec![zone(0, 1), zone(9, 1), zone(9, 1)], ErrorKind::Order),
        (vec![zone(0, 0)], ErrorKind::Zero),
    ];
    for (zones, kind) in bad {
        let mut table = Table::assumed();
        table.insert("odd", Row { origin: Origin::Given, zones });
        let error = table.check().expect_err("refused");
        assert_eq!(error.kind(), kind);
        assert!(error.to_string().contains("odd"), "{error}");
    }
}

#[test]
fn what_lies_above_holds() {
    let mut table = Table::assumed();
    table.overlay(Table::paper());
    assert_eq!(table.row("disk"), Table::paper().row("disk"));
    assert_eq!(table.row("flash"), Table::assumed().row("flash"));
}

/// Reads of a device of that latency and bandwidth, short and long in turn.
fn observe(row: &mut Row, latency_ns: u64, bytes_per_second: u64, reads: usize) {
    let device = *Row::new(Origin::Given, latency_ns, bytes_per_second).at(0);
    for read in 0..reads {
        let bytes = if read % 2 == 0 { 4096 } else { 64 << 20 };
        row.refine(0, bytes, device.read_ns(bytes));
    }
}

#[test]
fn reads_bring_a_row_to_what_the_device_really_costs() {
    let mut row = Row::new(Origin::Calibrated, 100_000, 500_000_000);
    observe(&mut row, 2_000_000, 100_000_000, 200);
    let zone = row.at(0);
    assert!((1_900_000..2_100_000).contains(&zone.latency_ns), "{zone:?}");
    assert!((95_000_000..105_000_000).contains(&zone.bytes_per_second), "{zone:?}");
    assert_eq!(row.origin, Origin::Refined);
}

#[test]
fn one_stall_does_not_spoil_a_row() {
    let mut row = Row::new(Origin::Given, 100_000, 500_000_000);
    row.refine(0, 4096, 60_000_000_000);
    assert!(row.at(0).latency_ns < 300_000);
    assert_eq!(row.origin, Origin::Given, "what the user wrote stays the user's");
}

proptest! {
    #[test]
    fn no_read_makes_a_row_senseless(reads in prop::collection::vec((any::<u64>(), any::<u64>(), any::<u64>()), 0..50)) {
        let mut row = Row { origin: Origin::Assumed, zones: vec![zone(0, 1), zone(77, u64::MAX)] };
        for (at, bytes, elapsed_ns) in reads {
            row.refine(at, bytes, elapsed_ns);
            prop_assert!(row.check("device").is_ok());
        }
    }

    #[test]
    fn what_is_written_reads_back(latency_ns: u64, p90: Option<u64>, bytes_per_second in 1u64..) {
        let zone = Zone { from_byte: 0, latency_ns, latency_p90_ns: p90, bytes_per_second };
        let mut table = Table::default();
        table.insert("254:0 vda", Row { origin: Origin::Refined, zones: vec![zone] });
        let text = serde_json::to_string(&table).expect("written");
        prop_assert_eq!(serde_json::from_str::<Table>(&text).expect("read"), table);
    }
}
