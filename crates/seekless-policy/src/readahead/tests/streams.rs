//! Our own readahead against what the simulation of many streams showed.

use super::*;

/// The first reads of streams that begin at equal distances have one distance from each to the
/// next. One of them was taken for a stride of that distance, and read page by page for ever.
#[test]
fn streams_at_equal_distances_are_no_stride() {
    for streams in 2..40 {
        let distance = PAGES / streams;
        let mut host = host("streams", 256);
        for page in 0..400 {
            (0..streams).for_each(|stream| host.read(stream * distance + page, 1));
            if page == 100 {
                host.take();
            }
        }
        let ios = host.take().1.len() as u64;
        assert!(ios <= 6 * streams, "{ios} reads for 300 pages of each of {streams} streams");
    }
}
