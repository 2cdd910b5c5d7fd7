//! The fuzz target's body over its seeds and their mutations, in memory that their size justifies.

use crate::harness::check;
use crate::memory::bounded;
use crate::samples::hostile;

use std::cell::Cell;

#[path = "../../../../fuzz/src/drive.rs"]
#[expect(unreachable_pub, reason = "the fuzz targets' own crate exports what this file holds")]
mod drive;

#[test]
fn mutated_seeds_are_read_or_refused() {
    let (read, all) = (Cell::new(0_u32), Cell::new(0_u32));
    drive::drive("zip", |archive| {
        bounded(archive.len(), || check(archive));
        all.set(all.get() + 1);
        let opened = seekless_pack::Index::open(archive, archive.len() as u64).is_ok();
        read.set(read.get() + u32::from(opened));
    });
    assert!(
        read.get() > all.get() / 50,
        "too few come past the directory: {} of {}",
        read.get(),
        all.get()
    );
}

#[test]
fn hostile_archives_are_read_or_refused() {
    hostile().iter().for_each(|sample| {
        bounded(sample.archive.len() + sample.right_bytes, || check(&sample.archive))
    });
}
