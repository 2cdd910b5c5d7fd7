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
/// The first bytes of libCacheSim's lcs, and the last of its header.
///
/// ```text
///  0        8          16                    8184     8192   little-endian
/// ┌────────┬──────────┬─────────────────────┬────────┐
/// │ magic  │ version  │ statistics          │ magic  │ records
/// └────────┴──────────┴─────────────────────┴────────┘
/// ```
///
/// A record of version 1 is one of oracleGeneral (24 bytes). Version 2 (28 bytes) puts an operation
/// and a tenant before the next access. Version 3 (36 bytes) makes the size an i64, and puts a
/// lifetime before the next access. Versions 4 to 8 are version 3 with 1, 2, 4, 8 and 16 features
/// of 4 bytes behind it.
pub(crate) const LCS_MAGIC: [u8; 8] = 0x1234_5678_9abc_def0_u64.to_le_bytes();
/// The length of the header of lcs.
pub(crate) const LCS_HEADER_BYTES: usize = 8192;

/// oracleGeneral and lcs count time in seconds.
pub(crate) const SECOND_NS: u64 = 1_000_000_000;

/// The size of Ozen's sectors in bytes.
pub(crate) const SECTOR_BYTES: i64 = 512;
/// The first line of a trace that Ozen's simulator writes. The numbers below it are of pages, not
/// of sectors.
pub(crate) const POST_CACHE_HEADING: &str = "# Post-cache traces";

/// The first lines of fio's logs, of version 2 and of version 3.
pub(crate) const FIO_HEADINGS: [&str; 2] = ["fio version 2 iolog", "fio version 3 iolog"];
