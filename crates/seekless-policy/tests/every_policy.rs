//! Every policy that has a name against the promises of the trait, with arbitrary steps.

#[path = "every_policy/harness.rs"]
mod harness;

use harness::{STEP_BYTES, check, check_optimum};
use proptest::prelude::*;
use seekless_policy::eviction::NAMES;

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..STEP_BYTES * 300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_policy_keeps_the_traits_promises(capacity in any::<u64>(), bytes in bytes()) {
        NAMES.iter().for_each(|name| check(name, capacity, &bytes));
    }

    #[test]
    fn no_policy_beats_the_optimum(capacity in 0u64..32, bytes in bytes()) {
        NAMES.iter().for_each(|name| check_optimum(name, capacity, &bytes));
    }
}
