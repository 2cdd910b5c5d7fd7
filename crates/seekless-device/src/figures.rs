//! How the figures of a device stand in text: `"18ms"`, `"9MB/s"`, `"256KiB"`, exact to the
//! nanosecond and the byte.

use crate::Nanos;
use crate::units::{format_rate, parse_bytes, parse_duration, parse_rate};
use serde::{Deserialize, Deserializer, Serializer};

/// The shortest text that [`parse_duration`] reads back exactly.
pub(crate) fn exact(nanos: Nanos) -> String {
    let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)];
    match units.into_iter().find(|(_, scale)| nanos >= *scale && nanos.is_multiple_of(*scale)) {
        Some((name, scale)) => format!("{}{name}", nanos / scale),
        None => format!("{nanos}ns"),
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
pub(crate) fn is_zero(value: &u64) -> bool {
    *value == 0
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

/// A bandwidth that may be absent.
pub(crate) mod optional_rate {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        bytes_per_second: &Option<u64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match bytes_per_second {
            Some(rate) => serializer.serialize_str(&format_rate(*rate)),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<u64>, D::Error> {
        read(deserializer, parse_rate).map(Some)
    }
}

/// A size.
pub(crate) mod size {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(bytes: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&exact_bytes(*bytes))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        read(deserializer, parse_bytes)
    }
}

/// The shortest text that [`parse_bytes`] reads back exactly.
pub(crate) fn exact_bytes(bytes: u64) -> String {
    let units = [
        ("TB", 1_000_000_000_000),
        ("GiB", 1 << 30),
        ("GB", 1_000_000_000),
        ("MiB", 1 << 20),
        ("MB", 1_000_000),
        ("KiB", 1 << 10),
        ("KB", 1_000),
    ];
    match units.into_iter().find(|(_, scale)| bytes >= *scale && bytes.is_multiple_of(*scale)) {
        Some((name, scale)) => format!("{}{name}", bytes / scale),
        None => format!("{bytes}B"),
    }
}

/// Several durations.
pub(crate) mod durations {
    use super::*;
    use serde::ser::SerializeSeq;

    pub(crate) fn serialize<S: Serializer>(
        all: &[Nanos],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut texts = serializer.serialize_seq(Some(all.len()))?;
        all.iter().try_for_each(|&nanos| texts.serialize_element(&exact(nanos)))?;
        texts.end()
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Nanos>, D::Error> {
        let texts = Vec::<String>::deserialize(deserializer)?;
        let parsed = texts.iter().map(|text| parse_duration(text));
        parsed.collect::<Result<_, _>>().map_err(serde::de::Error::custom)
    }
}
