//! `seekless trace`: imports text, prints figures, exports text, and rescues a recording that was
//! cut off.

use super::{printed, run, workplace};
use seekless::trace::{Access, Metadata, Op, SpoolWriter};
use std::path::Path;

const RUN: &str =
    "time_s,path,size\n0.5,art/wall.dds,3000\n0.75,\"a, b\",10\n1,art/wall.dds,3000\n";

fn imported(directory: &Path) {
    std::fs::write(directory.join("run.csv"), RUN).unwrap();
    let said = printed(directory, "trace import --format csv run.csv -o run.parquet");
    assert_eq!(said, "run.parquet: 3 rows, 1 run, 2 files\n");
}

fn info(directory: &Path, trace: &str) -> serde_json::Value {
    serde_json::from_str(&printed(directory, &format!("trace info {trace} --json"))).unwrap()
}

#[test]
fn info_tells_what_is_there() {
    let directory = workplace();
    imported(directory.path());
    let text = printed(directory.path(), "trace info run.parquet");
    let has = |line: &str| assert!(text.contains(line), "{text}");
    has("run.parquet: accesses to files, 1 run\n");
    has("accesses          3: load 3\n");
    has("bytes             6.0 KB read, 3.0 KB of them unique (49.9 % read again), 0 B written\n");
    has("loads             3 of whole files, 33.3 % repeat one of the same run\n");
    let json = info(directory.path(), "run.parquet");
    assert_eq!(
        (json["unique_bytes"].as_u64(), json["runs"][0]["span_ns"].as_u64()),
        (Some(3010), Some(500_000_000))
    );
    assert_eq!(json, info(directory.path(), "run.csv").clone(), "text is imported on the fly");
}

#[test]
fn export_goes_to_standard_output_or_a_file() {
    let directory = workplace();
    imported(directory.path());
    let text = printed(directory.path(), "trace export run.parquet");
    assert_eq!(text.lines().count(), 4);
    assert!(text.contains("\n0,750000000,0,0,load,\"a, b\",0,10,,,10,,\n"), "{text}");
    printed(directory.path(), "trace export --format csv run.parquet -o out.csv");
    assert_eq!(std::fs::read_to_string(directory.path().join("out.csv")).unwrap(), text);
}

#[test]
fn merge_numbers_runs_on() {
    let directory = workplace();
    imported(directory.path());
    let said = printed(directory.path(), "trace merge run.parquet run.csv -o all.parquet");
    assert_eq!(said, "all.parquet: 6 rows, 2 files\n");
    let said = printed(directory.path(), "trace merge run.parquet -o one.parquet --json");
    let merged: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(merged, serde_json::json!({ "rows": 3, "files": 2 }));
    let runs = info(directory.path(), "all.parquet")["runs"].clone();
    assert_eq!(runs.as_array().unwrap().len(), 2);
}

#[test]
fn malformed_lines_end_the_import_or_are_counted() {
    let directory = workplace();
    std::fs::write(directory.path().join("bad.csv"), "path,size\na,1\nb,x\n").unwrap();
    let output = run(directory.path(), "trace import --format csv bad.csv -o bad.parquet");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        said,
        "seekless: bad.csv, line 3: has `x` in column 2, expected a whole number from 0\n"
    );
    assert!(!directory.path().join("bad.parquet").exists());
    let said =
        printed(directory.path(), "trace import --format csv bad.csv -o bad.parquet --lenient");
    assert!(said.contains("1 row,") && said.contains("skipped 1 malformed line,"), "{said}");
}

#[test]
fn ids_and_columns_without_a_header() {
    let directory = workplace();
    std::fs::write(directory.path().join("ids.txt"), "7\n9\n7\n").unwrap();
    let said = printed(directory.path(), "trace import --format ids ids.txt -o ids.parquet");
    assert_eq!(said, "ids.parquet: 3 rows, 1 run, 2 files\n");
    std::fs::write(directory.path().join("plain.tsv"), "a\t5\n").unwrap();
    let words = "trace import --format csv plain.tsv -o plain.parquet --delimiter tab --no-header --columns path=#1,size:KiB=#2";
    printed(directory.path(), words);
    assert_eq!(info(directory.path(), "plain.parquet")["read_bytes"], 5 * 1024);
    let output = run(
        directory.path(),
        "trace import --format csv plain.tsv -o plain.parquet --columns size=#2",
    );
    assert!(String::from_utf8(output.stderr).unwrap().contains("names no path; add `path=COLUMN`"));
}

