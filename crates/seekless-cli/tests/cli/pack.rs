//! `seekless synth` and `seekless pack`: what they print, and what they leave behind when they are
//! stopped.

use crate::{printed, run, workplace};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

const TRACE: &str =
    "time_s,path,size\n0.1,art/wall.dds,70000\n0.2,map.xml,900\n0.3,art/floor.dds,5000\n";

fn refusal(folder: &Path, words: &str) -> String {
    let output = run(folder, words);
    assert_eq!(output.status.code(), Some(2), "seekless {words}");
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn from_a_trace_to_a_checked_pack() {
    let folder = workplace();
    fs::write(folder.path().join("run.csv"), TRACE).expect("room");
    assert_eq!(printed(folder.path(), "synth run.csv data"), "data: 3 files, 75.9 KB\n");
    fs::write(folder.path().join("data/aside.txt"), "not traced").expect("room");
    let said = printed(folder.path(), "pack data -o data.zip --trace run.csv --verify");
    assert!(said.starts_with("data.zip: 4 files, 75.9 KB in 4"), "{said}");
    let (whole, placed) = ("read back and whole\n", "3 of them are placed by the order\n");
    assert!(said.contains(&format!("(3 deflated, 1 stored), {whole}{placed}")), "{said}");
    assert!(said.ends_with(" of it list the runs' loads, for stores that read ahead\n"), "{said}");
    // A check of the archive reads the prediction like any other entry.
    let said = printed(folder.path(), "pack --check data.zip");
    assert!(said.starts_with("data.zip: 5 entries with 76") && said.ends_with(", all whole\n"));

    let why = refusal(folder.path(), "pack data -o data.zip");
    assert!(why.contains("data.zip: exists already; give --force"), "{why}");
    fs::write(folder.path().join("order.txt"), "map.xml\ngone\n").expect("room");
    let said = printed(
        folder.path(),
        "pack data -o data.zip --order order.txt --codec stored --force --json",
    );
    let figures: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(
        (figures["stored"].as_u64(), figures["order"]["missing"].as_u64()),
        (Some(4), Some(1))
    );
    // The list that `order --files` takes.
    fs::write(folder.path().join("order.csv"), "path,size\nmap.xml,9\n\"gone\",7\nmap.xml,9\n")
        .expect("room");
    let said = printed(folder.path(), "pack data -o listed.zip --order order.csv --json");
    let figures: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(
        (figures["order"]["given"].as_u64(), figures["order"]["missing"].as_u64()),
        (Some(2), Some(1))
    );
    let said = printed(folder.path(), "pack --check data.zip --json");
    let figures: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!((figures["entries"].as_u64(), figures["bytes"].as_u64()), (Some(4), Some(75_910)));
}

#[test]
fn a_pack_is_brought_up_to_date_and_an_older_one_noticed() {
    let folder = workplace();
    fs::write(folder.path().join("run.csv"), TRACE).expect("room");
    printed(folder.path(), "synth run.csv data");
    printed(folder.path(), "pack data -o data.zip --trace run.csv --no-prediction");
    assert_eq!(
        printed(folder.path(), "pack data --check data.zip"),
        "data.zip: 3 entries with 75.9 KB, all whole\ndata is as it was packed\n"
    );
    fs::write(folder.path().join("data/map.xml"), "longer").expect("room");
    fs::write(folder.path().join("data/art/roof.dds"), "new").expect("room");
    fs::remove_file(folder.path().join("data/art/floor.dds")).expect("ours");
    let output = run(folder.path(), "pack data --check data.zip");
    assert_eq!(output.status.code(), Some(1), "they differ");
    let said = String::from_utf8(output.stdout).expect("text");
    for line in ["  changed: map.xml\n", "  new: art/roof.dds\n", "  removed: art/floor.dds\n"] {
        assert!(said.contains(line), "{line:?} is missing in {said}");
    }
    let said = printed(folder.path(), "pack data -o data.zip --update --verify");
    assert!(said.contains("read back and whole\n"), "{said}");
    assert!(
        said.ends_with("kept 1 (70.0 KB), rewritten 1 (6 B), added 1 (3 B), removed 1 (5.0 KB)\n"),
        "{said}"
    );
    let said = printed(folder.path(), "pack data -o data.zip --update --json");
    let figures: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!((figures["kept"]["files"].as_u64(), figures["pack"].is_null()), (Some(3), true));
    let why = refusal(folder.path(), "pack data -o absent.zip --update");
    assert!(why.contains("absent.zip"), "{why}");
    refusal(folder.path(), "pack data -o data.zip --update --trace run.csv");
    refusal(folder.path(), "pack data -o data.zip --checksum");
}

#[test]
fn entries_are_coded_with_zstd_on_request() {
    let folder = workplace();
    fs::write(folder.path().join("run.csv"), TRACE).expect("room");
    printed(folder.path(), "synth run.csv data");
    let said = printed(folder.path(), "pack data -o data.zip --codec zstd:12 --verify");
    assert!(said.contains("3 zstd, 0 deflated, 0 stored), read back and whole"), "{said}");
    let said = printed(folder.path(), "pack data -o data.zip --compression zstd --force --json");
    let figures: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!((figures["zstd"].as_u64(), figures["deflated"].as_u64()), (Some(3), Some(0)));
    for codec in ["zstd:20", "zstd:x", "lzma", "deflate:3"] {
        refusal(folder.path(), &format!("pack data -o data.zip --force --codec {codec}"));
    }
}

#[test]
fn a_broken_pack_is_said_to_be_so() {
    let folder = workplace();
    fs::write(folder.path().join("run.csv"), TRACE).expect("room");
    printed(folder.path(), "synth run.csv data");
    printed(folder.path(), "pack data -o data.zip --codec stored");
    let path = folder.path().join("data.zip");
    let mut bytes = fs::read(&path).expect("it is there");
    bytes[3000] ^= 1;
    fs::write(&path, bytes).expect("room");
    let why = refusal(folder.path(), "pack --check data.zip");
    assert!(
        why.contains("data.zip is not whole")
            && why.contains("art/floor.dds")
            && why.contains("CRC"),
        "{why}"
    );
}

#[test]
fn what_makes_no_sense_is_a_usage_error() {
    let folder = workplace();
    for words in [
        "pack",
        "pack data",
        "pack -o data.zip",
        "pack --check a.zip data",
        "pack data -o a.zip --method greedy",
        "synth a.csv",
    ] {
        refusal(folder.path(), words);
    }
}

/// A running `pack` of a file of 64 GB that is one hole.
fn endless_pack(folder: &Path) -> Child {
    let data = folder.join("data");
    fs::create_dir(&data).expect("a new folder");
    let large = fs::File::create_new(data.join("large")).expect("a new file");
    large.set_len(64_000_000_000).expect("a sparse file");
    // The shell makes it ignore SIGHUP, as `nohup` does.
    let mut command = Command::new("sh");
    command.current_dir(folder).args([
        "-c",
        "trap '' HUP; exec \"$0\" \"$@\"",
        env!("CARGO_BIN_EXE_seekless"),
    ]);
    command.args(["pack", "data", "-o", "data.zip", "--codec", "deflate"]);
    let child =
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the command starts");
    while !has_open(child.id(), &data.join("large")) {
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

fn has_open(pid: u32, path: &Path) -> bool {
    let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    open.flatten().any(|entry| fs::read_link(entry.path()).is_ok_and(|target| target == path))
}

fn stop(child: Child, signal: Signal) -> Output {
    kill_process(Pid::from_child(&child), signal).expect("it runs");
    child.wait_with_output().expect("it ends")
}

fn left_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("readable").flatten();
    entries.map(|entry| entry.file_name().into_string().expect("our own")).collect()
}

#[test]
fn an_interrupted_pack_leaves_nothing() {
    let folder = workplace();
    // Not SIGINT, since background jobs of a shell ignore it.
    let output = stop(endless_pack(folder.path()), Signal::TERM);
    assert_eq!(output.status.code(), Some(128 + 15));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("interrupted; nothing was left behind"), "{said}");
    assert_eq!(left_in(folder.path()), ["data"]);
}

#[test]
fn an_ignored_signal_stays_ignored() {
    let folder = workplace();
    let mut child = endless_pack(folder.path());
    kill_process(Pid::from_child(&child), Signal::HUP).expect("it runs");
    std::thread::sleep(Duration::from_millis(200));
    let ended = child.try_wait().expect("our child");
    stop(child, Signal::KILL);
    assert_eq!(ended, None, "it goes on");
}

#[test]
fn a_killed_pack_leaves_no_half_archive() {
    let folder = workplace();
    let output = stop(endless_pack(folder.path()), Signal::KILL);
    assert_eq!(output.status.code(), None);
    assert!(!folder.path().join("data.zip").exists());
}

#[test]
fn a_run_without_loads_and_odd_things_are_said() {
    let directory = workplace();
    fs::create_dir(directory.path().join("data")).unwrap();
    fs::write(directory.path().join("data/a"), "0").unwrap();
    fs::write(directory.path().join("data/b.tmp"), "0").unwrap();
    std::os::unix::fs::symlink("nowhere", directory.path().join("data/dangling")).unwrap();
    fs::write(directory.path().join("empty.csv"), "time_s,path,size\n").unwrap();
    let output = run(directory.path(), "pack data -o data.zip --trace empty.csv --exclude *.tmp");
    let (text, said) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    assert!(text.contains(": 1 file, ") && text.contains("1 excluded"), "{text}");
    assert!(said.contains("the runs load no file, so the files lie by name"), "{said}");
    assert!(
        said.contains("left out 1 thing that a pack cannot hold") && said.contains("data/dangling"),
        "{said}"
    );
    let output = run(directory.path(), "pack data -o other.zip --strict");
    assert_eq!(output.status.code(), Some(2));
    assert!(!directory.path().join("other.zip").exists());
}

#[test]
fn a_shell_gets_its_completions() {
    let directory = workplace();
    assert!(printed(directory.path(), "completions bash").contains("complete -F _seekless"));
    assert_eq!(run(directory.path(), "completions tcsh").status.code(), Some(2));
}

/// Makes `other.zip`: a file, one of a name in cp932, one in bzip2 and one that leads out.
const OTHER: &str = "import sys, zipfile
with zipfile.ZipFile('other.zip', 'w') as z:
    z.writestr('a.txt', 'one')
    z.writestr('../up', 'x')
    z.writestr('XX.txt', 'two')
    z.writestr('b.txt', 'three ' * 100, compress_type=zipfile.ZIP_BZIP2)
archive = open('other.zip', 'rb').read().replace(b'XX.txt', b'\\x95\\x5c.txt')
open('other.zip', 'wb').write(archive)";

#[test]
fn an_archive_of_another_tool_is_repacked() {
    let folder = workplace();
    let made = Command::new("python3").current_dir(folder.path()).args(["-c", OTHER]).status();
    if !made.is_ok_and(|status| status.success()) {
        return println!("skipped: no python3 here");
    }
    let output = run(folder.path(), "pack --from other.zip -o data.zip --names cp932 --verify");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let left_out = "seekless: other.zip: 1 entry left out (a name that leads out by `..`: 1), the \
                    first is \"../up\"\n";
    assert_eq!(said, left_out);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("data.zip: 3 files, 606 B in "), "{text}");
    let bytes = fs::read(folder.path().join("data.zip")).unwrap();
    let name = "表.txt".as_bytes();
    assert!(bytes.windows(name.len()).any(|window| window == name), "its name is UTF-8 now");
    let json = printed(folder.path(), "pack --from other.zip -o json.zip --json");
    let figures: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let reasons = &figures["left_out"]["reasons"];
    assert_eq!(reasons["a name that leads out by `..`"].as_u64(), Some(1), "{figures}");
    for (words, why) in [
        ("pack --from other.zip -o other.zip --force", "is the archive to repack"),
        ("pack --from other.zip -o new.zip --strict", "`..`"),
        ("pack --from other.zip -o new.zip --names cp999", "give one such as cp437, cp866, cp932"),
        ("pack --from other.zip", "--output"),
        ("pack --from other.zip -o new.zip --update", "--update"),
    ] {
        let said = refusal(folder.path(), words);
        assert!(said.contains(why), "{words}: {said}");
    }
    assert!(!folder.path().join("new.zip").exists());
}

