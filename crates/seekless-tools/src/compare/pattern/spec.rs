//! Patterns in words: `backward:64KiB`, `streams:10/4KiB/each`, `stride:256KiB/64KiB`.

use seekless_device::units::parse_bytes;
use seekless_job::{Error, ErrorKind};
use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// What to write, for error messages and help.
pub const FORMS: &str = "forward, backward, random, files, streams:N, stride:STEP, strides:N/STEP, \
                         sparse:P%, disturbed:P% or columnar:N/M; each may end in /READ, the size of \
                         a read, as in backward:4KiB; streams:N/READ/each opens a descriptor for \
                         each stream";

/// Bytes of a read, unless the pattern says otherwise.
const READ_BYTES: u64 = 4096;
/// The same for patterns that programs make with larger reads.
const LARGE_READ_BYTES: u64 = 64 << 10;

/// How a file is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pattern {
    /// The order of the reads.
    pub kind: Kind,
    /// Bytes of each read.
    pub read_bytes: u64,
}

/// The order of the reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// From the beginning on.
    Forward,
    /// From the end back.
    Backward,
    /// At places chosen at random.
    Random,
    /// Every file of a folder whole, in the order of names.
    Files,
    /// Several forward streams, each over a part of its own, interleaved at random.
    Streams {
        /// How many.
        count: u64,
        /// Whether each has a descriptor of its own.
        each: bool,
    },
    /// One read at each multiple of a step.
    Stride {
        /// Bytes from one read to the next.
        step: u64,
    },
    /// Several strides, each over a part of its own, interleaved at random.
    Strides {
        /// How many.
        count: u64,
        /// Bytes from one read of a stride to its next.
        step: u64,
    },
    /// Forward, leaving out reads chosen at random.
    Sparse {
        /// How many of a hundred reads are left out.
        skipped_percent: f64,
    },
    /// Some columns of a table in groups of rows: chunks of 1 MiB, as many a group as columns.
    Columnar {
        /// Columns that are read.
        wanted: u64,
        /// Columns of the table.
        columns: u64,
    },
    /// Forward, with reads at random places in between.
    Disturbed {
        /// How many of a hundred reads are at random places.
        percent: f64,
    },
}

/// The figures after the name, by their form.
#[derive(Default)]
struct Figures {
    counts: Vec<u64>,
    sizes: Vec<u64>,
    percent: Option<f64>,
    each: bool,
}

impl FromStr for Pattern {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        parse(text).ok_or_else(|| {
            let message = format!("{text:?} is not a pattern: write {FORMS}");
            Error::new(ErrorKind::Invalid, message)
        })
    }
}

fn parse(text: &str) -> Option<Pattern> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let Figures { counts, mut sizes, percent, each } = figures(rest)?;
    let steps = matches!(name, "stride" | "strides") && !sizes.is_empty();
    let step = if steps { Some(sizes.remove(0)) } else { None };
    let (kind, usual) = match (name, &counts[..], step, percent, each) {
        ("forward", [], None, None, false) => (Kind::Forward, READ_BYTES),
        ("backward", [], None, None, false) => (Kind::Backward, READ_BYTES),
        ("random", [], None, None, false) => (Kind::Random, READ_BYTES),
        ("files", [], None, None, false) => (Kind::Files, LARGE_READ_BYTES),
        ("streams", &[count], None, None, each) => (Kind::Streams { count, each }, READ_BYTES),
        ("stride", [], Some(step), None, false) => (Kind::Stride { step }, READ_BYTES),
        ("strides", &[count], Some(step), None, false) => {
            (Kind::Strides { count, step }, READ_BYTES)
        }
        ("sparse", [], None, Some(skipped_percent), false) => {
            (Kind::Sparse { skipped_percent }, READ_BYTES)
        }
        ("disturbed", [], None, Some(percent), false) => (Kind::Disturbed { percent }, READ_BYTES),
        ("columnar", &[wanted, columns], None, None, false) if wanted <= columns => {
            (Kind::Columnar { wanted, columns }, LARGE_READ_BYTES)
        }
        _ => return None,
    };
    let read_bytes = match sizes[..] {
        [] => usual,
        [read] => read,
        _ => return None,
    };
    let steps_on = step.is_none_or(|step| step >= read_bytes);
    (steps_on && read_bytes <= 1 << 30).then_some(Pattern { kind, read_bytes })
}

