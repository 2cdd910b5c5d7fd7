//! Every verb that writes a file: it replaces a file only with --force, leaves nothing
//! half-written, and takes `-` for standard output.

use super::{printed, run, seekless, workplace};
use rustix::fs::{CWD, Mode, mkfifoat};
use seekless::trace::{Access, Metadata, Op, SpoolWriter};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

/// Command lines up to the name of the output file, and the ending of that name.
const WRITERS: [(&str, &str); 15] = [
    ("trace import --format csv run.csv -o", ".parquet"),
    ("trace export run.parquet -o", ".csv"),
    ("trace merge run.parquet -o", ".parquet"),
    ("trace recover cut.spool -o", ".parquet"),
    ("trace cut run.parquet --from 0.1s -o", ".parquet"),
    ("trace anonymise run.parquet -o", ".parquet"),
    ("order --trace run.parquet -o", ".txt"),
    ("order --trace run.parquet --picture", ".svg"),
    ("sim run.parquet --picture", ".svg"),
    ("sim run.parquet --curve exact --policy lru --picture", ".png"),
    ("sim run.parquet --unit page --policy lru --capacity 1MB --post-cache", ".parquet"),
    (
        "compare data data.zip --trace run.parquet --device iops=9000,bandwidth=1GB/s --rounds 1 --picture",
        ".svg",
    ),
    ("pack data -o", ".zip"),
    ("export run.parquet --format soci --unchecked -o", ".json"),
    ("export run.parquet --format tar --root .=data -o", ".tar"),
];

/// A folder with all input files of the command lines.
fn prepared() -> tempfile::TempDir {
    let folder = workplace();
    let path = folder.path();
    fs::write(
        path.join("run.csv"),
        "time_s,path,size\n0.5,art/wall.dds,30000\n0.75,b,10\n1,art/wall.dds,30000\n",
    )
    .unwrap();
    printed(path, "trace import --format csv run.csv -o run.parquet");
    let mut spool = SpoolWriter::create(&path.join("cut.spool"), &Metadata::default()).unwrap();
    let file = spool.file("a");
    spool.push(Access { bytes: 5, ..Access::new(Op::Read, file) }).unwrap();
    drop(spool);
    printed(path, "synth run.csv data");
    printed(path, "pack data -o data.zip");
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn refused(output: &Output, words: &str) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "seekless {words}: {said}");
    assert!(output.stdout.is_empty(), "seekless {words}");
    said
}

#[test]
fn a_file_that_is_there_is_replaced_only_with_force() {
    let folder = prepared();
    let path = folder.path();
    for (words, ending) in WRITERS {
        let name = format!("there{ending}");
        let words = format!("{words} {name}");
        fs::write(path.join(&name), "precious").unwrap();
        let before = names(path);
        let said = refused(&run(path, &words), &words);
        assert_eq!(
            said,
            format!("seekless: {name}: exists already; give --force to replace it\n"),
            "{words}"
        );
        assert_eq!(fs::read(path.join(&name)).unwrap(), b"precious", "{words}");
        printed(path, &format!("{words} --force"));
        assert_ne!(fs::read(path.join(&name)).unwrap(), b"precious", "{words}");
        assert_eq!(names(path), before, "{words}");
        fs::remove_file(path.join(&name)).unwrap();
    }
}

#[test]
fn record_and_tour_say_the_same() {
    let folder = workplace();
    fs::write(folder.path().join("there.svg"), "precious").unwrap();
    for (words, status) in
        [("record -o there.svg -- true", 125), ("tour --small --picture there.svg", 2)]
    {
        let output = run(folder.path(), words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            said, "seekless: there.svg: exists already; give --force to replace it\n",
            "{words}"
        );
        assert_eq!(output.status.code(), Some(status), "{words}");
    }
    assert_eq!(fs::read(folder.path().join("there.svg")).unwrap(), b"precious");
}

