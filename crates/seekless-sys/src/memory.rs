//! A word to the processor about what will be read soon.

/// Bytes the processor fetches together.
const LINE: usize = 64;

/// Starts to fetch `bytes` from memory; reads nothing, and does nothing where no way is known.
#[inline]
pub fn fetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    for line in bytes.chunks(LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, which touches nothing and cannot fail whatever the address; SSE is part of every x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, LINE);
}

#[cfg(test)]
mod tests {
    #[test]
    fn any_length_may_be_fetched() {
        let bytes = [7; 200];
        (0..bytes.len()).for_each(|length| super::fetch(&bytes[..length]));
        assert_eq!(bytes, [7; 200]);
    }
}
