//! FNV-1a: a hash for names and seeds that must be the same in every version and on every machine,
//! unlike that of a hash map.

/// The hash of these bytes, of 64 bits.
#[must_use]
pub fn fnv_1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The same with its bits mixed (the last steps of SplitMix64), so that each share of the hashes
/// has its share of names, however short or alike these are.
pub(crate) fn fnv_1a_mixed(bytes: &[u8]) -> u64 {
    let hash = fnv_1a(bytes);
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_published_one() {
        assert_eq!(fnv_1a(b"foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(fnv_1a(b""), 0xcbf2_9ce4_8422_2325);
    }
}