#[test]
fn links_count_as_files_and_what_is_no_file_is_never_replaced() {
    let folder = prepared();
    let path = folder.path();
    fs::write(path.join("target"), "precious").unwrap();
    for (words, ending) in WRITERS {
        let name = |stem: &str| format!("{stem}{ending}");
        symlink("target", path.join(name("link"))).unwrap();
        symlink("nothing", path.join(name("dangling"))).unwrap();
        symlink("/dev/null", path.join(name("device"))).unwrap();
        mkfifoat(CWD, path.join(name("pipe")), Mode::from_raw_mode(0o600)).unwrap();
        for stem in ["device", "pipe"] {
            let words = format!("{words} {} --force", name(stem));
            let said = refused(&run(path, &words), &words);
            assert!(
                said.contains("is a device or pipe, which the output would replace"),
                "{words}: {said}"
            );
        }
        for stem in ["link", "dangling"] {
            let words = format!("{words} {}", name(stem));
            let said = refused(&run(path, &words), &words);
            assert!(said.contains("exists already; give --force"), "{words}: {said}");
            printed(path, &format!("{words} --force"));
            assert!(!path.join(name(stem)).is_symlink(), "{words}");
        }
        assert_eq!(fs::read(path.join("target")).unwrap(), b"precious", "{words}");
        assert!(!path.join("nothing").exists(), "{words}");
        for stem in ["link", "dangling", "device", "pipe"] {
            fs::remove_file(path.join(name(stem))).unwrap();
        }
    }
}

#[test]
fn a_full_disk_leaves_what_was_there() {
    let folder = prepared();
    let path = folder.path();
    for (words, ending) in WRITERS {
        let name = format!("there{ending}");
        fs::write(path.join(&name), "precious").unwrap();
        let before = names(path);
        // With a limit of 0 bytes on files every write fails, as on a full disk.
        let script = "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"";
        let output = Command::new("sh")
            .current_dir(path)
            .args(["-c", script, env!("CARGO_BIN_EXE_seekless")])
            .args(words.split_whitespace())
            .args([&name, "--force"])
            .output()
            .unwrap();
        let said = refused(&output, words);
        assert!(said.contains("File too large"), "{words}: {said}");
        assert_eq!(fs::read(path.join(&name)).unwrap(), b"precious", "{words}");
        assert_eq!(names(path), before, "{words}");
        fs::remove_file(path.join(&name)).unwrap();
    }
}

#[test]
fn an_error_in_the_middle_leaves_what_was_there() {
    let folder = prepared();
    let path = folder.path();
    let lines: String = (0..40_000).map(|line| format!("{line},file {line},7\n")).collect();
    fs::write(path.join("bad.csv"), format!("time_s,path,size\n{lines}no time,x,7\n")).unwrap();
    fs::write(path.join("good.csv"), format!("time_s,path,size\n{lines}")).unwrap();
    printed(path, "trace import --format csv good.csv -o bad.parquet");
    let mut bytes = fs::read(path.join("bad.parquet")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 4096].fill(0xaa);
    fs::write(path.join("bad.parquet"), bytes).unwrap();
    fs::write(path.join("there"), "precious").unwrap();
    let before = names(path);
    for words in [
        "trace import --format csv bad.csv -o there --force",
        "trace export bad.parquet -o there --force",
        "trace merge run.parquet bad.parquet -o there --force",
        "trace cut bad.parquet -o there --force",
        "trace anonymise bad.parquet -o there --force",
        "trace blocks bad.parquet -o there --force",
        "order --trace bad.parquet -o there --force",
    ] {
        let said = refused(&run(path, words), words);
        assert!(said.contains("bad."), "{words}: {said}");
        assert_eq!(fs::read(path.join("there")).unwrap(), b"precious", "{words}");
        assert_eq!(names(path), before, "{words}");
    }
}

#[test]
fn an_output_may_take_the_place_of_its_input_with_force() {
    let folder = prepared();
    let path = folder.path();
    let csv = printed(path, "trace export run.parquet");
    let rows = |trace: &str| printed(path, &format!("trace export {trace}")).lines().count() - 1;
    fs::copy(path.join("run.csv"), path.join("again.csv")).unwrap();
    for (words, expected) in [
        ("trace merge run.parquet run.csv run.parquet -o run.parquet", 9),
        ("trace import --format csv again.csv -o again.csv", 3),
        ("trace recover cut.spool -o cut.spool", 1),
    ] {
        let target = words.rsplit(' ').next().unwrap();
        assert!(refused(&run(path, words), words).contains("exists already"), "{words}");
        printed(path, &format!("{words} --force"));
        assert_eq!(rows(target), expected, "{words}");
    }
    let words = "trace export run.parquet -o run.parquet";
    assert!(refused(&run(path, words), words).contains("exists already"));
    printed(path, &format!("{words} --force"));
    let exported = fs::read_to_string(path.join("run.parquet")).unwrap();
    assert_eq!(exported.lines().count(), 10);
    assert!(exported.starts_with(csv.lines().next().unwrap()), "{exported}");
}