fn figures(text: &str) -> Option<Figures> {
    let mut found = Figures::default();
    for figure in text.split('/').filter(|_| !text.is_empty()) {
        if figure == "each" {
            found.each = true;
        } else if let Some(percent) = figure.strip_suffix('%') {
            let percent: f64 = percent.trim().parse().ok()?;
            found.percent = Some(percent).filter(|percent| (0.0..100.0).contains(percent));
            found.percent?;
        } else if figure.bytes().all(|byte| byte.is_ascii_digit()) {
            found.counts.push(figure.parse().ok().filter(|&count| count > 0)?);
        } else {
            found.sizes.push(parse_bytes(figure).ok().filter(|&bytes| bytes > 0)?);
        }
    }
    Some(found)
}

/// A size that reads back as it is.
fn size(bytes: u64) -> String {
    match bytes {
        _ if bytes.is_multiple_of(1 << 20) => format!("{}MiB", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{}KiB", bytes >> 10),
        _ => format!("{bytes}B"),
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let read = size(self.read_bytes);
        match self.kind {
            Kind::Forward => write!(out, "forward:{read}"),
            Kind::Backward => write!(out, "backward:{read}"),
            Kind::Random => write!(out, "random:{read}"),
            Kind::Files => write!(out, "files:{read}"),
            Kind::Streams { count, each: false } => write!(out, "streams:{count}/{read}"),
            Kind::Streams { count, each: true } => write!(out, "streams:{count}/{read}/each"),
            Kind::Stride { step } => write!(out, "stride:{}/{read}", size(step)),
            Kind::Strides { count, step } => write!(out, "strides:{count}/{}/{read}", size(step)),
            Kind::Sparse { skipped_percent } => write!(out, "sparse:{skipped_percent}%/{read}"),
            Kind::Disturbed { percent } => write!(out, "disturbed:{percent}%/{read}"),
            Kind::Columnar { wanted, columns } => write!(out, "columnar:{wanted}/{columns}/{read}"),
        }
    }
}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_in_words_is_read_and_written_back() {
        for (text, canonical) in [
            ("forward", "forward:4KiB"),
            ("backward:64KiB", "backward:64KiB"),
            ("random:512B", "random:512B"),
            ("files", "files:64KiB"),
            ("streams:10", "streams:10/4KiB"),
            ("streams:1000/each", "streams:1000/4KiB/each"),
            ("stride:256KiB/64KiB", "stride:256KiB/64KiB"),
            ("stride:1MiB", "stride:1MiB/4KiB"),
            ("strides:10/64KiB/4KiB", "strides:10/64KiB/4KiB"),
            ("sparse:50%", "sparse:50%/4KiB"),
            ("disturbed:1%/8KiB", "disturbed:1%/8KiB"),
            ("columnar:8/64", "columnar:8/64/64KiB"),
        ] {
            let pattern: Pattern = text.parse().unwrap();
            assert_eq!(pattern.to_string(), canonical);
            assert_eq!(canonical.parse::<Pattern>().unwrap(), pattern);
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused_with_the_forms() {
        for text in [
            "",
            "sideways",
            "forward:10",
            "streams",
            "streams:0",
            "streams:10%",
            "stride",
            "stride:4KiB/64KiB",
            "stride:64KiB/each",
            "sparse",
            "sparse:100%",
            "sparse:NaN%",
            "columnar:9/8",
            "columnar:8",
            "forward:0KiB",
            "forward:4KiB/4KiB",
            "strides:64KiB",
            "forward:2GiB",
            "forward:/",
        ] {
            let error = text.parse::<Pattern>().expect_err(text);
            assert!(error.to_string().contains("backward:4KiB"), "{error}");
        }
    }
}
