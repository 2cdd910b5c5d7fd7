use super::*;
use crate::eviction::{Eviction, Outcome, Pool, Request, named};

/// An owner that does nothing.
struct Nobody;

impl Pool for Nobody {
    fn evict(&mut self, _victim: u32) {}
    fn forget(&mut self, _id: u32) {}
}

/// Hits on requests with a skew, a scan among them.
fn hits(name: &str) -> u32 {
    let mut policy = named(name, 50).unwrap();
    policy.grow(2000);
    let mut state = 7_u64;
    let mut draw = move |turn: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let popular = ((state >> 40) % 200).min(state >> 33 & 0xFF).min(state >> 20 & 0xFF) as u32;
        if turn.is_multiple_of(3) { 200 + turn % 1700 } else { popular }
    };
    let outcomes = (0..9000).map(|turn| policy.request(&Request::page(draw(turn)), &mut Nobody));
    outcomes.filter(|outcome| *outcome == Outcome::Hit).count() as u32
}

#[test]
fn defaults_that_are_given_change_nothing_and_other_values_do() {
    for (name, parameters) in TUNABLE {
        let all = |value: fn(&Parameter) -> f64| {
            let pairs = parameters.iter().map(|one| format!("{}={}", one.name, value(one)));
            format!("{name}:{}", pairs.collect::<Vec<_>>().join(","))
        };
        assert_eq!(hits(&all(|one| one.default)), hits(name), "{name}");
        for one in *parameters {
            // Credit has no part in pages of one cost, and seeds may not change the number of hits.
            if *name == "landlord" || one.name == "seed" {
                continue;
            }
            let values = [one.least, one.default / 2.0, one.default * 3.0, one.most];
            let fits = |value: &f64| {
                (one.least..=one.most).contains(value) && (!one.whole || value.fract() == 0.0)
            };
            let tried = values.into_iter().filter(fits);
            let mut found = tried.map(|value| hits(&format!("{name}:{}={value}", one.name)));
            assert!(found.any(|found| found != hits(name)), "{name}: {}", one.name);
        }
    }
}

#[test]
fn what_is_wrong_is_named_and_what_exists() {
    let error = |name: &str| named(name, 10).unwrap_err().to_string();
    let said = error("s3-fifo:smal=0.1");
    assert!(
        said.starts_with("the policy s3-fifo has no parameter `smal`; it has small ("),
        "{said}"
    );
    assert!(said.contains("by default 0.1") && said.contains("ghost ("), "{said}");
    assert_eq!(
        error("s3-fifo:small=2"),
        "small of the policy s3-fifo is a number from 0 to 1, not `2`"
    );
    assert_eq!(
        error("s3-fifo:move=1.5"),
        "move of the policy s3-fifo is a whole number from 1 to 3, not `1.5`"
    );
    assert_eq!(error("lecar:rate="), "rate of the policy lecar is a number from 0 to 100, not ``");
    assert_eq!(error("lecar:lru=0,lru=1"), "lru of the policy lecar is given twice");
    assert!(error("lru:k=2").starts_with("the policy lru takes no parameters; those that do are "));
    assert!(error("lecra:rate=1").contains("no policy is called \"lecra\"; near it are lecar"));
    assert!(error("lecar:").contains("has no parameter ``"));
}

#[test]
fn commas_between_parameters_do_not_end_a_name() {
    assert_eq!(
        split_names("lru,s3-fifo:small=0.05,ghost=1,arc,lecar:rate=1"),
        ["lru", "s3-fifo:small=0.05,ghost=1", "arc", "lecar:rate=1"]
    );
    assert_eq!(split_names("lru,rate=1"), ["lru", "rate=1"]);
}
