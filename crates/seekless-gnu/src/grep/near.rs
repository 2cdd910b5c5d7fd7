//! Searches for a byte that is mostly near. Wider vectors would hardly be faster. In a virtual
//! machine, asking whether the processor has them costs more than the search of a small file.

/// The first place of the byte.
pub(super) fn first(byte: u8, text: &[u8]) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if let Some(finder) = memchr::arch::x86_64::sse2::memchr::One::new(byte) {
        return finder.find(text);
    }
    memchr::memchr(byte, text)
}

/// The last place of the byte.
pub(super) fn last(byte: u8, text: &[u8]) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if let Some(finder) = memchr::arch::x86_64::sse2::memchr::One::new(byte) {
        return finder.rfind(text);
    }
    memchr::memrchr(byte, text)
}

/// The number of such bytes.
pub(super) fn count(byte: u8, text: &[u8]) -> u64 {
    match byte {
        b'\n' => crate::wc::newlines(text),
        _ => memchr::memchr_iter(byte, text).count() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_counts() {
        let text = b"a\nb\0\nc";
        assert_eq!(
            (first(b'\n', text), last(b'\n', text), count(b'\n', text)),
            (Some(1), Some(4), 2)
        );
        assert_eq!((first(0, text), last(0, text), count(0, text)), (Some(3), Some(3), 1));
        assert_eq!((first(b'x', text), last(b'x', text), count(b'x', text)), (None, None, 0));
    }
}
