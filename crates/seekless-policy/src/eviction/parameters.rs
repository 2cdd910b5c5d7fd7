//! Parameters of policies, given behind the name: `s3-fifo:small=0.05,ghost=1`.

use super::landlord::Landlord;
use super::table::{POLICIES, Visitor, unknown, visit_plain};
use super::{
    Clock2QPlus, Hyperbolic, LeCaR, LruK, Qdlp, Random, S3Fifo, S3Fifo2024, SampledLfu, SampledLru,
    Slru,
};
use crate::{Error, ErrorKind, Result};

/// A number that a policy may be given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
    /// Its value if it is not given.
    pub default: f64,
    /// The least value.
    pub least: f64,
    /// The greatest value.
    pub most: f64,
    /// Whether it is a whole number.
    pub whole: bool,
}

impl Parameter {
    const fn share(name: &'static str, default: f64, what: &'static str) -> Self {
        Self { name, what, default, least: 0.0, most: 1.0, whole: false }
    }

    const fn whole(name: &'static str, default: f64, range: [f64; 2], what: &'static str) -> Self {
        Self { name, what, default, least: range[0], most: range[1], whole: true }
    }

    const fn up_to(self, most: f64) -> Self {
        Self { most, ..self }
    }

    /// Reads a value of it.
    fn read(&self, policy: &str, text: &str) -> Result<f64> {
        let value = text.parse::<f64>().ok();
        let fits = |value: &f64| {
            (self.least..=self.most).contains(value) && (!self.whole || value.fract() == 0.0)
        };
        value.filter(fits).ok_or_else(|| {
            let kind = if self.whole { "a whole number" } else { "a number" };
            bad(format!(
                "{} of the policy {policy} is {kind} from {} to {}, not `{text}`",
                self.name, self.least, self.most
            ))
        })
    }
}

fn bad(message: String) -> Error {
    Error::new(ErrorKind::BadParameter, message)
}

const SMALL: Parameter = Parameter::share("small", 0.1, "share of the small queue");
const GHOST: Parameter =
    Parameter::share("ghost", 0.9, "weight of ghosts, in capacities").up_to(100.0);
const PASSES: Parameter =
    Parameter::whole("move", 2.0, [1.0, 3.0], "uses on probation with which an object passes");
const SAMPLE: Parameter =
    Parameter::whole("sample", 5.0, [1.0, 1000.0], "pages drawn for each victim");
/// Whole numbers up to this one are exact.
const SEED: Parameter =
    Parameter::whole("seed", 1.0, [0.0, 9_007_199_254_740_992.0], "seed of the draws");

/// Makes the list and the constructor from rows of: name, parameters, constructor.
macro_rules! tunable {
    ($($name:literal => [$($parameter:expr),*], $build:expr;)*) => {
        /// The policies that take parameters, with those that each takes.
        pub const TUNABLE: &[(&str, &[Parameter])] = &[$(($name, &[$($parameter),*]),)*];

        /// As [`visit`], of the policy called `name` with the parameters `given`.
        fn visit_tuned<V: Visitor>(
            name: &str,
            given: &str,
            capacity: u64,
            visitor: V,
        ) -> Result<V::Output> {
            let values = Values::read(name, given)?;
            Ok(match name {
                $($name => visitor.visit(($build)(capacity, &values)?),)*
                _ => return Err(unknown(name)),
            })
        }
    };
}

