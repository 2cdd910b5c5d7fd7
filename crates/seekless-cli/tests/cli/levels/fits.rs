//! `seekless fits` on files in an archive, and on one with ranges in an archive.

use super::{Archive, said};
use crate::fits::pixels;
use crate::{seekless, workplace};
use std::fs;

/// Four images, `b` and `c` in the archive, and a list of all.
fn archive() -> Option<Archive> {
    let image = pixels();
    let archive =
        Archive::of(&["a", "b", "c", "d"].map(|name| (name, &image[..])), &["b", "c"], "")?;
    fs::write(archive.root.join("all.lis"), "hsm/c\nhsm/b\nhsm/a\nhsm/d\n").unwrap();
    fs::create_dir(archive.root.join("out")).unwrap();
    Some(archive)
}

#[test]
fn archived_images_are_opened_last() {
    let Some(archive) = archive() else { return };
    for tool in [&["fits", "rebin", "@all.lis", "out", "2"][..], &["fits", "histogram"]] {
        let words = [tool, &["@all.lis", "out"][..if tool.len() == 2 { 2 } else { 0 }]].concat();
        let words = [&words[..], &["--clobber"]].concat();
        let (output, opened) = archive.run(&words);
        assert!(output.status.success(), "{}", said(&output));
        let place = |name: &str| opened.iter().position(|opened| opened == name).unwrap();
        let last_of = |name: &str| opened.iter().rposition(|opened| opened == name).unwrap();
        let here = last_of("a").max(last_of("d"));
        assert!(here < place("b").min(place("c")), "{words:?}: {opened:?}");
        assert_eq!(fs::read_dir(archive.root.join("out")).unwrap().count(), 4);

        let (output, opened) = archive.run(&[&words[..], &["--recall"]].concat());
        assert!(output.status.success(), "{}", said(&output));
        assert!(["b", "c"].iter().all(|name| opened.iter().any(|opened| opened == name)));

        let (output, opened) = archive.run(&[&words[..], &["--linear"]].concat());
        assert!(output.status.success() && opened[0] == "c", "{}", said(&output));
    }
}

#[test]
fn images_beyond_a_bound_are_not_opened_and_are_named_and_counted() {
    let Some(archive) = archive() else { return };
    let bytes = pixels().len();
    for (bound, why) in [
        (&["--cached-only"][..], "not cached"),
        (&["--max-latency", "10s"], "more than 10.00 s away"),
        (&["--max-wait", "10s"], "more than 10.00 s of waiting"),
    ] {
        let words = ["fits", "rebin", "@all.lis", "out", "2", "--clobber", "--json"];
        let (output, opened) = archive.run(&[&words, bound].concat());
        assert!(!opened.iter().any(|name| name == "b" || name == "c"), "{bound:?}: {opened:?}");
        let printed = said(&output);
        for name in ["b", "c"] {
            let wanted = format!("seekless: hsm/{name}: {bytes} bytes skipped: {why}\n");
            assert!(printed.contains(&wanted), "{printed}");
        }
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((output.status.code(), &json[0]["skipped_bytes"]), (Some(1), &bytes.into()));
        // What was just written is cached where the system says so.
        if bound != ["--cached-only"] {
            assert!(printed.contains("2 of 4 files left out, 11.5 KB\n"), "{printed}");
        }

        let words = ["fits", "histogram", "hsm/b", "alone.fits"];
        let (output, opened) = archive.run(&[&words, bound].concat());
        assert_eq!((output.status.code(), opened), (Some(1), Vec::new()));
        assert!(!archive.root.join("alone.fits").exists());
    }
    let (output, _) = archive.run(&["fits", "rebin", "hsm/b", "one.fits", "2", "--max-wait=1min"]);
    assert!(output.status.success(), "{}", said(&output));
}

/// The pixels of an image whose first half lies in an archive: the second half is read before it.
#[test]
fn the_ranges_of_an_image_in_an_archive_come_last() {
    let folder = workplace();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("config/seekless")).unwrap();
    let (half, header) = (4 << 20, 2880);
    let mut image = pixels();
    image.truncate(header);
    let text = String::from_utf8(image).unwrap();
    let text = text.replacen("NAXIS1  =                    4", "NAXIS1  =                 4096", 1);
    let text = text.replacen("NAXIS2  =                    2", "NAXIS2  =                 1024", 1);
    let mut image = text.into_bytes();
    image.resize(header + 2 * half, 1);
    image.resize(image.len().next_multiple_of(2880), 0);
    fs::write(root.join("image"), &image).unwrap();
    let file = fs::File::open(root.join("image")).unwrap();
    file.sync_all().unwrap();
    seekless::sys::residency::drop_cached(std::os::fd::AsFd::as_fd(&file)).unwrap();
    fs::write(root.join("config/seekless/sleds.toml"), "mock_files = true\n").unwrap();
    let levels = format!(
        "[[range]]\nbytes = \"{half}\"\nlevel = \"archive\"\nlatency = \"40s\"\nbandwidth = \"5MB/s\"\n\
         [[range]]\nlevel = \"device\"\nlatency = \"5ms\"\nbandwidth = \"150MB/s\"\n"
    );
    fs::write(root.join("image.sleds.toml"), levels).unwrap();
    let seen = root.join("seen");
    let traced = std::process::Command::new("strace")
        .args(["-f", "-e", "trace=pread64,preadv,preadv2", "-o"])
        .arg(&seen)
        .arg(env!("CARGO_BIN_EXE_seekless"))
        .args(["fits", "rebin", "image", "small", "2", "--datatype", "j"])
        .current_dir(&root)
        .env("XDG_CONFIG_HOME", root.join("config"))
        .output();
    let Ok(output) = traced else { return eprintln!("skipped: no strace") };
    assert!(output.status.success(), "{}", said(&output));
    // The reads of the image's data; those of headers are short.
    let offsets: Vec<usize> = fs::read_to_string(&seen)
        .unwrap()
        .lines()
        .filter_map(|line| {
            let (_, end) = line.rsplit_once(" = ")?;
            let read: usize =
                end.split(' ').next()?.parse().ok().filter(|read| *read > 64 << 10)?;
            let offset = line.split([',', ')']).map(str::trim).find_map(|word| {
                word.parse().ok().filter(|offset: &usize| *offset != read && *offset > 0)
            });
            Some(offset.unwrap_or(0))
        })
        .collect();
    let first = offsets.iter().position(|&offset| offset + (1 << 20) < half);
    let last = offsets.iter().rposition(|&offset| offset >= half);
    assert!(first.is_some() && last < first, "{offsets:?}");

    let words = ["fits", "rebin", "image", "none", "2", "--max-latency", "1s"];
    let output = seekless(&root).args(words).env("XDG_CONFIG_HOME", root.join("config")).output();
    let output = output.unwrap();
    let wanted = format!("image: {} bytes skipped: more than 1.00 s away", image.len());
    assert!(
        output.status.code() == Some(1) && said(&output).contains(&wanted),
        "{}",
        said(&output)
    );
}
