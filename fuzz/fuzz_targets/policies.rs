//! Runs a policy through random steps. The first byte chooses the policy, the second the capacity.
//! The rest are steps for the harness, which the property tests use too.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seekless_policy::eviction::NAMES;

#[path = "../../crates/seekless-policy/tests/every_policy/harness.rs"]
mod harness;

fuzz_target!(|bytes: &[u8]| {
    let [policy, capacity, steps @ ..] = bytes else { return };
    let name = NAMES[usize::from(*policy) % NAMES.len()];
    harness::check(name, u64::from(*capacity), steps);
    harness::check_optimum(name, u64::from(*capacity), steps);
});
