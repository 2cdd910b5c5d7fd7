//! `seekless wc`, `grep` and `fits` on files that rules of the configuration are about: in an
//! archive, or on several levels. What they open is seen by strace.

mod fits;

use super::{seekless, workplace};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

const LINES: usize = 100_000;

/// A folder with files, `a` and `b`, say, some of which count as archived.
struct Archive {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl Archive {
    /// `None`, said so, without strace or extended attributes.
    fn new(archived: &str) -> Option<Self> {
        let text: String = (0..LINES).map(|line| format!("{line}\n")).collect();
        Archive::of(&["a", "b"].map(|name| (name, text.as_bytes())), &[archived], "")
    }

    /// These files, and those of them that are archived. `rule` is added to the rule of recalls.
    fn of(files: &[(&str, &[u8])], archived: &[&str], rule: &str) -> Option<Self> {
        let folder = workplace();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("config/seekless")).unwrap();
        fs::create_dir(root.join("hsm")).unwrap();
        files.iter().for_each(|(name, text)| fs::write(root.join("hsm").join(name), text).unwrap());
        let rules = format!(
            "[device.archive]\nzones = [{{ latency = \"40s\", bandwidth = \"300MB/s\" }}]\n\
             [[mount]]\npath = {:?}\nrow = \"archive\"\n\
             [mount.recall]\nxattr = \"user.hsm.state\"\noffline = \"released\"\n{rule}",
            root.join("hsm")
        );
        fs::write(root.join("config/seekless/sleds.toml"), rules).unwrap();
        let archive = Archive { _folder: folder, root };
        let marked = archived.iter().all(|name| archive.mark(name, "user.hsm.state", "released"));
        let traces = Command::new("strace").arg("--version").output().is_ok();
        if !marked || !traces {
            eprintln!("skipped: no extended attributes, or no strace");
            return None;
        }
        Some(archive)
    }

    /// Sets an extended attribute of a file; false where there are none.
    fn mark(&self, name: &str, attribute: &str, value: &str) -> bool {
        let flags = rustix::fs::XattrFlags::empty();
        let path = self.root.join("hsm").join(name);
        rustix::fs::setxattr(path, attribute, value.as_bytes(), flags).is_ok()
    }

