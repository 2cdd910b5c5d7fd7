//! The stable names of pages, by which a policy knows them ([`Request::key`]). The simulator and
//! the live page cache take both from here: a policy that counts by key, such as `w-tinylfu`, then
//! decides alike in both.
//!
//! A key is the file's number, then the page's. Neighbouring pages have neighbouring keys, and no
//! two files are neighbours or share an aligned group of pages. Files are numbered as they come.
//!
//! [`Request::key`]: crate::eviction::Request::key

use std::ops::Range;

/// The bits of a key that are the page's.
const PAGE_BITS: u32 = 38;

/// Pages of a file that share no key with another file: 1 PiB.
pub const PAGES_MAX: u64 = 1 << PAGE_BITS;
/// Files that share no key: 67 million.
pub const FILES_MAX: u64 = 1 << (u64::BITS - PAGE_BITS);

/// The key of a page.
#[inline]
#[must_use]
pub fn key(file: u32, page: u64) -> u64 {
    (u64::from(file) << PAGE_BITS).wrapping_add(page)
}

/// The file and page of a key.
#[inline]
#[must_use]
pub fn place(key: u64) -> (u32, u64) {
    ((key >> PAGE_BITS) as u32, key & (PAGES_MAX - 1))
}

/// The keys of a file's pages.
#[must_use]
pub fn of_file(file: u32) -> Range<u64> {
    let start = key(file, 0);
    start..start.saturating_add(PAGES_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_lead_back_to_their_pages_and_files_lie_apart() {
        let last = (FILES_MAX - 1) as u32;
        for (file, page) in [(0, 0), (0, PAGES_MAX - 1), (1, 0), (7, 300), (last, PAGES_MAX - 2)] {
            let key = key(file, page);
            assert_eq!(place(key), (file, page));
            assert!(of_file(file).contains(&key));
            assert!(!of_file(file ^ 1).contains(&key));
        }
        assert_eq!(key(0, 9), 9, "a single file's pages keep their numbers");
    }
}
