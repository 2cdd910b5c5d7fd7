//! The exact windows of small cases.

use crate::readahead::host::Host;
use crate::readahead::{Handle, Options, PageNo, Read, Readahead, Streams, Trigger, Window};
use seekless_device::Costs;

const DRIVE: Costs = Costs { request_ns: 100_000, bytes_per_second: 1_250_000_000, depth: 32 };
const VOLUME: Costs = Costs { request_ns: 5_000_000, bytes_per_second: 150_000_000, depth: 1 };

fn host(max_pages: u32, costs: Costs) -> Host {
    let options = Options { max_pages, ..Options::default() };
    let mut host = Host::new(Streams::new(options), 1 << 18);
    host.file.costs = costs;
    host
}

fn ranges(windows: &[Window]) -> Vec<(PageNo, u32)> {
    windows.iter().map(|window| (window.first, window.pages)).collect()
}

#[test]
fn a_forward_stream_begins_at_its_second_read_and_grows_as_in_linux() {
    let mut host = host(64, DRIVE);
    host.read_each(1000..1100);
    println!("{:?}", host.file.windows);
    assert_eq!(
        ranges(&host.file.windows),
        [(1000, 1), (1001, 7), (1008, 14), (1022, 28), (1050, 56), (1106, 64)]
    );
}
