//! Which objects come into the simulated caches, read from words such as `size:1MiB`.

use crate::{Error, ErrorKind, Result};
use seekless_device::units::parse_bytes;
use seekless_policy::admission::{Admission, Rule};
use std::str::FromStr;

/// A rule of admission, and the seed of its draws. Parsed from `size:1MiB`, `probability:0.5`,
/// `probability-by-size`, `bloom`, `adaptsize` or `tinylfu`, with `,seed=N` behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Admit {
    /// The rule, for weights in bytes.
    pub rule: Rule,
    /// Without one the draws are libCacheSim's.
    pub seed: Option<u64>,
}

/// The exponent of `probability-by-size` without a value, as in libCacheSim.
const EXPONENT: f64 = 1e-6;
/// The probability without a value, as in libCacheSim.
const PROBABILITY: f64 = 0.5;

impl Admit {
    /// The rule at work, before a cache of `capacity` units of weight, each of `unit_bytes`.
    pub(crate) fn begin(self, capacity: u64, unit_bytes: u64) -> Admission {
        let rule = match self.rule {
            Rule::Size(bytes) => Rule::Size(bytes.div_ceil(unit_bytes)),
            Rule::BySize(exponent) => Rule::BySize(exponent * unit_bytes as f64),
            rule => rule,
        };
        Admission::new(rule, self.seed, capacity)
    }
}

impl FromStr for Admit {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |why: &str| Error::new(ErrorKind::Usage, format!("`{text}`: {why}"));
        let (word, seed) = match text.split_once(",seed=") {
            Some((word, seed)) => {
                (word, Some(seed.parse().map_err(|_| wrong("a seed is a whole number from 0"))?))
            }
            None => (text, None),
        };
        let (name, value) = match word.split_once(':') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        let number = |default: f64| match value {
            None => Ok(default),
            Some(value) => match value.parse::<f64>() {
                Ok(number) if number > 0.0 && number <= 1.0 => Ok(number),
                _ => Err(wrong("expected a number over 0 and up to 1")),
            },
        };
        let rule = match (name, value) {
            ("size", Some(size)) => {
                Rule::Size(parse_bytes(size).map_err(|why| wrong(&why.to_string()))?)
            }
            ("size", None) => return Err(wrong("needs a size, such as size:1MiB")),
            ("probability", _) => Rule::Probability(number(PROBABILITY)?),
            ("probability-by-size", _) => Rule::BySize(number(EXPONENT)?),
            ("bloom", None) => Rule::Bloom,
            ("adaptsize", None) => Rule::AdaptSize,
            ("tinylfu", None) => Rule::TinyLfu,
            ("bloom" | "adaptsize" | "tinylfu", Some(_)) => return Err(wrong("takes no value")),
            _ => {
                return Err(wrong(
                    "expected size:BYTES, probability:P, probability-by-size:EXPONENT, bloom, \
                     adaptsize or tinylfu",
                ));
            }
        };
        Ok(Self { rule, seed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Case, Options, Requests, simulate_with};

    #[test]
    fn rules_are_read_from_words() {
        let rule = |text: &str| text.parse::<Admit>().unwrap();
        assert_eq!(rule("size:1MiB").rule, Rule::Size(1 << 20));
        let seeded = Admit { rule: Rule::Probability(0.25), seed: Some(7) };
        assert_eq!(rule("probability:0.25,seed=7"), seeded);
        assert_eq!(rule("probability-by-size").rule, Rule::BySize(1e-6));
        for wrong in ["", "size", "size:x", "bloom:1", "probability:2", "bloom,seed=x", "lru"] {
            assert!(wrong.parse::<Admit>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_not_admitted_is_bypassed_before_any_policy() {
        let requests = Requests::from_sized(&[0, 1, 0, 1, 0, 1], &[10, 99, 10, 99, 10, 99]);
        for (rule, hits, bypassed) in [("size:50B", 2, 3), ("bloom", 2, 2)] {
            let options = Options { admission: rule.parse().ok(), ..Options::default() };
            for policy in ["lru", "arc", "landlord"] {
                let case = Case { policy: policy.into(), capacity: 1000 };
                let figures = simulate_with(&requests, &case, &options).unwrap();
                assert_eq!((figures.hits, figures.bypassed), (hits, bypassed), "{policy} {rule}");
            }
        }
    }

    #[test]
    fn a_rule_that_admits_all_changes_nothing() {
        let ids: Vec<u32> = (0..5000_u32).map(|at| at * at % 313).collect();
        let requests = Requests::from_sized(
            &ids,
            &ids.iter().map(|id| 5 + u64::from(*id)).collect::<Vec<_>>(),
        );
        for policy in ["lru", "arc", "lhd", "w-tinylfu"] {
            let case = Case { policy: policy.into(), capacity: 9000 };
            let plain = simulate_with(&requests, &case, &Options::default()).unwrap();
            let options = Options { admission: "size:1GB".parse().ok(), ..Options::default() };
            assert_eq!(simulate_with(&requests, &case, &options).unwrap(), plain, "{policy}");
        }
    }
}
