//! Requests per second of each policy, one thread, on Zipf(1.0): `cargo run --release --example
//! throughput [REQUESTS [POLICY ...]]`. Counts the thread's processor time where the kernel reports
//! it, so that other work on the machine disturbs less.

use seekless_policy::eviction::{Id, NAMES};
use seekless_sim::{Case, Options, Requests, check_cases, simulate};
use std::sync::LazyLock;
use std::time::Instant;

const IDS: usize = 1_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count = match std::env::args().nth(1) {
        Some(count) => count.parse()?,
        None => 20_000_000,
    };
    let chosen: Vec<String> = std::env::args().skip(2).collect();
    let ids = zipf(count);
    let sizes: Vec<u64> = (0..IDS as u64).map(|id| 512 + id * 2_654_435_761 % 65_536).collect();
    let kinds = [
        ("objects", Requests::from_files(&ids, &[1; IDS])),
        ("files", Requests::from_files(&ids, &sizes)),
        (
            "pages, each third request writes",
            Requests::from_pages(ids).with_writes((0..count).step_by(3)),
        ),
    ];
    for (what, requests) in &kinds {
        let capacity = requests.distinct_weight() / 20 * requests.unit_bytes();
        println!("{count} requests for {} {what}, cache 5 %", requests.distinct());
        let mut refused = Vec::new();
        for policy in
            NAMES.iter().filter(|name| chosen.is_empty() || chosen.iter().any(|one| one == *name))
        {
            let case = Case { policy: (*policy).to_owned(), capacity };
            if check_cases(requests, std::slice::from_ref(&case), &Options::default()).is_err() {
                refused.push(*policy);
                continue;
            }
            let started = processor_seconds();
            let figures = simulate(requests, &case)?;
            let rate = count as f64 / (processor_seconds() - started) / 1e6;
            println!("  {policy:<20} {rate:6.1} M/s   miss ratio {:.4}", figures.miss_ratio);
        }
        if !refused.is_empty() {
            println!("  not run, since they need what these requests lack: {}", refused.join(", "));
        }
    }
    Ok(())
}

/// Zipf(1.0) by inversion of the cumulative weights. The popular ids are scattered, as by first
/// appearance.
fn zipf(count: usize) -> Vec<Id> {
    let mut cumulative = Vec::with_capacity(IDS);
    let mut sum = 0.0;
    for rank in 1..=IDS {
        sum += 1.0 / rank as f64;
        cumulative.push(sum);
    }
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut numbers = vec![Id::MAX; IDS];
    let mut next = 0;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let point = (state >> 11) as f64 / (1u64 << 53) as f64 * sum;
        let rank = cumulative.partition_point(|&below| below < point).min(IDS - 1);
        if numbers[rank] == Id::MAX {
            numbers[rank] = next;
            next += 1;
        }
        numbers[rank]
    };
    (0..count).map(|_| draw()).collect()
}

/// The seconds that this thread has computed, or the seconds since the start if the kernel does not
/// report them.
fn processor_seconds() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| START.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}
