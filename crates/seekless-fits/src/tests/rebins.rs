//! Rebinned images against sums of one box at a time, in every order of pieces.

use super::super::feed::Live;
use super::super::rebin::{DataType, Options, rebin_of};
use super::*;
use proptest::prelude::*;
use seekless_read::Plan;
use std::sync::atomic::AtomicBool;

/// The sum of each box, undefined pixels taken for `null`.
fn naive(made: &Made, width: u64, height: u64, null: f64, average: bool) -> Vec<f64> {
    let numbers = made.numbers();
    let (columns, rows) = (made.axes[0], made.axes.get(1).copied().unwrap_or(1));
    let planes = made.axes.iter().skip(2).product::<u64>();
    let mut sums = Vec::new();
    for plane in 0..planes {
        for y in 0..rows / height {
            for x in 0..columns / width {
                let mut sum = 0.0;
                for row in y * height..(y + 1) * height {
                    for column in x * width..(x + 1) * width {
                        let pixel = numbers[((plane * rows + row) * columns + column) as usize];
                        sum += pixel.unwrap_or(null);
                    }
                }
                sums.push(if average { sum / (width * height) as f64 } else { sum });
            }
        }
    }
    sums
}

/// Equal but for the rounding of the sums and of what is stored.
fn close(found: f64, expected: f64, step: f64) -> bool {
    (found - expected).abs() <= step + 1e-6 * expected.abs().max(1.0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_order_of_pieces_changes_a_sum(
        kind in 0_usize..6,
        axes in (2_u64..24, 2_u64..24, 1_u64..4),
        boxes in (1_u64..5, 1_u64..5),
        scale in 0_usize..3,
        data_type in 0_usize..4,
        average: bool,
        seed: u64,
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("in.fits");
        let bitpix = [8, 16, 32, 64, -32, -64][kind];
        let (factor, zero) = [(1.0, 0.0), (1.0, 100.0), (0.25, 0.0)][scale];
        let made = Made::new(bitpix, &[axes.0, axes.1, axes.2], seed).card("BSCALE", factor).card("BZERO", zero);
        let (width, height) = (boxes.0.min(axes.0), boxes.1.min(axes.1));
        write(&path, &[made.hdu(true)]);
        let mut options = Options::new(&path, folder.path().join("out.fits"), width);
        options.clobber = true;
        options.overflow = true;
        options.y_bin_size = height;
        options.average = average;
        options.null_value = 3.0;
        options.data_type =
            [DataType::Same, DataType::Bitpix(64), DataType::Bitpix(-64), DataType::Bitpix(-32)][data_type];
        let source = Source::open(&path).expect("a FITS file");
        let mut shuffled = Shuffled { dice: Dice::new(seed), restarts: seed % 3 == 0 };
        let report = rebin_of(&options, &source, &mut shuffled).expect("an image");
        let made_of_pieces = std::fs::read(&options.output).expect("readable");

        let (image, found) = read_image(&options.output, 0);
        prop_assert_eq!(&image.axes, &[axes.0 / width, axes.1 / height, axes.2]);
        let expected = naive(&made, width, height, 3.0, average);
        prop_assert_eq!(found.len(), expected.len());
        let step = if image.stored.is_float() { 0.0 } else { image.scale.factor / 2.0 };
        let (least, greatest) = image.stored.limits();
        let number = |stored: i128| image.scale.zero + image.scale.factor * stored as f64;
        let mut clamped = 0;
        for (found, expected) in found.iter().zip(expected) {
            let nearest = match image.stored.is_float() {
                true => expected,
                false => expected.clamp(number(least), number(greatest)),
            };
            clamped += u64::from((nearest - expected).abs() > step);
            prop_assert!(close(*found, nearest, step), "{} for {}", found, expected);
        }
        prop_assert_eq!(report.clamped, clamped);

        for (linear, plan) in [(false, Plan::Best), (false, Plan::Linear), (true, Plan::Best)] {
            (options.linear, options.plan) = (linear, plan);
            let (never, mut quiet) = (AtomicBool::new(false), |_, _| {});
            let mut live = Live::new(options.plan(), &never, &mut quiet);
            rebin_of(&options, &source, &mut live).expect("an image");
            let now = std::fs::read(&options.output).expect("readable");
            let differs = now.iter().zip(&made_of_pieces).position(|(one, other)| one != other);
            prop_assert!(now == made_of_pieces, "linear: {}, {:?}: {:?}, {} {}", linear, plan, differs, now.len(), made_of_pieces.len());
        }
    }
}

fn quick(options: &Options) -> Result<super::super::RebinReport> {
    super::super::rebin(options, &mut |_, _| {})
}

#[test]
fn whole_numbers_are_summed_exactly() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, out) = (folder.path().join("in.fits"), folder.path().join("out.fits"));
    let stored = |path: &Path| -> Vec<i64> {
        let (image, _) = read_image(path, 0);
        let file = std::fs::read(path).expect("readable");
        image.whole(&file[image.data.start as usize..image.data.end as usize]).flatten().collect()
    };
    // 2^60 and so on: a double would lose the ones.
    let mut made = Made::new(64, &[4], 1);
    made.data =
        [1 << 60, 1, -3, 1 << 58].iter().flat_map(|number: &i64| number.to_be_bytes()).collect();
    write(&path, &[made.hdu(true)]);
    let options = Options { clobber: true, ..Options::new(&path, &out, 2) };
    quick(&options).expect("an image");
    assert_eq!(stored(&out), [(1 << 60) + 1, (1 << 58) - 3]);
    quick(&Options { average: true, ..options.clone() }).expect("an image");
    assert_eq!(stored(&out), [(1 << 59) + 1, (1 << 57) - 1], "halves go away from zero");
    // The same as unsigned: two zeros of 2^63 add up to more than fits.
    write(&path, &[made.clone().card("BZERO", 9_223_372_036_854_775_808.0).hdu(true)]);
    let error = quick(&options).expect_err("too much").to_string();
    assert!(
        error.contains("pixel 1 of row 1 of the output would be 19599665578316398593"),
        "{error}"
    );
    quick(&Options { average: true, ..options }).expect("an image");
    assert_eq!(stored(&out), [(1 << 59) + 1, (1 << 57) - 1]);
}