#[test]
fn a_recording_that_was_cut_off() {
    let directory = workplace();
    let path = directory.path().join("run.parquet.spool");
    let mut spool = SpoolWriter::create(&path, &Metadata::default()).unwrap();
    let file = spool.file("a");
    for row in 0..9 {
        spool.push(Access { time_ns: row, bytes: 5, ..Access::new(Op::Read, file) }).unwrap();
        spool.flush().unwrap();
    }
    drop(spool);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 9]).unwrap();

    let output = run(directory.path(), "trace info run.parquet --json");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("this recording was cut off")
            && said.contains("`seekless trace recover run.parquet`"),
        "{said}"
    );
    let said = printed(directory.path(), "trace recover run.parquet.spool");
    assert!(said.starts_with("run.parquet: 8 rows recovered; the last "), "{said}");
    assert_eq!(info(directory.path(), "run.parquet")["accesses"], 8);
    let said = printed(directory.path(), "trace recover run.parquet.spool --force --json");
    let recovered: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&recovered["rows"], &recovered["files"]), (&8.into(), &1.into()));
    assert!(recovered["torn_bytes"].as_u64().unwrap() > 0 && recovered["damaged_at"].is_null());
}

/// Two runs of a small game. It looks for a missing file, reads a wall's texture twice, and maps a
/// library.
const GAME: &str = "\
run,time_ms,op,path,offset,bytes,latency_us,error,size
0,1,open,/home/game/mods.cfg,0,0,12,2,
0,2,stat,/home/game/mods.cfg,0,0,8,2,
0,3,open,/usr/lib/libgame.so,0,0,20,,400000
0,4,map,/usr/lib/libgame.so,0,400000,15,,400000
0,5,open,/usr/share/art/wall.dds,0,0,900,,70000
0,6,read,/usr/share/art/wall.dds,0,65536,4000,,
0,7,read,/usr/share/art/wall.dds,65536,4464,150,,
0,8,read,/usr/share/art/wall.dds,0,70000,90,,
1,5,open,/usr/share/art/wall.dds,0,0,30,,70000
1,6,read,/usr/share/art/wall.dds,0,70000,100,,
1,1500,write,/home/game/save,0,123,44,,
";