    /// Runs the command; returns what it printed, and the files of the archive that it opened.
    fn run(&self, words: &[&str]) -> (Output, Vec<String>) {
        let seen = self.root.join("seen");
        let output = Command::new("strace")
            .args(["-f", "-e", "trace=open,openat", "-o"])
            .arg(&seen)
            .arg(env!("CARGO_BIN_EXE_seekless"))
            .args(words)
            .current_dir(&self.root)
            .env("XDG_CONFIG_HOME", self.root.join("config"))
            .output()
            .unwrap();
        let seen = fs::read_to_string(seen).unwrap();
        let name = |line: &str| {
            let (_, name) = line.split_once("hsm/")?;
            name.split_once('"').map(|(name, _)| name.to_owned()).filter(|name| !name.is_empty())
        };
        let mut opened: Vec<String> = seen.lines().filter_map(name).collect();
        opened.dedup();
        (output, opened)
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

#[test]
fn an_archived_file_is_opened_last() {
    for (archived, here) in [("a", "b"), ("b", "a")] {
        let Some(archive) = Archive::new(archived) else { return };
        for words in [&["grep", "-rc", "99999", "hsm"][..], &["wc", "-l", "hsm/a", "hsm/b"]] {
            let (output, opened) = archive.run(words);
            assert_eq!(opened, [here, archived], "{words:?}");
            assert!(output.status.success(), "{}", said(&output));
        }
        let (output, opened) = archive.run(&["grep", "-q", "99999", "hsm/a", "hsm/b"]);
        assert_eq!((output.status.code(), opened), (Some(0), vec![here.to_owned()]));
        let (_, opened) = archive.run(&["wc", "-c", "hsm/a", "hsm/b"]);
        assert_eq!(opened, [here], "its size is known without a recall");
    }
}

#[test]
fn what_is_beyond_a_bound_is_not_opened_and_is_named() {
    let Some(archive) = Archive::new("a") else { return };
    let bytes = fs::metadata(archive.root.join("hsm/a")).unwrap().len();
    for (bound, why) in [
        (&["--cached-only"][..], "not cached"),
        (&["--max-latency", "1s"], "more than 1.00 s away"),
        (&["--max-wait", "5s"], "more than 5.00 s of waiting"),
    ] {
        let (output, opened) = archive.run(&[&["wc", "-l", "hsm/a", "hsm/b"], bound].concat());
        let wanted = format!("wc: hsm/a: {bytes} bytes skipped: {why}\n");
        assert_eq!((output.status.code(), &opened[..]), (Some(1), &["b".to_owned()][..]));
        assert!(said(&output).contains(&wanted), "{}", said(&output));
        let words = ["grep", "-c", "99999", "hsm/a", "hsm/b"];
        let (output, opened) = archive.run(&[&words, bound].concat());
        let wanted = format!("grep: hsm/a: {bytes} bytes are {why} and were skipped\n");
        assert_eq!((output.status.code(), &opened[..]), (Some(2), &["b".to_owned()][..]));
        assert!(said(&output).contains(&wanted), "{}", said(&output));
    }
    let (output, opened) = archive.run(&["wc", "-l", "--max-latency=1min", "hsm/a"]);
    assert_eq!((output.status.success(), opened.len()), (true, 1), "{}", said(&output));
}

/// A file of which the second half lies in the local cache of its mount.
#[test]
fn the_cheap_half_of_a_mounts_file_is_searched_first() {
    let _kept = crate::caches::kept();
    let folder = workplace();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("config/seekless")).unwrap();
    let half = 4 << 20;
    let mut text = vec![b'-'; 2 * half];
    text.iter_mut().skip(99).step_by(100).for_each(|byte| *byte = b'\n');
    // In the first line of each half that lies in it whole.
    text[10..13].copy_from_slice(b"dea");
    text[half + 110..half + 113].copy_from_slice(b"dea");
    fs::write(root.join("data"), &text).unwrap();
    let file = fs::File::open(root.join("data")).unwrap();
    file.sync_all().unwrap();
    seekless::sys::residency::drop_cached(std::os::fd::AsFd::as_fd(&file)).unwrap();
    fs::write(root.join("config/seekless/sleds.toml"), "mock_files = true\n").unwrap();
    let range = |offset: usize, latency: &str, bandwidth: &str| {
        format!(
            "[[range]]\noffset = \"{offset}\"\nbytes = \"{half}\"\nlevel = \"network\"\n\
             latency = \"{latency}\"\nbandwidth = \"{bandwidth}\"\n"
        )
    };
    let levels = [range(0, "270ms", "1MB/s"), range(half, "2ms", "200MB/s")].concat();
    fs::write(root.join("data.sleds.toml"), levels).unwrap();
    let read = |words: &[&str]| {
        let output = seekless(&root)
            .args(words)
            .env("XDG_CONFIG_HOME", root.join("config"))
            .output()
            .unwrap();
        (output.status.code(), said(&output))
    };
    let (code, printed) = read(&["wc", "-l", "--max-latency", "100ms", "data"]);
    assert_eq!(code, Some(1));
    assert!(
        printed.contains(&format!("{half} bytes skipped: more than 100.0 ms away")),
        "{printed}"
    );
    let (code, printed) = read(&["grep", "-q", "dea", "--stats", "data"]);
    assert_eq!(code, Some(0));
    let read_bytes: usize = printed
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .next()
        .unwrap_or_else(|| panic!("{printed}"));
    assert!(read_bytes <= half, "{printed}");
    let lines = text.iter().filter(|&&byte| byte == b'\n').count();
    assert_eq!(read(&["wc", "-l", "data"]), (Some(0), format!("{lines} data\n")));
}

/// Four images on two tapes. In the order of their names, or of cost, the head would go back.
#[test]
fn files_on_tapes_are_recalled_in_one_pass_a_tape() {
    let image = crate::fits::pixels();
    let places = [("a", "T2", "700"), ("b", "T1", "12"), ("c", "T2", "31"), ("d", "T1", "5")];
    let files = places.map(|(name, ..)| (name, &image[..]));
    let rule = "position = \"user.position\"\nvolume = \"user.volume\"\n";
    let Some(archive) = Archive::of(&files, &["a", "b", "c", "d"], rule) else { return };
    for (name, volume, position) in places {
        assert!(archive.mark(name, "user.volume", volume));
        assert!(archive.mark(name, "user.position", position));
    }
    fs::write(archive.root.join("all.lis"), "hsm/a\nhsm/b\nhsm/c\nhsm/d\n").unwrap();
    fs::create_dir(archive.root.join("out")).unwrap();
    let words = [
        &["wc", "-l", "hsm/a", "hsm/b", "hsm/c", "hsm/d"][..],
        &["grep", "-rc", "SIMPLE", "hsm"],
        &["grep", "-rq", "nowhere", "hsm"],
        &["fits", "rebin", "@all.lis", "out", "2"],
    ];
    for words in words {
        let (output, opened) = archive.run(words);
        let mut first: Vec<&str> = Vec::new();
        for name in &opened {
            if !first.contains(&name.as_str()) {
                first.push(name);
            }
        }
        assert_eq!(first, ["d", "b", "c", "a"], "{words:?}: {}", said(&output));
    }
    assert!(archive.mark("c", "user.position", "block 31"));
    let path = archive.root.join("hsm/c").display().to_string();
    // A small file alone is opened at once: its position decides nothing.
    for words in [&["wc", "-l", "hsm/c", "hsm/d"][..], &["grep", "x", "hsm/c"], &["sleds", "hsm/c"]]
    {
        let (output, opened) = archive.run(words);
        let said = said(&output);
        assert!(!output.status.success() && !opened.contains(&"c".to_owned()), "{words:?}: {said}");
        for word in [&path[..], "user.position", "block 31"] {
            assert!(said.contains(word), "{words:?}: {said}");
        }
    }
    let (output, opened) = archive.run(&["wc", "-c", "hsm/c"]);
    assert_eq!((output.status.success(), opened), (true, Vec::new()), "{}", said(&output));
}
