//! `seekless fits`: a histogram and a smaller image of a small FITS file.

use super::{printed, run, workplace};
use std::path::Path;

/// An image of 4 x 2 pixels of 16 bits: 0 to 7.
pub(crate) fn image(path: &Path) {
    std::fs::write(path, pixels()).expect("room");
}

/// The bytes of that image.
pub(crate) fn pixels() -> Vec<u8> {
    let cards = [
        "SIMPLE  =                    T",
        "BITPIX  =                   16",
        "NAXIS   =                    2",
        "NAXIS1  =                    4",
        "NAXIS2  =                    2",
        "END",
    ];
    let mut bytes: Vec<u8> =
        cards.iter().flat_map(|card| format!("{card:<80}").into_bytes()).collect();
    bytes.resize(2880, b' ');
    bytes.extend((0..8_i16).flat_map(i16::to_be_bytes));
    bytes.resize(5760, 0);
    bytes
}

#[test]
fn a_histogram_is_made_and_told() {
    let folder = workplace();
    image(&folder.path().join("in.fits"));
    let text = printed(folder.path(), "fits histogram in.fits out.fits -1,6 2");
    assert_eq!(
        text,
        "out.fits: 4 bins of 2 from -1 to 6, 7 of 8 pixels of HDU 0 (4 x 2)\nnot counted: 1 above\n"
    );
    // The copy, with one more card in its header, and the table's header and rows.
    assert_eq!(std::fs::metadata(folder.path().join("out.fits")).expect("there").len(), 4 * 2880);

    let refused = run(folder.path(), "fits histogram in.fits out.fits INDEF,INDEF 0 --nbins 4");
    assert_eq!(refused.status.code(), Some(2));
    let message = String::from_utf8_lossy(&refused.stderr);
    assert!(message.starts_with("seekless: out.fits: exists already"), "{message}");

    let words = "fits histogram in.fits[0] out.fits INDEF 0 --nbins 4 --clobber --json";
    let json: serde_json::Value =
        serde_json::from_str(&printed(folder.path(), words)).expect("JSON");
    assert_eq!((&json["counted"], &json["bin_size"]), (&8.into(), &1.75.into()));
    assert_eq!(json["reading"]["passes"], 1);
}

#[test]
fn an_image_is_rebinned_and_told() {
    let folder = workplace();
    image(&folder.path().join("in.fits"));
    for linear in ["", " --linear", " --order plain", " --order cost"] {
        let text =
            printed(folder.path(), &format!("fits rebin in.fits out.fits 2 --clobber{linear}"));
        assert_eq!(text, "out.fits: 2 x 1 pixels (BITPIX 16), from 4 x 2 (BITPIX 16) of HDU 0\n");
        let made = std::fs::read(folder.path().join("out.fits")).expect("readable");
        assert_eq!(made[2880..2884], [0, 10, 0, 18]);
    }
    let words = "fits rebin in.fits real.fits 4 1 --datatype -32 --average --stats";
    let output = run(folder.path(), words);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("1 pass, 2.9 KB read"));
    let made = std::fs::read(folder.path().join("real.fits")).expect("readable");
    assert_eq!(made[2880..2888], [1.5_f32.to_be_bytes(), 5.5_f32.to_be_bytes()].concat());
}

#[test]
fn what_is_wrong_is_named() {
    let folder = workplace();
    image(&folder.path().join("in.fits"));
    for (words, what) in [
        ("fits rebin in.fits out.fits 9", "in.fits, HDU 0: boxes of 9 x 9 pixels do not fit"),
        ("fits rebin in.fits[3] out.fits 1", "in.fits has no HDU 3, only 0 to 0; images are HDU 0"),
        ("fits rebin none.fits out.fits 1", "cannot open none.fits"),
        ("fits rebin in.fits+0 out.fits 1 --hdu 0", "say it once"),
        ("fits histogram in.fits out.fits --nbins 0", "at least one bin"),
        ("fits histogram in.fits out.fits 3 1", "a range has two ends"),
        ("fits rebin in.fits out.fits 1 --datatype z", "give one of - b i j k e d"),
    ] {
        let output = run(folder.path(), words);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && message.contains(what), "{words}: {message}");
    }
}

#[test]
fn a_list_of_files_is_worked_on_and_a_bad_one_stops_no_other() {
    let folder = workplace();
    let root = folder.path();
    ["a.fits", "b.fits"].iter().for_each(|name| image(&root.join(name)));
    std::fs::write(root.join("c.fits"), "no image").expect("room");
    std::fs::write(root.join("night.lis"), "c.fits\na.fits\n\nb.fits[0]\n").expect("room");
    let refused = run(root, "fits rebin @night.lis out 2");
    let message = String::from_utf8_lossy(&refused.stderr);
    assert!(message.contains("out: for a list of files, OUTFILE must be a folder"), "{message}");
    std::fs::create_dir(root.join("out")).expect("made");
    let output = run(root, "fits rebin @night.lis out 2");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("c.fits is no FITS file"), "{said}");
    let alone = printed(root, "fits rebin a.fits alone.fits 2");
    assert!(alone.starts_with("alone.fits: 2 x 1 pixels"), "{alone}");
    let alone = std::fs::read(root.join("alone.fits")).expect("made");
    for name in ["a.fits", "b.fits"] {
        assert_eq!(std::fs::read(root.join("out").join(name)).expect("made"), alone);
    }
    let output = run(root, "fits histogram @night.lis out --clobber --json");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&json[1]["file"], &json[1]["counted"]), (&"a.fits".into(), &8.into()));
    assert!(json[0]["error"].as_str().is_some_and(|error| error.contains("no FITS file")));
    std::fs::write(root.join("twice.lis"), "a.fits\nout/a.fits\n").expect("room");
    let refused = run(root, "fits rebin @twice.lis out 2");
    let message = String::from_utf8_lossy(&refused.stderr);
    assert!(message.contains("would both be written to out/a.fits"), "{message}");
}
