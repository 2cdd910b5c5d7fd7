//! Damaged files and files without images give an error that says where; never a panic, never an
//! output.

use super::super::{HistogramOptions, Selector, histogram};
use super::*;
use proptest::prelude::*;

/// What is said of a file with these bytes.
fn said(bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, out) = (folder.path().join("in.fits"), folder.path().join("out.fits"));
    std::fs::write(&path, bytes).expect("room");
    let error =
        histogram(&HistogramOptions::new(&path, &out, 4), &mut |_, _| {}).expect_err("damaged");
    assert!(!out.exists(), "nothing is left");
    let text = error.to_string();
    assert!(text.contains("in.fits"), "{text}");
    text
}

fn sound() -> Vec<u8> {
    Made::new(16, &[40, 50], 1).hdu(true)
}

/// The file with one card of its header replaced.
fn with(card: usize, text: &str) -> Vec<u8> {
    let mut bytes = sound();
    bytes[card * 80..(card + 1) * 80].copy_from_slice(format!("{text:<80}").as_bytes());
    bytes
}

#[test]
fn a_message_says_what_is_wrong_and_where() {
    for (bytes, what) in [
        (Vec::new(), "is empty"),
        (b"\x1f\x8b\x08 and so on".to_vec(), "gunzip"),
        (b"PNG".to_vec(), "does not start with SIMPLE"),
        (sound()[..1000].to_vec(), "ends within the header that starts at byte 0, before its END"),
        (
            sound()[..6000].to_vec(),
            "its data are bytes 2880 to 6880, but the file has only 6000: it is cut short",
        ),
        (with(0, "SIMPLE  =                    F"), "only SIMPLE = T"),
        (
            with(1, "BITPIX  =                   12"),
            "card 2 at byte 80 (BITPIX  =                   12)",
        ),
        (with(1, "BITPIX  =                  abc"), "should be a whole number"),
        (with(1, "COMMENT"), "has no BITPIX"),
        (with(2, "NAXIS   =                 1000"), "NAXIS must be 0 to 999"),
        (with(3, "NAXIS1  =                   -4"), "card 4 at byte 240"),
        (with(3, "NAXIS1  =  9223372036854775807"), "more bytes than any file can have"),
        (with(4, "NAXIS2  = 'fifty   '"), "card 5 at byte 320"),
        (with(4, "NAXISX  = 50"), "has no NAXIS2"),
        (with(5, "BSCALE  =                  0.0"), "no END"),
        ([sound(), b"XTENSION= 'IMAGE   '".to_vec()].concat(), "starts at byte 8640"),
    ] {
        let text = said(&bytes);
        // A header without END runs into the data, which are no cards.
        let runs_on =
            what == "no END" && (text.contains("END") || text.contains("header is damaged"));
        assert!(text.contains(what) || runs_on, "{what}: {text}");
    }
}

#[test]
fn what_is_no_image_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, out) = (folder.path().join("in.fits"), folder.path().join("out.fits"));
    let mut empty = Made::new(8, &[1], 1);
    (empty.axes, empty.data) = (Vec::new(), Vec::new());
    let mut table = Made::new(8, &[10, 10], 1);
    table.blank = None;
    let mut table = table.hdu(false);
    table[..80].copy_from_slice(format!("{:<80}", "XTENSION= 'BINTABLE'").as_bytes());
    write(&path, &[empty.hdu(true), table, Made::new(8, &[10, 10], 1).hdu(false)]);
    let go = |hdu: Selector| {
        let options = HistogramOptions { hdu, ..HistogramOptions::new(&path, &out, 4) };
        histogram(&options, &mut |_, _| {})
    };
    for (hdu, what) in [
        (Selector::Number(0), "HDU 0: holds no pixels"),
        (Selector::Number(1), "HDU 1: is not an image"),
        (Selector::Number(3), "has no HDU 3, only 0 to 2; images are HDU 2"),
        (Selector::parse("SCI"), "has no HDU named SCI; images are HDU 2"),
    ] {
        let error = go(hdu).expect_err(what).to_string();
        assert!(error.contains(what), "{error}");
    }
    assert_eq!(go(Selector::FirstImage).expect("the first image").hdu, 2);
}

#[test]
fn what_tapes_leave_behind_is_left_out_and_a_block_may_lack_its_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, out) = (folder.path().join("in.fits"), folder.path().join("out.fits"));
    let options = HistogramOptions { clobber: true, ..HistogramOptions::new(&path, &out, 4) };
    let mut made = Vec::new();
    for (bytes, left_over) in [
        (sound(), 0),
        ([sound(), vec![0; 28_800]].concat(), 28_800),
        (sound()[..6880].to_vec(), 0),
        ([sound(), b"what another tool appended".to_vec()].concat(), 26),
    ] {
        std::fs::write(&path, bytes).expect("room");
        let report = histogram(&options, &mut |_, _| {}).expect("a histogram");
        assert_eq!(report.left_over_bytes, left_over);
        made.push(std::fs::read(&out).expect("readable"));
    }
    assert!(made.iter().all(|one| *one == made[0]));
}

#[test]
fn a_file_that_changes_meanwhile_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, out) = (folder.path().join("in.fits"), folder.path().join("out.fits"));
    std::fs::write(&path, sound()).expect("room");
    let mut calls = 0;
    let mut meddle = |_, _| {
        calls += 1;
        if calls == 1 {
            std::fs::write(&path, Made::new(16, &[40, 50], 3).hdu(true)).expect("room");
        }
    };
    let error =
        histogram(&HistogramOptions::new(&path, &out, 4), &mut meddle).expect_err("it changed");
    assert_eq!(error.kind(), crate::ErrorKind::Differs, "{error}");
    assert!(!out.exists());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_damage_makes_it_panic(places in prop::collection::vec((0_usize..8640, any::<u8>()), 1..6), length in 0_usize..8640) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("in.fits");
        let mut bytes = [Made::new(8, &[40, 50], 1).hdu(true), Made::new(8, &[2], 1).hdu(false)].concat();
        for (place, byte) in places {
            // Headers above all.
            bytes[if place % 2 == 0 { place % 560 } else { place }] = byte;
        }
        bytes.truncate(if length % 3 == 0 { length } else { bytes.len() });
        std::fs::write(&path, &bytes).expect("room");
        if let Ok(source) = Source::open(&path) {
            let images = source.hdus.iter().filter_map(|hdu| Image::of(hdu).ok());
            for image in images {
                prop_assert!(image.data.end <= bytes.len() as u64);
            }
        }
    }
}