#[test]
fn a_pack_does_not_lie_in_its_folder() {
    let folder = workplace();
    fs::create_dir(folder.path().join("data")).expect("a new folder");
    fs::write(folder.path().join("data/a"), "0").expect("room");
    std::os::unix::fs::symlink("data", folder.path().join("link")).expect("a link");
    for words in [
        "pack data -o data/f.zip",
        "pack data -o data/f.zip --force",
        "pack link -o data/f.zip",
        "pack data -o data/../link/f.zip",
    ] {
        let why = refusal(folder.path(), words);
        assert!(why.contains("would be a part of itself: write it to another folder"), "{why}");
    }
    assert_eq!(left_in(&folder.path().join("data")), ["a"]);
}

/// `unzip` is the judge of what a link is in an archive.
#[test]
fn links_are_kept_if_they_are_to_be_and_other_tools_restore_them() {
    use std::os::unix::fs::symlink;
    let folder = workplace();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("env/bin")).expect("room");
    fs::create_dir(at("env/lib")).expect("room");
    fs::write(at("env/lib/a.py"), "a").expect("room");
    symlink("/usr/bin/env", at("env/bin/python")).expect("a link");
    symlink("lib", at("env/lib64")).expect("a link");
    let said = printed(folder.path(), "pack env -o kept.zip --links keep --strict --verify");
    assert!(said.starts_with("kept.zip: 1 file and 2 links, 16 B in "), "{said}");
    let said = printed(folder.path(), "pack env -o followed.zip --links follow");
    assert!(said.starts_with("followed.zip: 2 files and 1 empty folder, 2 B in "), "{said}");
    let said = printed(folder.path(), "pack env --check kept.zip");
    assert!(said.ends_with("env is as it was packed\n"), "a pack with links keeps them: {said}");
    let said = printed(folder.path(), "pack env -o kept.zip --update");
    assert!(said.contains("up to date"), "{said}");
    let said = printed(folder.path(), "pack --from kept.zip -o again.zip --json");
    assert!(said.contains("\"links\": 2"), "{said}");
    let why = refusal(folder.path(), "pack --from kept.zip -o new.zip --links follow");
    assert!(why.contains("--from keeps the links"), "{why}");
    let mut unzip = Command::new("unzip");
    match unzip.args(["-q", "again.zip", "-d", "out"]).current_dir(folder.path()).status() {
        Err(error) => println!("skipped: unzip is not to be had here: {error}"),
        Ok(status) => {
            assert!(status.success());
            let text = |name: &str| fs::read_link(at(name)).expect("a link");
            assert_eq!(text("out/bin/python"), Path::new("/usr/bin/env"));
            assert_eq!(text("out/lib64"), Path::new("lib"));
        }
    }
}
