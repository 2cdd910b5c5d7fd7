//! What providers of object storage charge for reading: requests, and bytes that leave their
//! network. Prices change and differ by region and amount, so each can be given.

use crate::{DeviceSpec, Error, ErrorKind};
use std::str::FromStr;

/// Prices in US dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Price {
    /// A thousand GET and HEAD requests.
    pub thousand_reads: f64,
    /// A thousand PUT, COPY and POST requests.
    pub thousand_writes: f64,
    /// A thousand requests that list names.
    pub thousand_lists: f64,
    /// A gigabyte (10⁹ bytes) that is read, wherever it goes.
    pub gigabyte_read: f64,
    /// A gigabyte that leaves the provider's network.
    pub gigabyte_out: f64,
}

/// What is charged for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Charged {
    /// GET and HEAD requests.
    pub reads: u64,
    /// PUT, COPY and POST requests.
    pub writes: u64,
    /// Requests that list names.
    pub lists: u64,
    /// Bytes that were read.
    pub bytes: u64,
}

/// The prices of a provider.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PriceList {
    /// Its name. That of a device is the device's ([`Preset`](crate::Preset)).
    pub name: &'static str,
    /// Where the prices are from.
    pub source: &'static str,
    /// The prices.
    pub price: Price,
}

const LISTS: [PriceList; 6] = [
    list(
        "s3",
        "Amazon's list for S3 Standard in us-east-1, first tier, 2025, recalled",
        [0.0004, 0.005, 0.005, 0.0, 0.09],
    ),
    list(
        "s3-express",
        "Amazon's list for S3 Express One Zone in us-east-1, from April 2025 on, recalled",
        [0.000_03, 0.001_13, 0.001_13, 0.0015, 0.09],
    ),
    list("r2", "Cloudflare's list for R2, 2025, recalled", [0.000_36, 0.0045, 0.0045, 0.0, 0.0]),
    list(
        "gs",
        "Google's list for Standard storage in one region, 2025, recalled",
        [0.0004, 0.005, 0.005, 0.0, 0.12],
    ),
    list(
        "az",
        "Microsoft's list for hot blobs in East US, 2025, recalled",
        [0.0005, 0.0065, 0.0065, 0.0, 0.087],
    ),
    list("minio", "a server of one's own charges nothing", [0.0; 5]),
];

const fn list(name: &'static str, source: &'static str, prices: [f64; 5]) -> PriceList {
    let [thousand_reads, thousand_writes, thousand_lists, gigabyte_read, gigabyte_out] = prices;
    let price =
        Price { thousand_reads, thousand_writes, thousand_lists, gigabyte_read, gigabyte_out };
    PriceList { name, source, price }
}

impl PriceList {
    /// All that are known.
    #[must_use]
    pub fn all() -> &'static [PriceList] {
        &LISTS
    }

    /// The prices of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static PriceList> {
        LISTS.iter().find(|list| list.name == name)
    }

    /// The prices of the provider that a device is a model of.
    #[must_use]
    pub fn of(device: &DeviceSpec) -> Option<&'static PriceList> {
        match device {
            DeviceSpec::Model(model) => Self::named(model.name()),
            DeviceSpec::Volume { .. } => None,
        }
    }
}

impl Price {
    /// What the requests cost, and what is read within the provider's network.
    #[must_use]
    pub fn within(&self, charged: &Charged) -> f64 {
        let thousands = |count: u64, price: f64| count as f64 / 1e3 * price;
        thousands(charged.reads, self.thousand_reads)
            + thousands(charged.writes, self.thousand_writes)
            + thousands(charged.lists, self.thousand_lists)
            + charged.bytes as f64 / 1e9 * self.gigabyte_read
    }

    /// The same, if all that is read leaves the provider's network.
    #[must_use]
    pub fn with_egress(&self, charged: &Charged) -> f64 {
        self.within(charged) + charged.bytes as f64 / 1e9 * self.gigabyte_out
    }
}

/// The name of a list, or `requests=0.0004,egress=0.09`: dollars for a thousand reads and for a
/// gigabyte that leaves; `writes`, `lists` (a thousand each) and `read` (a gigabyte) likewise. What
/// is not named is free.
impl FromStr for Price {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if let Some(list) = PriceList::named(text) {
            return Ok(list.price);
        }
        let mut price = Price::default();
        for setting in text.split(',') {
            let (name, value) = setting.split_once('=').ok_or_else(|| wrong(setting))?;
            let place = match name.trim() {
                "requests" => &mut price.thousand_reads,
                "writes" => &mut price.thousand_writes,
                "lists" => &mut price.thousand_lists,
                "read" => &mut price.gigabyte_read,
                "egress" => &mut price.gigabyte_out,
                _ => return Err(wrong(setting)),
            };
            let value = value.trim().parse::<f64>().ok();
            let value = value.filter(|value| value.is_finite() && *value >= 0.0);
            *place = value.ok_or_else(|| wrong(setting))?;
        }
        Ok(price)
    }
}

fn wrong(setting: &str) -> Error {
    let names: Vec<&str> = LISTS.iter().map(|list| list.name).collect();
    let message = format!(
        "{setting:?} is no price: give requests=USD (a thousand reads) and egress=USD (a GB that \
         leaves the provider's network), also writes=, lists= and read=, or one of {}",
        names.join(", ")
    );
    Error::new(ErrorKind::Syntax, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_lists_and_bytes_are_charged() {
        let price = PriceList::named("s3").unwrap().price;
        let charged =
            Charged { reads: 1_000_000, lists: 100_000, bytes: 50_000_000_000, writes: 0 };
        assert!((price.within(&charged) - 0.9).abs() < 1e-9);
        assert!((price.with_egress(&charged) - 5.4).abs() < 1e-9);
        let express = PriceList::named("s3-express").unwrap().price;
        let read = Charged { bytes: 1_000_000_000, ..Charged::default() };
        assert!((express.within(&read) - 0.0015).abs() < 1e-12);
    }

    #[test]
    fn prices_are_given_or_those_of_the_device() {
        let price: Price = "requests=0.001, egress=0.05".parse().unwrap();
        assert_eq!((price.thousand_reads, price.gigabyte_out), (0.001, 0.05));
        assert_eq!(price.thousand_lists, 0.0);
        for text in ["", "requests", "requests=cheap", "requests=-1", "time=1", "egress=inf"] {
            let error = text.parse::<Price>().unwrap_err().to_string();
            assert!(error.contains("s3-express"), "{text}: {error}");
        }
        for (device, name) in [("s3", Some("s3")), ("r2", Some("r2")), ("nvme", None)] {
            let found = PriceList::of(&device.parse().unwrap());
            assert_eq!(found.map(|list| list.name), name);
        }
    }
}
