//! A trace of three pages, small enough to follow by hand.

use super::*;

const TINY: Test = Test {
    number: 0,
    workload: "tiny",
    pages: 2,
    is_stand_in: false,
    published: &[("LRU", "lru", 3, 1, None), ("CLOCK", "clock@ozen", 9, 9, None)],
    corrected: &[("clock", 3, 1)],
};

#[test]
fn counts_are_compared_and_the_output_is_digested_without_its_heading() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("tiny.txt");
    // Page 0 twice (a sector, and one without a place), 1 and 2 read, 0 read again: LRU evicts 0
    // dirty and then 1.
    std::fs::write(&trace, "# start\nw 0\nw -1\nr 8\nr 16\nr 7\n").unwrap();
    let tiny = Experiment::run(&TINY, &trace, folder.path()).unwrap();
    assert_eq!((tiny.lines_read, tiny.lines_written, tiny.unmapped), (3, 2, 1));
    let lru = &tiny.as_published[0];
    assert_eq!((lru.reads, lru.writes, lru.equal()), (3, 1, Some(true)));
    assert_eq!(lru.output_md5, md5::prefix(b"r 1\nw 0\nr 2\nr 0\n"));
    assert_eq!(tiny.as_published[1].equal(), Some(false));
    let compared = tiny.corrected.iter().filter(|row| row.equal().is_some());
    assert_eq!(compared.map(|row| row.policy.as_str()).collect::<Vec<_>>(), ["clock"]);
}

#[test]
fn a_wrong_digest_is_a_difference() {
    let expected = Some(Expected { reads: 1, writes: 2, output_md5: Some("00") });
    let row = |output_md5: &str| Row {
        published_as: "LRU",
        policy: "lru".into(),
        reads: 1,
        writes: 2,
        dirty_at_end: 0,
        output_md5: output_md5.into(),
        expected,
    };
    assert_eq!((row("00").equal(), row("01").equal()), (Some(true), Some(false)));
}
