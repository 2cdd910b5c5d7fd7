//! Histograms against one that is made by looking at each pixel, in every order of pieces.

use super::super::feed::Live;
use super::super::histogram::{Options, histogram_of};
use super::*;
use proptest::prelude::*;
use seekless_read::Plan;
use std::sync::atomic::AtomicBool;

/// Lower and upper edge and count of each bin, from the table that is the file's last HDU.
pub(super) fn table(path: &Path) -> Vec<(f64, f64, u64)> {
    let source = Source::open(path).expect("a FITS file");
    let hdu = source.hdus.last().expect("a table");
    assert_eq!(hdu.header.text("EXTNAME").as_deref(), Some("HISTOGRAM"));
    let file = std::fs::read(path).expect("readable");
    let eight = |bytes: &[u8]| u64::from_be_bytes(bytes.try_into().unwrap());
    file[hdu.data.start as usize..hdu.data.end as usize]
        .chunks_exact(24)
        .map(|row| {
            (
                f64::from_bits(eight(&row[..8])),
                f64::from_bits(eight(&row[8..16])),
                eight(&row[16..]),
            )
        })
        .collect()
}

fn naive(numbers: &[Option<f64>], options: &Options) -> Vec<u64> {
    let defined = || numbers.iter().flatten().copied().filter(|number| number.is_finite());
    let low = options.range.0.unwrap_or_else(|| defined().fold(f64::INFINITY, f64::min));
    let high = options.range.1.unwrap_or_else(|| defined().fold(f64::NEG_INFINITY, f64::max));
    let (size, bins) = match options.bins {
        Some(bins) => ((high - low) / bins as f64, bins as usize),
        None => (options.bin_size, ((high - low) / options.bin_size).floor() as usize + 1),
    };
    let mut counts = vec![0; bins];
    for number in defined().filter(|&number| number >= low && number <= high) {
        counts[(((number - low) / size).floor() as usize).min(bins - 1)] += 1;
    }
    counts
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_order_of_pieces_changes_the_histogram(
        kind in 0_usize..6,
        axes in prop::collection::vec(1_u64..20, 1..4),
        scale in 0_usize..3,
        range in 0_usize..4,
        by_size: bool,
        seed: u64,
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("in.fits");
        let (factor, zero) = [(1.0, 0.0), (1.0, 1000.0), (-0.5, 0.125)][scale];
        let made = Made::new([8, 16, 32, 64, -32, -64][kind], &axes, seed).card("BSCALE", factor).card("BZERO", zero);
        let numbers = made.numbers();
        let mut sorted: Vec<f64> = numbers.iter().flatten().copied().collect();
        sorted.sort_by(f64::total_cmp);
        prop_assume!(sorted.first() < sorted.last());
        let ends = (sorted[sorted.len() / 4], sorted[sorted.len() * 3 / 4] + 1.0);
        write(&path, &[made.hdu(true)]);
        let mut options = Options::new(&path, folder.path().join("out.fits"), 9);
        options.clobber = true;
        options.range = [(None, None), (Some(ends.0), None), (None, Some(ends.1)), (Some(ends.0), Some(ends.1))][range];
        if by_size {
            (options.bins, options.bin_size) = (None, (sorted[sorted.len() - 1] - sorted[0]) / 7.3);
        }
        let source = Source::open(&path).expect("a FITS file");
        let mut shuffled = Shuffled { dice: Dice::new(seed), restarts: seed % 3 == 0 };
        histogram_of(&options, &source, &mut shuffled).expect("a histogram");
        let made_of_pieces = std::fs::read(&options.output).expect("readable");
        let counts: Vec<u64> = table(&options.output).iter().map(|bin| bin.2).collect();
        prop_assert_eq!(&counts, &naive(&numbers, &options));

        let mut passes = Vec::new();
        for (linear, plan) in [(false, Plan::Best), (false, Plan::Linear), (true, Plan::Best)] {
            (options.linear, options.plan) = (linear, plan);
            let (never, mut quiet) = (AtomicBool::new(false), |_, _| {});
            let mut live = Live::new(options.plan(), &never, &mut quiet);
            histogram_of(&options, &source, &mut live).expect("a histogram");
            prop_assert!(std::fs::read(&options.output).expect("readable") == made_of_pieces, "linear: {}, {:?}", linear, plan);
            passes.push(live.reading.passes);
        }
        prop_assert!(passes[0] == passes[1] && passes[0] < 3 && passes[2] == 3, "{:?}", passes);
    }
}

fn quick(options: &Options) -> Result<super::super::HistogramReport> {
    super::super::histogram(options, &mut |_, _| {})
}

