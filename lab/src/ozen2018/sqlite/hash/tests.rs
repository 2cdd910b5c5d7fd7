//! The hash file finds every row, in overflow pages too, and keeps written rows with every size of
//! its cache.

use super::*;

const PAGE_BYTES: u32 = 4096;

fn made(rows: u64) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    make(&path, PAGE_BYTES, rows, &mut |_, _| ()).unwrap();
    (folder, path)
}

fn table(path: &Path, rows: u64, pages: u64) -> Table {
    Table {
        pages: Pages::open(path, PAGE_BYTES, pages).unwrap(),
        buckets: buckets(rows, PAGE_BYTES),
    }
}

#[test]
fn every_row_is_found_and_some_in_overflow_pages() {
    let rows = 10_000;
    let (_folder, path) = made(rows);
    let mut table = table(&path, rows, 4);
    let overflowed = (0..rows).filter(|&account| {
        let (page, at) = table.find(account).unwrap();
        let row = &table.pages.read(page).unwrap()[at..at + ROW_BYTES];
        assert_eq!(row[ROW], row::new(account));
        u64::from(page) >= buckets(rows, PAGE_BYTES)
    });
    assert!(overflowed.count() > 0);
    assert!(table.find(rows).is_err(), "it was never put in");
}

#[test]
fn the_application_cache_changes_nothing_of_what_is_written() {
    let workload = Workload { rows: 3000, statements: 5000, reads_percent: 10, seed: 3 };
    let written = [0, 7, 1000].map(|pages| {
        let (_folder, path) = made(workload.rows);
        let before = std::fs::read(&path).unwrap();
        workload.play(&mut table(&path, workload.rows, pages), &mut |_, _| ()).unwrap();
        let after = std::fs::read(&path).unwrap();
        assert_ne!(before, after);
        after
    });
    assert!(written[0] == written[1] && written[1] == written[2]);
}