#[test]
fn files_are_told_one_by_one() {
    let directory = workplace();
    std::fs::write(directory.path().join("game.csv"), GAME).unwrap();
    printed(directory.path(), "trace import --format csv game.csv -o game.parquet");
    let golden = "\
order  opened  missing  stats  read     bytes   unique      size   waited  first      last       file
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
    2       2        0      0     4  210.0 KB  70.0 KB   70.0 KB   5.3 ms  0: 5.0 ms  1: 6.0 ms  /usr/share/art/wall.dds
    1       1        0      0     0       0 B      0 B  400.0 KB  35.0 µs  0: 3.0 ms  0: 4.0 ms  /usr/lib/libgame.so
    -       0        2      1     0       0 B      0 B         -  20.0 µs  0: 1.0 ms  0: 2.0 ms  /home/game/mods.cfg
    -       0        0      0     0       0 B      0 B         -  44.0 µs  1: 1.50 s  1: 1.50 s  /home/game/save
";
    let said = printed(directory.path(), "trace files game.parquet --all-columns --sort read");
    assert_eq!(said, golden);
    let few = " waited     bytes  opened  file
──────────────────────────────────────────────────
 5.3 ms  210.0 KB       2  /usr/share/art/wall.dds
44.0 µs       0 B       0  /home/game/save
35.0 µs       0 B       1  /usr/lib/libgame.so
20.0 µs       0 B       0  /home/game/mods.cfg
";
    assert_eq!(printed(directory.path(), "trace files game.parquet"), few);
    let first = |words: &str| {
        let said = printed(directory.path(), &format!("trace files game.parquet {words}"));
        said.lines().nth(2).unwrap().rsplit("  ").next().unwrap().to_owned()
    };
    assert_eq!(first("--sort order"), "/usr/lib/libgame.so");
    assert_eq!(first("--sort latency"), "/usr/share/art/wall.dds");
    assert_eq!(first("--sort failed"), "/home/game/mods.cfg");
    assert_eq!(first("--sort order --reverse"), "/home/game/save");
    let said = printed(directory.path(), "trace files game.parquet --top 1");
    assert!(said.ends_with("\nand 3 more files: --top 4 shows all\n"), "{said}");
    let said =
        printed(directory.path(), "trace files game.parquet --depth 2 --all-columns --sort read");
    let folders = "\
order  opened  missing  stats  read     bytes   unique      size   waited  first      last       files  folder
───────────────────────────────────────────────────────────────────────────────────────────────────────────────────
    2       2        0      0     4  210.0 KB  70.0 KB   70.0 KB   5.3 ms  0: 5.0 ms  1: 6.0 ms      1  /usr/share/
    1       1        0      0     0       0 B      0 B  400.0 KB  35.0 µs  0: 3.0 ms  0: 4.0 ms      1  /usr/lib/
    -       0        2      1     0       0 B      0 B         -  64.0 µs  0: 1.0 ms  1: 1.50 s      2  /home/game/
";
    assert_eq!(said, folders);
    let output = run(directory.path(), "trace files game.parquet --sort shoe");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn files_as_json_of_several_traces_and_of_a_recording_that_was_cut_off() {
    let directory = workplace();
    std::fs::write(directory.path().join("game.csv"), GAME).unwrap();
    let said =
        printed(directory.path(), "trace files game.csv game.csv --sort order --top 1 --json");
    let json: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!((json["count"].as_u64(), json["files"].as_array().unwrap().len()), (Some(4), 1));
    let file = &json["files"][0];
    assert_eq!(
        (file["path"].as_str(), file["maps"].as_u64()),
        (Some("/usr/lib/libgame.so"), Some(2))
    );
    assert_eq!(file["last"]["run"].as_u64(), Some(2));

    let mut spool =
        SpoolWriter::create(&directory.path().join("cut.spool"), &Metadata::default()).unwrap();
    let file = spool.file("odd\u{1b}[2J");
    spool.push(Access { bytes: 5, ..Access::new(Op::Read, file) }).unwrap();
    drop(spool);
    let said = printed(directory.path(), "trace files cut.spool");
    assert!(said.contains("odd\\x1b[2J"), "{said}");
}

#[test]
fn a_part_is_cut_out() {
    let directory = workplace();
    std::fs::write(directory.path().join("game.csv"), GAME).unwrap();
    let words = "trace cut game.csv --from 5ms --to 7ms --path /usr --op read -o cut.parquet";
    let said = printed(directory.path(), words);
    assert_eq!(said, "cut.parquet: 2 rows, 1 file; left out 9 rows\n");
    let text = printed(directory.path(), "trace export cut.parquet");
    assert_eq!(text.lines().count(), 3, "{text}");
    let output = run(directory.path(), "trace cut game.csv --op shoe -o no.parquet");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_diff_fails_if_too_much_is_new() {
    let directory = workplace();
    let old = "time_ms,op,path,offset,bytes,size\n1,read,/a,0,4096,9000\n";
    std::fs::write(directory.path().join("old.csv"), old).unwrap();
    let new = format!("{old}2,read,/b,0,8192,8192\n");
    std::fs::write(directory.path().join("new.csv"), new).unwrap();
    let said = printed(directory.path(), "trace diff old.csv new.csv");
    assert_eq!(
        said,
        "only the old one reads 0 B, only the new one 8.2 KB; both read 4.1 KB\n\
         1 file read alike, 1 new\n\n\
         only old  only new  old size  new size  change  file\n\
         ────────────────────────────────────────────────────\n\
         \u{20}    0 B    8.2 KB  -           8.2 KB  new     /b\n"
    );
    for (limit, status) in [("8.192KB", 0), ("8KB", 1)] {
        let words = format!("trace diff old.csv new.csv --json --fail-on-new {limit}");
        let output = run(directory.path(), &words);
        assert_eq!(output.status.code(), Some(status), "{words}");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            (&json["only_new_bytes"], &json["too_much_is_new"]),
            (&8192.into(), &(status == 1).into())
        );
    }
    printed(directory.path(), "trace diff new.csv old.csv --fail-on-new 0B");
}

#[test]
fn an_anonymised_trace_names_nobody() {
    let directory = workplace();
    std::fs::write(directory.path().join("game.csv"), GAME).unwrap();
    std::fs::write(directory.path().join("key"), "a secret").unwrap();
    for name in ["one.parquet", "two.parquet"] {
        let words = format!("trace anonymise game.csv --key key -o {name}");
        assert_eq!(printed(directory.path(), &words), format!("{name}: 11 rows, 4 files\n"));
    }
    let text = printed(directory.path(), "trace export one.parquet");
    assert_eq!(text, printed(directory.path(), "trace export two.parquet"));
    assert!(!text.contains("usr") && !text.contains("wall") && text.contains(".dds"), "{text}");
    assert!(printed(directory.path(), "trace info one.parquet").find("game.csv").is_none());
}
