//! Sizes, rates and durations as people write them, and figures as people read them. KB, MB, GB are
//! powers of 1000 and KiB, MiB, GiB of 1024; a bare K or M is refused, because half its readers
//! mean the other, and so is a number alone where bytes are meant.

mod format;
mod parse;

pub use crate::Error as UnitError;
pub use format::{counted, format_bytes, format_count, format_duration, format_rate};
pub use parse::{parse_bytes, parse_duration, parse_offset, parse_rate};

#[cfg(test)]
mod tests;
