//! This machine's memory: the size of its pages, how much is free, and hints to the processor about
//! what will be read soon.

/// Bytes the processor fetches together.
const LINE: usize = 64;

/// The bytes of a page of this machine's memory and of its page cache: 4096, or 65536 on some
/// kernels for arm64 and POWER. Traces and the simulator count in pages of 4096 on every machine.
#[must_use]
pub fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

/// Starts to fetch `bytes` from memory into the processor's cache. Does nothing where no way is
/// known.
#[inline]
pub fn fetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    for line in bytes.chunks(LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, which touches nothing and cannot fail at any address; SSE is part of
        // every x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, LINE);
}

/// How much memory programs can get without swapping, in bytes, as the kernel estimates it; `None`
/// where it does not.
#[must_use]
pub fn free_bytes() -> Option<u64> {
    let figures = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = figures.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_page_is_a_power_of_two_of_at_least_4096() {
        let page = super::page_bytes();
        assert!(page.is_power_of_two() && page >= 4096);
    }

    #[test]
    fn some_memory_is_free() {
        match super::free_bytes() {
            Some(free) => assert!(free > 1 << 20, "{free}"),
            None => println!("skipped: there is no /proc/meminfo here"),
        }
    }

    #[test]
    fn any_length_may_be_fetched() {
        let bytes = [7; 200];
        (0..bytes.len()).for_each(|length| super::fetch(&bytes[..length]));
        assert_eq!(bytes, [7; 200]);
    }
}
