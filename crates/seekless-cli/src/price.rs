//! `--price`: what the requests of a run cost in object storage, and the bytes that leave it.

use crate::output::{Words, line, table};
use anyhow::{Context, ensure};
use seekless::device::{Charged, DeviceSpec, Price, PriceList};
use seekless::engine::ObjectName;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;

/// Prices are of this many runs, since one costs little.
const RUNS: f64 = 1000.0;

/// The option of a verb whose report counts requests to a device.
#[derive(clap::Args, Debug)]
pub struct PriceOption {
    /// Also say what the requests cost, and the bytes if they leave the provider's network: by the
    /// prices of the device (s3, s3-express, r2, minio), of a provider that is named (also gs, az),
    /// or as given: --price=requests=0.0004,egress=0.09, US dollars for a thousand reads and for a
    /// GB; also writes=, lists= (a thousand) and read= (a GB)
    #[arg(long, value_name = "PRICES", num_args = 0..=1, require_equals = true, default_missing_value = "", value_parser = wanted)]
    price: Option<Wanted>,
}

/// Which prices are meant.
#[derive(Clone, Debug)]
enum Wanted {
    OfStorage,
    Listed(&'static PriceList),
    Given(Price),
}

fn wanted(word: &str) -> Result<Wanted, String> {
    match (word, PriceList::named(word)) {
        ("", _) => Ok(Wanted::OfStorage),
        (_, Some(list)) => Ok(Wanted::Listed(list)),
        _ => word.parse().map(Wanted::Given).map_err(|error| format!("{error}")),
    }
}

/// Prices, and what they are called.
#[derive(Clone, Debug)]
pub struct Prices {
    price: Price,
    words: String,
}

impl PriceOption {
    /// Whether prices are asked for.
    #[must_use]
    pub fn is_given(&self) -> bool {
        self.price.is_some()
    }

    /// The prices to go by: those that were given, else of the device, else of the storage that
    /// holds `object`. `None` if none are asked for.
    pub fn of(
        &self,
        device: Option<&DeviceSpec>,
        object: Option<&Path>,
    ) -> anyhow::Result<Option<Prices>> {
        let listed = |list: &PriceList| Prices {
            price: list.price,
            words: format!("of {}: {}", list.name, list.source),
        };
        Ok(match &self.price {
            None => None,
            Some(Wanted::Given(price)) => {
                ensure!(
                    device.is_some() || object.is_some_and(ObjectName::is_meant),
                    "--price is of requests to a device: give --device too"
                );
                Some(Prices { price: *price, words: "as given".to_owned() })
            }
            Some(Wanted::Listed(list)) => Some(listed(list)),
            Some(Wanted::OfStorage) => {
                let found = match device {
                    Some(device) => PriceList::of(device),
                    None => object.and_then(of_object),
                };
                let found = found.context(
                    "--price knows no prices of this storage: name a provider, as in --price=s3, \
                     or give --price=requests=0.0004,egress=0.09",
                )?;
                Some(listed(found))
            }
        })
    }
}

/// The prices where an object lies, by the beginning of its name.
fn of_object(path: &Path) -> Option<&'static PriceList> {
    let name = ObjectName::parse(path)?.ok()?;
    PriceList::named(name.scheme().prefix().trim_end_matches("://"))
}

impl Prices {
    /// A table with a row for each case: its cells, and what it is charged for.
    #[must_use]
    pub fn report(&self, header: &[&str], rows: Vec<(Vec<String>, Charged)>) -> String {
        let header = [header, &["requests", "with egress"]].concat();
        let row = |(mut cells, charged): (Vec<String>, Charged)| {
            cells.extend(self.usd(&charged).map(|usd| format!("{usd:.2} $")));
            cells
        };
        let rows: Vec<Vec<String>> = rows.into_iter().map(row).collect();
        format!(
            "\na thousand such runs by the prices {}\n{}",
            line(&self.words),
            table(&header, rows)
        )
    }

    /// Adds the same to a case of a report in JSON.
    fn add(&self, case: &mut Value, charged: &Charged) {
        if let Value::Object(case) = case {
            let [requests, with_egress] = self.usd(charged);
            let usd = json!({"requests_usd": requests, "with_egress_usd": with_egress});
            case.insert("thousand_runs".to_owned(), usd);
        }
    }

    /// Dollars for a thousand runs: of the requests, and with bytes that leave.
    fn usd(&self, charged: &Charged) -> [f64; 2] {
        [self.price.within(charged), self.price.with_egress(charged)].map(|usd| RUNS * usd)
    }
}

/// Prints figures as JSON, with prices, if there are some, in each case of the list at `cases`.
pub fn json(
    words: Words,
    figures: &impl Serialize,
    cases: &str,
    prices: Option<&Prices>,
    charged: impl Iterator<Item = Option<Charged>>,
) -> anyhow::Result<()> {
    let Some(prices) = prices else { return words.json(figures) };
    let mut document = serde_json::to_value(figures)?;
    let list = document.pointer_mut(cases).and_then(Value::as_array_mut);
    for (case, charged) in list.into_iter().flatten().zip(charged) {
        charged.into_iter().for_each(|charged| prices.add(case, &charged));
    }
    words.json(&document)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(word: &str) -> PriceOption {
        PriceOption { price: Some(wanted(word).unwrap()) }
    }

    #[test]
    fn prices_are_given_or_of_the_device_or_of_the_storage_of_an_object() {
        let s3: DeviceSpec = "s3".parse().unwrap();
        let disk: DeviceSpec = "iops=500,bandwidth=150MB/s".parse().unwrap();
        let object = |name: &'static str| Some(Path::new(name));
        let charged = Charged { reads: 1000, bytes: 1_000_000_000, ..Charged::default() };
        let usd = |word, device, object| {
            let prices = option(word).of(device, object).unwrap().unwrap();
            prices.usd(&charged).map(|usd| (usd * 100.0).round() / 100.0)
        };
        assert_eq!(usd("", Some(&s3), None), [0.4, 90.4]);
        assert_eq!(usd("r2", Some(&s3), None), [0.36, 0.36]);
        assert_eq!(usd("", None, object("gs://bucket/a.zip")), [0.4, 120.4]);
        assert_eq!(usd("requests=0.001,egress=0.05", Some(&disk), None), [1.0, 51.0]);
        for (device, path) in [(Some(&disk), None), (None, None), (None, object("a.zip"))] {
            assert!(option("").of(device, path).is_err());
        }
        assert!(option("requests=1").of(None, object("a.zip")).is_err());
        assert!(PriceOption { price: None }.of(None, None).unwrap().is_none());
    }
}