tunable! {
    "landlord" => [Parameter::share("restore", 0.75, "share of lost credit that a use restores")],
        |capacity, values: &Values| Landlord::with_restore(capacity, values.get("restore"));
    "s3-fifo" => [SMALL, GHOST, PASSES], |capacity, values: &Values| {
        let pass_at = values.get("move") as u8;
        Ok(S3Fifo::tuned(capacity, values.get("small"), values.get("ghost"), pass_at))
    };
    "s3-fifo@2024" => [SMALL, GHOST, PASSES], |capacity, values: &Values| {
        let pass_at = values.get("move") as u8;
        Ok(S3Fifo2024::tuned(capacity, values.get("small"), values.get("ghost"), pass_at))
    };
    "qdlp" => [SMALL, GHOST], |capacity, values: &Values| {
        Ok(Qdlp::tuned(capacity, values.get("small"), values.get("ghost"), 1))
    };
    "clock2q+" => [SMALL, GHOST], |capacity, values: &Values| {
        Ok(Clock2QPlus::tuned(capacity, values.get("small"), values.get("ghost"), 1))
    };
    "slru" => [Parameter::share("protected", 0.8, "share of the protected segment")],
        |capacity, values: &Values| Ok(Slru::protecting(capacity, values.get("protected")));
    "lecar" => [
        Parameter::share("rate", 0.45, "rate of learning").up_to(100.0),
        Parameter::share("discount", 0.005, "part of a regret left after a capacity of requests"),
        Parameter::share("lru", 0.5, "chance of LRU at first")
    ], |capacity, values: &Values| {
        let [rate, discount, lru] = ["rate", "discount", "lru"].map(|name| values.get(name));
        Ok(LeCaR::tuned(capacity, rate, discount, lru))
    };
    "lru-k" => [Parameter::whole("k", 2.0, [1.0, 16.0], "which of the last uses counts")],
        |capacity, values: &Values| Ok(LruK::of(capacity, values.get("k") as u32));
    "sampled-lru" => [SAMPLE],
        |capacity, values: &Values| Ok(SampledLru::drawing(capacity, values.get("sample") as u32));
    "sampled-lfu" => [SAMPLE],
        |capacity, values: &Values| Ok(SampledLfu::drawing(capacity, values.get("sample") as u32));
    "random" => [SEED],
        |capacity, values: &Values| Ok(Random::with_seed(capacity, values.get("seed") as u64));
    "hyperbolic" => [SEED],
        |capacity, values: &Values| Ok(Hyperbolic::with_seed(capacity, values.get("seed") as u64));
}

/// Builds the policy called `name`, perhaps with parameters (`lecar:rate=0.3`), with `capacity`
/// units of weight, and passes it to `visitor` with its own type.
///
/// # Errors
/// There is no such policy, or it does not take the parameters.
pub fn visit<V: Visitor>(name: &str, capacity: u64, visitor: V) -> Result<V::Output> {
    match name.split_once(':') {
        Some((name, given)) => visit_tuned(name, given, capacity, visitor),
        None => visit_plain(name, capacity, visitor),
    }
}

/// The parameters that the policy called `name` takes; none if it takes none or is unknown.
#[must_use]
pub fn parameters_of(name: &str) -> &'static [Parameter] {
    TUNABLE.iter().find(|(tunable, _)| *tunable == name).map_or(&[], |(_, parameters)| parameters)
}

/// The values of all parameters of one policy.
struct Values {
    parameters: &'static [Parameter],
    values: Vec<f64>,
}

impl Values {
    /// Reads `name=value` pairs with commas between. What is not given has its default.
    fn read(policy: &str, given: &str) -> Result<Self> {
        if !POLICIES.iter().any(|about| about.name == policy) {
            return Err(unknown(policy));
        }
        let parameters = parameters_of(policy);
        let mut values: Vec<Option<f64>> = vec![None; parameters.len()];
        for pair in given.split(',') {
            let (name, text) = pair.split_once('=').unwrap_or((pair, ""));
            let Some(at) = parameters.iter().position(|parameter| parameter.name == name) else {
                return Err(no_parameter(policy, name));
            };
            if values[at].replace(parameters[at].read(policy, text)?).is_some() {
                return Err(bad(format!("{name} of the policy {policy} is given twice")));
            }
        }
        let filled = values.iter().zip(parameters);
        let values = filled.map(|(value, parameter)| value.unwrap_or(parameter.default)).collect();
        Ok(Self { parameters, values })
    }

    fn get(&self, name: &str) -> f64 {
        let mut all = self.parameters.iter().zip(&self.values);
        all.find(|(parameter, _)| parameter.name == name).map_or(0.0, |(_, value)| *value)
    }
}

/// The policy has no such parameter: the message says which there are.
fn no_parameter(policy: &str, name: &str) -> Error {
    let parameters = parameters_of(policy);
    if parameters.is_empty() {
        let names: Vec<_> = TUNABLE.iter().map(|(tunable, _)| *tunable).collect();
        let message = "takes no parameters; those that do are";
        return bad(format!("the policy {policy} {message} {}", names.join(", ")));
    }
    let known: Vec<_> = parameters
        .iter()
        .map(|Parameter { name, what, default, .. }| {
            format!("{name} ({what}, by default {default})")
        })
        .collect();
    bad(format!("the policy {policy} has no parameter `{name}`; it has {}", known.join(", ")))
}

/// Splits a list of policies at its commas, but not at those between parameters.
///
/// `lru,s3-fifo:small=0.05,ghost=1` names two.
#[must_use]
pub fn split_names(list: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for piece in list.split(',') {
        match names.last_mut() {
            Some(last) if last.contains(':') && piece.contains('=') && !piece.contains(':') => {
                last.push(',');
                last.push_str(piece);
            }
            _ => names.push(piece.to_owned()),
        }
    }
    names
}

#[cfg(test)]
mod tests;