#[test]
fn the_file_is_copied_and_announces_its_extensions() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, out) = (folder.path().join("in.fits"), folder.path().join("out.fits"));
    // 32 cards of its own: with EXTEND and END the primary header is full at 35.
    for extra in [0, 29, 30, 31, 32] {
        let mut primary = Made::new(8, &[3, 3], 1);
        primary.cards = vec![("FILLER", 1.0); extra];
        let others = [Made::new(-32, &[40, 50], 2).hdu(false), Made::new(16, &[7], 3).hdu(false)];
        write(&path, &[primary.hdu(true), others[0].clone(), others[1].clone()]);
        let report =
            quick(&Options { clobber: true, ..Options::new(&path, &out, 4) }).expect("a histogram");
        let source = Source::open(&out).expect("a FITS file");
        assert_eq!(source.hdus.len(), 4);
        assert!(source.hdus[0].header.is_true("EXTEND"));
        let made = std::fs::read(&out).expect("readable");
        assert_eq!(made.len() as u64, report.output_bytes);
        let start = source.hdus[0].data.start as usize;
        let copied = [&primary.hdu(true)[2880..], &others[0], &others[1]].concat();
        if extra < 30 {
            assert!(made[start..start + copied.len()] == copied, "{extra}");
        }
        assert_eq!(made[start..start + 9], primary.data);
        assert!(made[..].windows(others[0].len()).any(|part| part == others[0]));
        assert_eq!((report.reading.passes, report.hdu, report.pixels), (1, 0, 9));
    }
}

#[test]
fn whole_numbers_of_64_bits_are_counted_exactly() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, out) = (folder.path().join("in.fits"), folder.path().join("out.fits"));
    let mut made = Made::new(64, &[4], 1).card("BZERO", 9_223_372_036_854_775_808.0);
    // As unsigned: 2^53 + 0, 1, 2, 3, which are three different doubles at most.
    made.data = (0..4).flat_map(|at: i64| (i64::MIN + (1 << 53) + at).to_be_bytes()).collect();
    write(&path, &[made.hdu(true)]);
    let options = Options { bin_size: 1.0, bins: None, ..Options::new(&path, &out, 1) };
    let report = quick(&options).expect("a histogram");
    assert_eq!(
        table(&out).iter().map(|bin| bin.2).collect::<Vec<_>>()[..],
        [1, 1, 1, 1][..report.bins as usize]
    );
    assert_eq!(report.counted, 4);
}

#[test]
fn what_has_no_place_in_a_range_is_counted_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, out) = (folder.path().join("in.fits"), folder.path().join("out.fits"));
    let mut made = Made::new(-64, &[7], 1);
    let numbers = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, 1.0, 2.0, 2.5];
    made.data = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
    write(&path, &[made.hdu(true)]);
    let mut options = Options { clobber: true, ..Options::new(&path, &out, 2) };
    let report = quick(&options).expect("a histogram");
    assert_eq!((report.low, report.high, report.bin_size), (0.0, 2.5, 1.25));
    assert_eq!((report.undefined, report.above, report.below, report.counted), (1, 1, 1, 4));
    assert_eq!(table(&out), [(0.0, 1.25, 2), (1.25, 2.5, 2)]);
    // Both ends of a range are in it.
    (options.range, options.bins, options.bin_size) = ((Some(1.0), Some(2.0)), None, 1.0);
    let report = quick(&options).expect("a histogram");
    assert_eq!(table(&out), [(1.0, 2.0, 1), (2.0, 3.0, 1)]);
    assert_eq!((report.above, report.below, report.reading.passes), (2, 2, 1));
}

#[test]
fn what_makes_no_histogram_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, out) = (folder.path().join("in.fits"), folder.path().join("out.fits"));
    let mut made = Made::new(-32, &[2], 1);
    made.data = [f32::NAN; 2].iter().flat_map(|number| number.to_be_bytes()).collect();
    write(&path, &[made.hdu(true)]);
    let options = Options::new(&path, &out, 4);
    let refused = |options: Options, what: &str| {
        let error = quick(&options).expect_err(what).to_string();
        assert!(error.contains(what), "{error}");
        assert!(!out.exists(), "{what}: nothing is left");
    };
    refused(options.clone(), "say the range");
    refused(Options { bins: None, ..options.clone() }, "leaves it to their number");
    refused(Options { bins: Some(0), ..options.clone() }, "at least one bin");
    refused(
        Options { range: (Some(2.0), Some(1.0)), ..options.clone() },
        "no range goes from 2 up to 1",
    );
    let fine = Options { range: (Some(0.0), Some(1e9)), bin_size: 1.0, ..options.clone() };
    refused(fine, "1000000001 bins, and 16777216 is the most");
    std::fs::write(&out, "mine").expect("room");
    let error = quick(&options).expect_err("something is there").to_string();
    assert!(error.contains("exists already"), "{error}");
}
