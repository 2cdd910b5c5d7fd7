//! What import and export share about the formats of other simulators.

/// The length of a record of libCacheSim's oracleGeneral. There is no heading.
///
/// ```text
///  0        4                12       16                24   little-endian
/// ┌────────┬────────────────┬────────┬──────────────────┐
/// │ u32    │ u64            │ u32    │ i64              │
/// │ time s │ object         │ bytes  │ next access      │
/// └────────┴────────────────┴────────┴──────────────────┘
/// ```
///
/// The next access is the number of the object's next request, from 1, or −1 if there is none.
pub(crate) const ORACLE_RECORD_BYTES: usize = 24;
/// oracleGeneral counts time in seconds.
pub(crate) const SECOND_NS: u64 = 1_000_000_000;

/// The size of Ozen's sectors in bytes.
pub(crate) const SECTOR_BYTES: i64 = 512;
/// The first line of a trace that Ozen's simulator writes. The numbers below it are of pages, not
/// of sectors.
pub(crate) const POST_CACHE_HEADING: &str = "# Post-cache traces";
