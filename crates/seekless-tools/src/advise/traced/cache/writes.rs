//! Whether write-back matters.

use super::advice::Writes;
use super::candidates::Simulated;
use seekless_sim::Requests;

/// What writes do in the present cache.
pub(super) fn of(
    requests: &Requests,
    simulated: &Simulated,
    policy: &str,
    capacity: u64,
) -> Writes {
    let mut written = vec![false; requests.id_limit() as usize];
    let (mut writes, mut again) = (0_u64, 0_u64);
    for (position, &id) in requests.ids().iter().enumerate() {
        if requests.is_write(position) {
            writes += 1;
            again += u64::from(std::mem::replace(&mut written[id as usize], true));
        }
    }
    let figures = simulated.figures(policy, capacity);
    let passed_on = figures.write_backs + figures.writes_through + figures.dirty_at_end;
    let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
    Writes {
        share: share(writes, requests.len() as u64),
        rewritten: share(again, writes),
        absorbed: (1.0 - share(passed_on, figures.writes)).max(0.0),
    }
}