/// Standard output in bytes, and standard error as text, of a run that must succeed.
fn streamed(folder: &Path, words: &str) -> (Vec<u8>, String) {
    let output = seekless(folder).args(words.split_whitespace()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{words}: {said}");
    (output.stdout, said)
}

#[test]
fn a_dash_is_standard_output() {
    let folder = prepared();
    let path = folder.path();
    let (order, said) = streamed(path, "order --trace run.parquet -o -");
    assert_eq!(String::from_utf8(order).unwrap(), "art/wall.dds\nb\n");
    assert!(said.contains("wrote standard output"), "{said}");
    let (csv, said) = streamed(path, "trace export run.parquet -o -");
    assert_eq!((csv.iter().filter(|&&byte| byte == b'\n').count(), said.as_str()), (4, ""));
    for words in [
        "sim run.parquet --picture - --json",
        "compare data data.zip --trace run.parquet --rounds 1 --picture -",
    ] {
        let (svg, said) = streamed(path, words);
        let svg = String::from_utf8(svg).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{words}: {svg}");
        assert!(!said.is_empty(), "{words}");
    }
    for words in [
        "trace import --format csv run.csv -o -",
        "trace merge run.parquet -o -",
        "trace cut run.parquet -o -",
        "trace anonymise run.parquet -o -",
        "trace recover cut.spool -o -",
        "sim run.parquet --unit page --policy lru --capacity 1MB --post-cache -",
    ] {
        let (trace, said) = streamed(path, words);
        assert!(!said.is_empty(), "{words}");
        fs::write(path.join("streamed.parquet"), trace).unwrap();
        printed(path, "trace info streamed.parquet");
    }
    let (zip, _) = streamed(path, "pack data -o -");
    fs::write(path.join("streamed.zip"), zip).unwrap();
    assert!(printed(path, "pack --check streamed.zip").contains("all whole"));
    assert!(!path.join("-").exists());
    let two = "sim run.parquet --unit page --policy lru --capacity 1MB --picture - --post-cache -";
    assert!(refused(&run(path, two), two).contains("can go to standard output"));
}

#[test]
fn bytes_are_not_for_a_terminal() {
    let folder = prepared();
    let command = env!("CARGO_BIN_EXE_seekless");
    for words in [
        "trace merge run.parquet -o -",
        "pack data -o -",
        "trace export --format oracle-general run.parquet",
    ] {
        let typed = format!("{command} {words}; echo status $?");
        let mut script = Command::new("script"); // gives the command a terminal
        script.current_dir(folder.path()).args(["-qec", &typed, "/dev/null"]);
        let Ok(output) = script.output() else {
            println!("skipped: there is no `script` here, which gives a command a terminal");
            return;
        };
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            said.contains("standard output: is a terminal") && said.contains("status 2"),
            "{words}: {said}"
        );
    }
}

/// What people read beside the report does not reach a program that reads it.
#[test]
fn what_to_do_next_is_said_on_a_terminal_alone() {
    let folder = workplace();
    fs::write(folder.path().join("run.csv"), "op,path,offset,bytes\nread,a,0,4096\n").unwrap();
    let words = "sim run.csv --unit page --policy lru --capacity 1MB";
    let next = "Next: seekless sim run.csv --curve exact --policy lru  (shows the misses of";
    let piped = run(folder.path(), words);
    assert!(!String::from_utf8_lossy(&piped.stdout).contains("Next: "), "{piped:?}");
    for (words, is_said) in [(words.to_owned(), true), (format!("{words} --json"), false)] {
        let typed = format!("{} {words}", env!("CARGO_BIN_EXE_seekless"));
        let mut script = Command::new("script"); // gives the command a terminal
        script.current_dir(folder.path()).args(["-qec", &typed, "/dev/null"]);
        let Ok(output) = script.output() else {
            println!("skipped: there is no `script` here, which gives a command a terminal");
            return;
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(text.contains(next), is_said, "{words}: {text}");
        assert_eq!(text.matches("Next: ").count(), usize::from(is_said), "{text}");
    }
}
