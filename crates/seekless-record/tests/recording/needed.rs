//! What is recorded as first needs is what a recording of every call names, in pages and in names.

use crate::support::{Place, has, helper, recorder, skip};
use seekless_trace::{Needs, Trace, looked_up};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const PAGE_BYTES: u64 = 4096;

/// Pages of files, and names with whether they were listed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    pages: BTreeSet<(String, u64, bool)>,
    looks: BTreeSet<(String, bool)>,
}

impl Found {
    fn add(&mut self, name: &str, offset: u64, bytes: u64, mapped: bool) {
        let pages = offset / PAGE_BYTES..(offset + bytes).div_ceil(PAGE_BYTES);
        self.pages.extend(pages.map(|page| (name.to_owned(), page, mapped)));
    }

    /// Without what belongs to the machine: only what lies in this folder, by its names there.
    fn below(self, root: &Path) -> Self {
        let root = format!("{}/", root.display());
        let below = |name: String| name.strip_prefix(&root).map(str::to_owned);
        let pages = self.pages.into_iter();
        let looks = self.looks.into_iter();
        Self {
            pages: pages.filter_map(|(of, page, how)| Some((below(of)?, page, how))).collect(),
            looks: looks.filter_map(|(of, is_listed)| Some((below(of)?, is_listed))).collect(),
        }
    }
}

/// What every call says.
fn exact(place: &Place, words: &[&str]) -> Option<Found> {
    let mut recorder = place.command(recorder());
    recorder.arg(place.output()).args(["--force", "--method", "ebpf"]).args(words);
    let output = recorder.output().unwrap();
    if output.status.code() == Some(125) {
        eprintln!("skipped: {}", String::from_utf8_lossy(&output.stderr));
        return None;
    }
    assert!(output.status.success(), "{words:?}: {output:?}");
    let trace = Trace::open(&place.output()).unwrap();
    let needs = Needs::of(&trace).unwrap();
    let mut found = Found::default();
    for need in &needs.runs[0] {
        let name = &needs.names[need.file as usize];
        found.add(name, need.offset, need.bytes, need.mapped);
    }
    found.looks.extend(looked_up(&trace).unwrap());
    Some(found)
}

/// What first needs say, of a recording that has lost nothing.
fn first(place: &Place, words: &[&str]) -> Option<Found> {
    let output = place.state.join("needed");
    let example: PathBuf = recorder().with_file_name("needed");
    let run = place.command(example).arg(&output).args(words).output().unwrap();
    if run.status.code() == Some(125) {
        eprintln!("skipped: {}", String::from_utf8_lossy(&run.stderr));
        return None;
    }
    assert!(run.status.success(), "{words:?}: {run:?}");
    let text = std::fs::read_to_string(output).unwrap();
    let mut found = Found::default();
    for line in text.lines() {
        let (kind, rest) = line.split_once(' ').unwrap();
        match kind {
            "lost" => assert_eq!(rest, "0", "{words:?}"),
            "looked" | "listed" => _ = found.looks.insert((rest.to_owned(), kind == "listed")),
            "read" | "touched" => {
                let mut parts = rest.splitn(3, ' ');
                let mut number = || parts.next().unwrap().parse::<u64>().unwrap();
                let (offset, bytes) = (number(), number());
                found.add(parts.next().unwrap(), offset, bytes, kind == "touched");
            }
            _ => {}
        }
    }
    Some(found)
}

/// What is found of a program that runs in a fresh folder.
fn in_place(how: fn(&Place, &[&str]) -> Option<Found>, words: &[&str]) -> Option<Found> {
    let place = Place::new();
    Some(how(&place, words)?.below(&place.root))
}

#[test]
fn each_way_to_read_shows_as_in_a_recording_of_every_call() {
    let Some(helper) = helper("dynamic") else { skip!("no C compiler") };
    let helper = helper.to_str().unwrap();
    let modes: [&[&str]; 13] = [
        &["preads", "file", "50", "10000"],
        &["sharing", "file"],
        &["executes", "file"],
        &["passes", "file"],
        &["threads", "file"],
        &["exec-in-thread", "file"],
        &["spawns", "file"],
        &["missing", "file"],
        &["open-ways", "file"],
        &["vectors", "file"],
        &["asks", "file"],
        &["ring-reads", "file"],
        &["polled-ring-reads", "file"],
    ];
    for mode in modes {
        let words = [&[helper], mode].concat();
        let (Some(exact), Some(first)) = (in_place(exact, &words), in_place(first, &words)) else {
            return;
        };
        assert_eq!(first.pages, exact.pages, "{mode:?}");
        assert_eq!(first.looks, exact.looks, "{mode:?}");
    }
}

#[test]
fn programs_in_folders_of_their_own_have_their_files_named() {
    if !has("python3", "--version") {
        skip!("no python3");
    }
    let script = "import os, mmap, subprocess\n\
        os.mkdir('in'); open('in/big', 'wb').write(bytes(1 << 20)); os.symlink('in', 'link')\n\
        os.chdir('link'); fd = os.open('big', os.O_RDONLY)\n\
        os.pread(fd, 100, 300 << 10); os.pread(fd, 5000, 500 << 10); os.pread(fd, 100, 300 << 10)\n\
        m = mmap.mmap(fd, 0, prot=mmap.PROT_READ); m[700 << 10]\n\
        os.sendfile(os.open('/dev/null', os.O_WRONLY), fd, 900 << 10, 3000)\n\
        here = os.open('..', os.O_DIRECTORY); os.listdir(here)\n\
        try: os.open('gone', os.O_RDONLY, dir_fd=here)\n\
        except FileNotFoundError: pass\n\
        subprocess.run(['cat', 'file'], cwd='..', stdout=subprocess.DEVNULL)\n\
        os.fchdir(here); os.stat('in/none/') if os.path.exists('in/none') else 0";
    let words = ["python3", "-c", script];
    let (Some(exact), Some(first)) = (in_place(exact, &words), in_place(first, &words)) else {
        return;
    };
    // Where the window around a touch begins is up to the address of the mapping.
    let read =
        |found: &Found| found.pages.iter().filter(|page| !page.2).cloned().collect::<Vec<_>>();
    assert_eq!(read(&first), read(&exact));
    assert!(first.pages.contains(&("in/big".to_owned(), 225, false)), "{first:?}");
    for found in [&first, &exact] {
        assert!(found.pages.contains(&("in/big".to_owned(), 175, true)), "{found:?}");
        assert!(found.pages.iter().filter(|page| page.2).count() <= 16, "{found:?}");
    }
    let missing: Vec<_> = exact.looks.difference(&first.looks).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn a_program_that_cannot_be_executed_is_an_error() {
    let place = Place::new();
    let example = recorder().with_file_name("needed");
    let run = place.command(example).arg(place.output()).arg("/no/such").output().unwrap();
    let code = run.status.code();
    assert!(code == Some(127) || code == Some(125), "{run:?}");
    assert!(!place.output().exists());
}
