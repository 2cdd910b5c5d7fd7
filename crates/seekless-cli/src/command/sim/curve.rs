//! `--curve`: miss ratios over a spread of cache sizes, exact or from samples of the ids.

use super::{Args, Outputs, page, picture, table};
use crate::next::{self, Found};
use crate::output::table as text_table;
use anyhow::bail;
use seekless::device::units::counted;
use seekless::sim::Requests;
use seekless::sim::curve::{Curve, Sampling, Shards, exact, sampled, shards, spread};
use std::process::ExitCode;
use std::str::FromStr;

/// How a curve is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Method {
    /// From all requests: for LRU in one pass, for other policies size by size.
    Exact,
    /// From LRU's stack distances of a sample of the ids.
    Shards(Amount),
    /// From small simulations on samples of the ids.
    Sampled(Amount),
}

/// How many ids are sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Amount {
    /// This share of them.
    Rate(f64),
    /// This number.
    Ids(u32),
}

impl FromStr for Amount {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match (word.parse::<u32>(), word.parse::<f64>()) {
            (Ok(ids), _) if ids > 1 => Ok(Self::Ids(ids)),
            (_, Ok(rate)) if rate > 0.0 && rate <= 1.0 => Ok(Self::Rate(rate)),
            _ => Err(format!(
                "{word:?} is neither a share of the ids (such as 0.01) nor a number of ids (such as 8192)"
            )),
        }
    }
}

impl FromStr for Method {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "no curve is called {word:?}; there are exact, shards=RATE (such as 0.01), shards=IDS (such as 8192) and \
                 sampled=RATE (such as 0.1)"
            )
        };
        let amount = |text: &str| text.parse().map_err(|_| wrong());
        match word.split_once('=') {
            None if word == "exact" => Ok(Method::Exact),
            Some(("sampled", text)) => amount(text).map(Method::Sampled),
            Some(("shards", text)) => amount(text).map(Method::Shards),
            _ => Err(wrong()),
        }
    }
}

/// Computes a curve for each policy, prints the curves, and draws them with `--picture`.
pub(super) fn run(
    args: &Args,
    requests: &Requests,
    method: Method,
    outputs: Outputs,
) -> anyhow::Result<ExitCode> {
    if requests.removals() > 0 {
        bail!(
            "curves have no removals, and the trace has {}: name capacities with --capacity, or leave them out with --ops delete=skip",
            counted(requests.removals(), "removal")
        );
    }
    let sizes = spread(requests, args.points.get());
    let mut curves = Vec::new();
    for policy in policies(args, method)? {
        curves.push(find(args, requests, policy, &sizes, method)?);
    }
    if let Some(drawn) = outputs.picture {
        drawn.draw(&picture::curves(args, &requests.totals(), &curves).draw())?;
    }
    if let Some(html) = outputs.html {
        page::curves(html, args, &requests.totals(), &curves)?;
    }
    if args.json {
        outputs.words.json(&curves)?;
    } else {
        outputs.words.text(&report(requests, &curves))?;
        let found = Found::Misses { traces: &args.traces, sizes: sizes.len() };
        next::say(outputs.words, &found)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The policies to compute curves for. SHARDS works for LRU only: it replaces the default policies
/// by LRU, and is an error if other policies are given.
fn policies(args: &Args, method: Method) -> anyhow::Result<Vec<&str>> {
    let names: Vec<&str> = args.names().collect();
    if !matches!(method, Method::Shards(_)) || names == ["lru"] {
        return Ok(names);
    }
    if names.join(",") != super::DEFAULT_POLICIES {
        bail!(
            "--curve shards finds the curve of lru alone; --shards and --curve sampled=0.1 find that of any policy (`seekless sim --policies`)"
        );
    }
    Ok(vec!["lru"])
}

fn find(
    args: &Args,
    requests: &Requests,
    policy: &str,
    sizes: &[u64],
    method: Method,
) -> anyhow::Result<Curve> {
    let seed = args.seed;
    let mut progress = super::simulating(requests);
    Ok(match method {
        Method::Exact => exact(requests, policy, sizes, &mut progress)?,
        Method::Shards(amount) => {
            let sample = match amount {
                Amount::Rate(rate) => Shards::fixed_rate(rate),
                Amount::Ids(ids) => Shards::fixed_size(ids),
            };
            shards(requests, sizes, Shards { seed, ..sample })
        }
        Method::Sampled(amount) => {
            let sampling = match amount {
                Amount::Rate(rate) => Sampling::rate(rate),
                Amount::Ids(ids) => Sampling::ids(requests, ids),
            };
            sampled(requests, policy, sizes, Sampling { seed, ..sampling }, &mut progress)?
        }
    })
}

fn report(requests: &Requests, curves: &[Curve]) -> String {
    let mut text = table::heading(&requests.totals());
    for curve in curves {
        let how = match curve.confidence < 1.0 {
            true => format!(
                ", from {} of the ids; the bars hold the full run's value {:.0} times in 100",
                table::percent(curve.rate),
                100.0 * curve.confidence
            ),
            false => String::new(),
        };
        text += &format!("\n{}{how}\n", curve.policy);
        text += &points(requests, curve);
    }
    text
}

fn points(requests: &Requests, curve: &Curve) -> String {
    let sampled = curve.confidence < 1.0;
    let mut header = vec!["capacity", "misses", "missed bytes"];
    if sampled {
        header.splice(2..2, ["from", "to"]);
    }
    let row = |point: &seekless::sim::curve::Point| {
        let mut row = vec![table::size(&requests.totals(), point.capacity)];
        row.push(table::percent(point.miss_ratio));
        if sampled {
            row.extend([point.low, point.high].map(table::percent));
        }
        row.push(table::percent(point.byte_miss_ratio));
        row
    };
    text_table(&header, curve.points.iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_read_from_words() {
        assert_eq!("exact".parse(), Ok(Method::Exact));
        assert_eq!("shards=0.01".parse(), Ok(Method::Shards(Amount::Rate(0.01))));
        assert_eq!("shards=1".parse(), Ok(Method::Shards(Amount::Rate(1.0))));
        assert_eq!("shards=8192".parse(), Ok(Method::Shards(Amount::Ids(8192))));
        assert_eq!("sampled=0.1".parse(), Ok(Method::Sampled(Amount::Rate(0.1))));
        assert_eq!("sampled=500".parse(), Ok(Method::Sampled(Amount::Ids(500))));
        for wrong in ["", "exact=1", "shards", "shards=0", "sampled=1.5", "sampled=-1", "magic=0.1"]
        {
            assert!(wrong.parse::<Method>().unwrap_err().contains("exact, shards=RATE"), "{wrong}");
        }
    }
}
