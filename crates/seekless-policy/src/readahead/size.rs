//! How large a window is: the ladder that Linux has had since 2.6.22. The steps depend on the
//! largest window, `max`; all sizes are in pages.

/// The first window of a stream whose read asks for `asked` pages: four times a small read, twice a
/// medium one, else `max`. A read counts as the next power of two.
pub(super) fn first(asked: u64, max: u64) -> u64 {
    let asked = asked.clamp(1, max.max(1)).next_power_of_two();
    if asked <= max / 32 {
        4 * asked
    } else if asked <= max / 4 {
        2 * asked
    } else {
        max
    }
}

/// The window after one of `pages`: four times a small one, else twice, at most `max`.
pub(super) fn next(pages: u64, max: u64) -> u64 {
    let factor = if pages < max / 16 { 4 } else { 2 };
    pages.saturating_mul(factor).min(max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes of Linux 2.6.24 for 128 KiB and 1 MiB.
    #[test]
    fn the_sizes_are_those_of_the_kernel() {
        let firsts = |max| [1, 2, 4, 8, 16, 64].map(|asked| first(asked, max));
        assert_eq!(firsts(32), [4, 4, 8, 16, 32, 32]);
        assert_eq!(firsts(256), [4, 8, 16, 32, 32, 128]);
        let growth = |max| {
            std::iter::successors(Some(4), move |&pages| Some(next(pages, max)))
                .take(7)
                .collect::<Vec<_>>()
        };
        assert_eq!(growth(32), [4, 8, 16, 32, 32, 32, 32]);
        assert_eq!(growth(256), [4, 16, 32, 64, 128, 256, 256]);
    }

    #[test]
    fn no_window_is_larger_than_the_largest() {
        for max in 0..70 {
            for pages in 0..200 {
                assert!(first(pages, max) <= max && next(pages, max) <= max, "{pages} of {max}");
            }
            assert!(next(max, max) == max && first(u64::MAX, max) == max, "{max}");
        }
    }
}
