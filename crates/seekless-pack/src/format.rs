//! The Zip records' signatures, sizes and flags (PKWARE APPNOTE 6.3, sections 4.3 to 4.5), and
//! little-endian fields.
//!
//! ```text
//! entry:      local header (30) | name | extra | data [| data descriptor, other tools only]
//! directory:  for each entry: central header (46) | name | extra | comment
//! end:        [Zip64 end (56) | Zip64 locator (20)] | end (22) | comment
//! ```

pub(crate) const LOCAL: u32 = 0x0403_4b50;
pub(crate) const CENTRAL: u32 = 0x0201_4b50;
pub(crate) const END: u32 = 0x0605_4b50;
pub(crate) const END64: u32 = 0x0606_4b50;
pub(crate) const LOCATOR64: u32 = 0x0706_4b50;

pub(crate) const LOCAL_BYTES: usize = 30;
/// The fixed part of a local header, and name and extra field at their longest.
pub(crate) const LOCAL_BYTES_MAX: u64 = LOCAL_BYTES as u64 + 2 * u16::MAX as u64;
pub(crate) const CENTRAL_BYTES: usize = 46;
pub(crate) const END_BYTES: usize = 22;
pub(crate) const END64_BYTES: usize = 56;
pub(crate) const LOCATOR64_BYTES: usize = 20;
/// The longest data descriptor: signature, CRC and two Zip64 sizes.
pub(crate) const DESCRIPTOR_BYTES: u64 = 24;

/// The bits of a Unix mode that say what a file is, and those of a symbolic link.
pub(crate) const FILE_TYPE: u32 = 0o170_000;
pub(crate) const LINK: u32 = 0o120_000;

pub(crate) const FLAG_ENCRYPTED: u16 = 1;
pub(crate) const FLAG_DESCRIPTOR: u16 = 1 << 3;
pub(crate) const FLAG_STRONG: u16 = 1 << 6;
pub(crate) const FLAG_UTF8: u16 = 1 << 11;

pub(crate) const EXTRA_ZIP64: u16 = 0x0001;
/// Info-ZIP's extended timestamp: UTC, where the DOS fields are the local time where the archive
/// was made.
pub(crate) const EXTRA_TIME: u16 = 0x5455;
/// Info-ZIP's older times: of access and of modification, in seconds since 1970.
pub(crate) const EXTRA_OLD_TIMES: u16 = 0x5855;
/// PKWARE's for Unix, which begins with the same two times.
pub(crate) const EXTRA_UNIX: u16 = 0x000d;
/// Info-ZIP's name in UTF-8, with the CRC-32 of the name in the header.
pub(crate) const EXTRA_NAME: u16 = 0x7075;
/// Times to 100 ns ([`ntfs`](crate::ntfs)).
pub(crate) const EXTRA_NTFS: u16 = 0x000a;
/// "SK", which APPNOTE lists for nothing: where the chunks of a deflated entry lie
/// ([`chunks`](crate::chunks)). It stands in the directory alone.
pub(crate) const EXTRA_CHUNKS: u16 = 0x4b53;

/// In a 16- or 32-bit field: "look in the Zip64 record".
pub(crate) const SEE_ZIP64_16: u16 = u16::MAX;
pub(crate) const SEE_ZIP64_32: u32 = u32::MAX;

/// Deflate's best case: 258 bytes out of two bits.
pub(crate) const DEFLATE_RATIO_MAX: u64 = 1032;

/// Zstd's best case (RFC 8878): a block of 128 KiB out of four bytes.
pub(crate) const ZSTD_RATIO_MAX: u64 = (128 << 10) / 4;

/// The caller has checked that `bytes` reaches to `at + 2`.
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// The caller has checked that `bytes` reaches to `at + 4`.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The caller has checked that `bytes` reaches to `at + 8`.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

/// The body of the first extra field `id`. A malformed remainder ends the search: aligners pad with
/// bare zeros.
pub(crate) fn extra(fields: &[u8], id: u16) -> Option<&[u8]> {
    let mut found = None;
    extras(fields, |kind, body| {
        if kind == id {
            found.get_or_insert(body);
        }
    });
    found
}

/// Shows the kind and the body of each extra field, likewise.
pub(crate) fn extras<'a>(mut fields: &'a [u8], mut show: impl FnMut(u16, &'a [u8])) {
    while fields.len() >= 4 {
        let length = usize::from(u16_at(fields, 2));
        let Some(body) = fields.get(4..4 + length) else { return };
        show(u16_at(fields, 0), body);
        fields = &fields[4 + length..];
    }
}

/// Takes the next 64-bit value of a Zip64 extra field.
pub(crate) fn take_u64(fields: &mut &[u8]) -> Option<u64> {
    let value = fields.get(..8).map(|bytes| u64_at(bytes, 0))?;
    *fields = &fields[8..];
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_little_endian() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(u16_at(&bytes, 1), 0x0302);
        assert_eq!(u32_at(&bytes, 2), 0x0605_0403);
        assert_eq!(u64_at(&bytes, 0), 0x0807_0605_0403_0201);
    }

    #[test]
    fn extra_skips_others_and_survives_padding() {
        let fields = [9, 0, 1, 0, 7, 1, 0, 2, 0, 5, 6, 0, 0, 0];
        assert_eq!(extra(&fields, 1), Some(&[5, 6][..]));
        assert_eq!(extra(&fields, 3), None);
        assert_eq!(extra(&[1, 0, 9, 0, 1], 1), None, "a field longer than the rest is no field");
    }
}