#[test]
fn the_unsigned_convention_holds_its_own_limits() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, out) = (folder.path().join("in.fits"), folder.path().join("out.fits"));
    let mut made = Made::new(16, &[4], 1).card("BZERO", 32768.0);
    made.data = [40_000_u16, 20_000, 40_000, 30_000]
        .iter()
        .flat_map(|number| (number ^ 0x8000).to_be_bytes())
        .collect();
    write(&path, &[made.hdu(true)]);
    let options = Options { clobber: true, ..Options::new(&path, &out, 2) };
    let error = quick(&options).expect_err("70000 is over 65535").to_string();
    assert!(
        error
            .contains("pixel 2 of row 1 of the output would be 70000, which BITPIX 16 cannot hold"),
        "{error}"
    );
    let report = quick(&Options { overflow: true, ..options.clone() }).expect("an image");
    assert_eq!(read_image(&out, 0).1, [60_000.0, 65_535.0]);
    assert_eq!(report.clamped, 1);
    quick(&Options { data_type: DataType::Bitpix(32), ..options.clone() }).expect("an image");
    assert_eq!(read_image(&out, 0).1, [60_000.0, 70_000.0]);
    let signed = Options { data_type: DataType::Bitpix(16), overflow: true, ..options };
    quick(&signed).expect("an image");
    assert_eq!(read_image(&out, 0).1, [32_767.0, 32_767.0], "a type that is named is not scaled");
}

#[test]
fn infinities_stay_and_have_no_whole_number() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, out) = (folder.path().join("in.fits"), folder.path().join("out.fits"));
    let mut made = Made::new(-32, &[4, 1], 1);
    made.data =
        [f32::INFINITY, 1.0, -1e38, 2.0].iter().flat_map(|number| number.to_be_bytes()).collect();
    write(&path, &[made.hdu(true)]);
    let options = Options { clobber: true, y_bin_size: 1, ..Options::new(&path, &out, 2) };
    quick(&options).expect("an image");
    assert_eq!(read_image(&out, 0).1, [f64::INFINITY, f64::from(-1e38_f32)]);
    let whole = Options { data_type: DataType::Bitpix(16), ..options };
    assert!(quick(&whole).is_err());
    quick(&Options { overflow: true, ..whole }).expect("an image");
    assert_eq!(read_image(&out, 0).1, [32_767.0, -32_768.0]);
}

#[test]
fn the_other_hdus_are_copied() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, out) = (folder.path().join("in.fits"), folder.path().join("out.fits"));
    let parts: Vec<Vec<u8>> =
        (0..4).map(|at| Made::new(-64, &[50, 60 + at], at).hdu(at == 0)).collect();
    write(&path, &parts);
    for hdu in 0..4 {
        let options =
            Options { clobber: true, hdu: Selector::Number(hdu), ..Options::new(&path, &out, 7) };
        let report = quick(&options).expect("an image");
        let (source, made) =
            (Source::open(&out).expect("a FITS file"), std::fs::read(&out).expect("readable"));
        assert_eq!(report.output_bytes, made.len() as u64);
        for (at, part) in parts.iter().enumerate() {
            let now = &made[source.hdus[at].header.offset as usize..source.hdus[at].end as usize];
            assert_eq!(at != hdu, now == part, "{at} of {hdu}");
        }
        assert_eq!(source.hdus[hdu].axes, [7, (60 + hdu as u64) / 7]);
    }
}

#[test]
fn boxes_must_fit() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, out) = (folder.path().join("in.fits"), folder.path().join("out.fits"));
    write(&path, &[Made::new(8, &[5, 3], 1).hdu(true)]);
    let error = quick(&Options::new(&path, &out, 4)).expect_err("too high").to_string();
    assert!(
        error.contains("in.fits, HDU 0: boxes of 4 x 4 pixels do not fit an image of 5 x 3"),
        "{error}"
    );
    assert!(!out.exists());
}

use super::super::Selector;
