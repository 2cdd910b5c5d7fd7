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

/// Starts to fetch the cache line in which `value` begins. The caller goes on at once, where an
/// ordinary read would hold up what follows it.
#[inline(always)]
pub fn fetch_value<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: as in `fetch`.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// Huge pages of most machines have this many bytes; less memory has no room for one.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Asks the kernel for huge pages for the memory of `values`, which should have its capacity and
/// not be filled yet. Random accesses to a large table then find their pages faster. Does nothing
/// for little memory, or where there are no huge pages.
pub fn prefer_huge_pages<T>(values: &mut Vec<T>) {
    let bytes = values.capacity().saturating_mul(size_of::<T>());
    let start = values.as_mut_ptr().cast::<u8>();
    let before = start.align_offset(rustix::param::page_size());
    let whole = bytes.saturating_sub(before) / rustix::param::page_size();
    let whole_bytes = whole * rustix::param::page_size();
    if whole_bytes >= HUGE_PAGE_BYTES {
        let first = start.wrapping_add(before).cast();
        // SAFETY: advice about whole pages that belong to the vector; it changes no byte.
        let _ =
            unsafe { rustix::mm::madvise(first, whole_bytes, rustix::mm::Advice::LinuxHugepage) };
    }
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
    fn a_vector_with_huge_pages_is_one_like_others() {
        for length in [0, 1000, 3 << 20] {
            let mut values: Vec<u8> = Vec::with_capacity(length);
            super::prefer_huge_pages(&mut values);
            values.resize(length, 7);
            assert!(values.iter().all(|&value| value == 7));
        }
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
