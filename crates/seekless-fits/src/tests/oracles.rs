//! fitsverify accepts the outputs, and astropy computes the same numbers from the inputs.

use super::super::{DataType, HistogramOptions, RebinOptions, Selector, histogram, rebin};
use super::*;
use serde_json::json;
use std::path::PathBuf;
use std::process::Command;

/// Inputs of every kind: name, pixels.
fn kinds() -> Vec<(&'static str, Made)> {
    let made = |bitpix: i64, seed: u64| Made::new(bitpix, &[61, 47], seed);
    vec![
        ("bytes", made(8, 1)),
        ("signed bytes", made(8, 1).card("BZERO", -128.0)),
        ("words", made(16, 1)),
        ("unsigned words", made(16, 1).card("BZERO", 32768.0)),
        ("words with blanks", made(16, 2)),
        ("scaled words", made(16, 2).card("BSCALE", 0.25).card("BZERO", 10.0)),
        ("longs", made(32, 1)),
        ("unsigned longs", made(32, 1).card("BZERO", 2_147_483_648.0)),
        ("whole numbers of 64 bits", made(64, 1)),
        ("reals with NaNs", made(-32, 1)),
        ("doubles with NaNs", made(-64, 1)),
    ]
}

/// Writes each kind as a primary HDU and as an extension, and runs both tools on it.
fn everything(folder: &Path, mut check: impl FnMut(&str, &Path, serde_json::Value)) {
    let (path, out) = (folder.join("in.fits"), folder.join("out.fits"));
    for (name, made) in kinds() {
        for hdu in [0, 2] {
            let other = Made::new(-32, &[8, 9], 5);
            match hdu {
                0 => write(&path, &[made.hdu(true)]),
                _ => write(
                    &path,
                    &[other.hdu(true), other.hdu(false), made.hdu(false), other.hdu(false)],
                ),
            }
            let defined: Vec<f64> = made.numbers().into_iter().flatten().collect();
            let range = defined.iter().copied().fold(f64::NEG_INFINITY, f64::max)
                - defined.iter().copied().fold(f64::INFINITY, f64::min);
            let size = if made.bitpix == 64 { (1_u64 << 46) as f64 } else { (range / 30.0).ceil() };
            let hdus = Selector::Number(hdu);
            let options = HistogramOptions {
                hdu: hdus.clone(),
                clobber: true,
                ..HistogramOptions::new(&path, &out, 1)
            };
            histogram(&HistogramOptions { bin_size: size, bins: None, ..options }, &mut |_, _| {})
                .expect(name);
            let parameters = json!({"what": "histogram", "input": path, "output": out, "hdu": hdu, "bin_size": size});
            check(name, &out, parameters);
            for data_type in [DataType::Same, DataType::Bitpix(64), DataType::Bitpix(-64)] {
                let options = RebinOptions {
                    hdu: hdus.clone(),
                    y_bin_size: 3,
                    clobber: true,
                    overflow: true,
                    null_value: 2.0,
                    data_type,
                    ..RebinOptions::new(&path, &out, 2)
                };
                let report = rebin(&options, &mut |_, _| {}).expect(name);
                let mut parameters = json!({"what": "rebin", "input": path, "output": out, "hdu": hdu, "x": 2, "y": 3, "null": 2.0});
                // Clamped sums, and sums rounded to whole numbers, are for the models.
                let rounded = data_type == DataType::Bitpix(64)
                    && made.numbers().iter().flatten().any(|n| n.fract() != 0.0);
                if report.clamped > 0 || rounded {
                    parameters = json!(null);
                }
                check(name, &out, parameters);
            }
        }
    }
}

#[test]
fn fitsverify_finds_nothing_wrong() {
    let folder = tempfile::tempdir().expect("a folder");
    if Command::new("fitsverify").output().is_err() {
        eprintln!("skipped: fitsverify is not installed");
        return;
    }
    everything(folder.path(), |name, path, _| {
        let output = Command::new("fitsverify").arg(path).output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("found 0 warning(s) and 0 error(s)"), "{name}: {text}");
    });
}

/// A Python with astropy: that of `./test`, or the system's.
fn python() -> Option<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-python/bin/python");
    let works = |python: &PathBuf| {
        Command::new(python)
            .args(["-c", "import astropy"])
            .output()
            .is_ok_and(|output| output.status.success())
    };
    [own, PathBuf::from("python3")].into_iter().find(works)
}

#[test]
fn astropy_says_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(python) = python() else {
        eprintln!("skipped: there is no Python with astropy");
        return;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tests/oracle.py");
    let mut compared = Vec::new();
    everything(folder.path(), |name, out, parameters| {
        if parameters.is_null() {
            return;
        }
        // One Python for all, which takes a second to start: the files are kept until then.
        let keep = |path: &Path, what: &str| {
            let kept = folder.path().join(format!("{what}-{}.fits", compared.len()));
            std::fs::copy(path, &kept).expect("room");
            kept
        };
        let mut kept = parameters.clone();
        kept["input"] = json!(keep(&folder.path().join("in.fits"), "in"));
        kept["output"] = json!(keep(out, "out"));
        kept["name"] = json!(name);
        compared.push(kept);
    });
    assert!(compared.len() > 60, "{} were compared", compared.len());
    let output = Command::new(python)
        .arg(script)
        .arg(json!(compared).to_string())
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
