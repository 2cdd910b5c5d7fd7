//! How a table's figures stand in text: `"18ms"`, `"9MB/s"`, exact to the nanosecond and the byte.

use crate::Nanos;
use crate::units::{format_rate, parse_duration, parse_rate};
use serde::{Deserialize, Deserializer, Serializer};

/// The shortest text that [`parse_duration`] reads back exactly.
fn exact(nanos: Nanos) -> String {
    let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)];
    match units.into_iter().find(|(_, scale)| nanos >= *scale && nanos.is_multiple_of(*scale)) {
        Some((name, scale)) => format!("{}{name}", nanos / scale),
        None => format!("{nanos}ns"),
    }
}

fn read<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    parse: impl Fn(&str) -> Result<T, crate::Error>,
) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse(&text).map_err(serde::de::Error::custom)
}

/// A duration that must be there.
pub(crate) mod duration {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        nanos: &Nanos,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&exact(*nanos))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Nanos, D::Error> {
        read(deserializer, parse_duration)
    }
}

/// A duration that may be absent.
pub(crate) mod optional_duration {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        nanos: &Option<Nanos>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match nanos {
            Some(nanos) => serializer.serialize_str(&exact(*nanos)),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Nanos>, D::Error> {
        read(deserializer, parse_duration).map(Some)
    }
}

/// A bandwidth.
pub(crate) mod rate {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        bytes_per_second: &u64,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format_rate(*bytes_per_second))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        read(deserializer, parse_rate)
    }
}
