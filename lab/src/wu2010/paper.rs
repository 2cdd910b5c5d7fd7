//! What Wu, Xi and Xu 2010 print. MB are of 1000², percentages of the older algorithm's figure.

/// A figure of the older algorithm (Linux 2.6.22) and of theirs (2.6.24).
#[derive(Clone, Copy, Debug)]
pub(super) struct Both {
    pub(super) old: f64,
    pub(super) new: f64,
}

/// Fig. 9: MB/s of a sequence of 100 MB with this many MB of random pages among it.
pub(super) fn disturbed(random_mb: u64) -> Option<Both> {
    match random_mb {
        1 => Some(Both { old: 17.18, new: 22.15 }),
        10 => Some(Both { old: 5.10, new: 6.39 }),
        _ => None,
    }
}

/// Fig. 11: MB/s of interleaved streams, with the disk's own readahead off. Of two and three
/// streams the text has only the older algorithm's figure.
pub(super) fn streams(count: u64) -> (Option<f64>, Option<f64>) {
    match count {
        1 => (Some(24.95), Some(28.32)),
        2 => (Some(7.05), None),
        3 => (Some(3.15), None),
        10 => (Some(0.81), Some(21.78)),
        _ => (None, None),
    }
}

/// Fig. 11: the same with the disk's own readahead on.
pub(super) fn streams_disk_on(count: u64) -> (Option<f64>, Option<f64>) {
    match count {
        1 => (Some(51.38), Some(51.38)),
        10 => (Some(12.29), Some(35.30)),
        _ => (None, None),
    }
}

/// Fig. 12: seconds that the program waits during the first 100 MB.
pub(super) fn waited(count: u64) -> Option<Both> {
    match count {
        1 => Some(Both { old: 3.36, new: 2.89 }),
        10 => Some(Both { old: 122.35, new: 3.44 }),
        _ => None,
    }
}

/// How much slower the older kernel is on one undisturbed stream, where both algorithms ask for the
/// same: 28.32 to 24.95 MB/s. This is no doing of the algorithm.
pub(super) const BASELINE: f64 = 28.32 / 24.95;
