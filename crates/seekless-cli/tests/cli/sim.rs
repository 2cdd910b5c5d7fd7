//! `seekless sim`: published figures, end to end, and errors on the command line.

use super::shared_data::data;
use super::{printed, run, seekless, workplace};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn rows(directory: &Path, words: &str) -> Vec<Value> {
    serde_json::from_str(&printed(directory, &format!("sim --json {words}"))).unwrap()
}

/// The first 16 digits of the MD5 of a file without its first line, computed by `md5sum`.
fn digest(path: &Path) -> String {
    let script = "tail -n +2 \"$0\" | md5sum | cut -c1-16";
    let output = Command::new("sh").args(["-c", script]).arg(path).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn ozens_lru_row_of_copygrep_comes_out_to_the_byte() {
    if std::env::var_os("SEEKLESS_TEST_FAST").is_some() {
        eprintln!("skipped: Ozen's trace end to end (./test without --fast runs it)");
        return;
    }
    let Some(trace) = data("ozen-2018/SequentialCopyGrep.txt.lzma") else { return };
    let directory = workplace();
    let import = format!("trace import --format ozen {} -o copygrep.parquet", trace.display());
    assert_eq!(
        printed(directory.path(), &import),
        "copygrep.parquet: 6,933,091 rows, 1 run, 1 file\n"
    );
    let words = "copygrep.parquet --raw --policy lru --capacity 10000pages --post-cache lru.txt";
    let row = &rows(directory.path(), words)[0];
    assert_eq!(
        (row["read_misses"].as_u64(), row["write_backs"].as_u64()),
        (Some(675_594), Some(181_910))
    );
    assert_eq!((row["reads"].as_u64(), row["writes"].as_u64()), (Some(5_472_134), Some(1_460_957)));
    assert_eq!(digest(&directory.path().join("lru.txt")), "19383b4573f58adb");
    let again = "trace import --format ozen lru.txt -o lru.parquet";
    assert_eq!(printed(directory.path(), again), "lru.parquet: 857,504 rows, 1 run, 1 file\n");
}

#[test]
fn cloudphysics_misses_what_is_published_and_goes_back_to_the_byte() {
    let Some(sample) = data("cloudphysics/cloudPhysicsIO.oracleGeneral.bin") else { return };
    let directory = workplace();
    let import =
        format!("trace import --format oracle-general {} -o sample.parquet", sample.display());
    assert_eq!(
        printed(directory.path(), &import),
        "sample.parquet: 113,872 rows, 1 run, 48,974 files\n"
    );
    let ratios = |words: &str| -> Vec<String> {
        let rows = rows(directory.path(), &format!("sample.parquet --policy lru {words}"));
        rows.iter().map(|row| format!("{:.4}", row["miss_ratio"].as_f64().unwrap())).collect()
    };
    let published = ["0.8380", "0.8246", "0.8049", "0.7249", "0.6328"];
    assert_eq!(ratios("--unit-weights --capacity 1%,5%,10%,20%,40%"), published);
    assert_eq!(
        ratios("--unit object --unit-weights --capacity 489,2448,4897,9794,19589"),
        published
    );
    // The same capacities in bytes: the right half of the reference's table.
    let bytes = "--capacity 20297697,101488486,202976972,405953945,811907891";
    assert_eq!(ratios(bytes), ["0.8339", "0.8229", "0.8097", "0.7333", "0.6332"]);

    printed(directory.path(), "trace export --format oracle-general sample.parquet -o sample.bin");
    assert!(fs::read(directory.path().join("sample.bin")).unwrap() == fs::read(sample).unwrap());
    printed(directory.path(), "trace export --format oracle-general sample.parquet -o sample.zst");
    let again = printed(
        directory.path(),
        "trace import --format oracle-general sample.zst -o again.parquet",
    );
    assert_eq!(again, "again.parquet: 113,872 rows, 1 run, 48,974 files\n");
}

const SECTORS: &str = "r 0\nr 7\nw 8\nw -1\nr 16\n# done\n";

fn sectors(directory: &Path) {
    fs::write(directory.join("sectors.txt"), SECTORS).unwrap();
    printed(directory, "trace import --format ozen sectors.txt -o sectors.parquet");
}

#[test]
fn sectors_survive_the_way_there_and_back() {
    let directory = workplace();
    sectors(directory.path());
    let text = printed(directory.path(), "trace export --format ozen sectors.parquet");
    assert_eq!(text, SECTORS.replace("# done\n", ""));
}

#[test]
fn a_block_traces_sectors_are_merged_unless_raw() {
    let directory = workplace();
    sectors(directory.path());
    let merged = &rows(directory.path(), "sectors.parquet --policy lru --capacity 1pages")[0];
    assert_eq!((merged["unit"].as_str(), merged["requests"].as_u64()), (Some("page"), Some(3)));
    assert_eq!(
        (merged["write_backs"].as_u64(), merged["dirty_at_end"].as_u64()),
        (Some(1), Some(0))
    );
    let output =
        run(directory.path(), "sim sectors.parquet --raw --policy lru --capacity 1pages --json");
    let raw: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((raw[0]["requests"].as_u64(), raw[0]["write_backs"].as_u64()), (Some(5), Some(2)));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "seekless: sectors that lay nowhere (-1), counted as page 0: 1\n");
}

#[test]
fn a_post_cache_trace_is_a_block_trace() {
    let directory = workplace();
    sectors(directory.path());
    let words = "sim sectors.parquet --policy lru --capacity 1pages --post-cache below.parquet";
    printed(directory.path(), words);
    let text = printed(directory.path(), "trace export below.parquet");
    let lines: Vec<_> = text.lines().skip(1).collect();
    // The write miss of page 1 reads nothing; its eviction writes it before page 2 is read.
    assert_eq!(
        lines,
        [
            "0,0,0,0,read,disk,0,4096,,,,,",
            "0,4,0,0,write,disk,4096,4096,,,,,",
            "0,4,0,0,read,disk,8192,4096,,,,,"
        ]
    );
    let output =
        run(directory.path(), "sim sectors.parquet --capacity 1pages --post-cache x.parquet");
    assert!(
        String::from_utf8(output.stderr).unwrap().contains("give one --policy and one --capacity")
    );
    let output =
        run(directory.path(), "sim sectors.parquet --unit object --policy lru --post-cache x.txt");
    assert!(String::from_utf8(output.stderr).unwrap().contains("use --unit page"));
    assert!(!directory.path().join("x.txt").exists());
}

#[test]
fn rows_have_the_promised_fields_and_points_in_time() {
    let directory = workplace();
    fs::write(directory.path().join("ids.txt"), "7\n9\n7\n8\n").unwrap();
    printed(directory.path(), "trace import --format ids ids.txt -o ids.parquet");
    let rows = rows(
        directory.path(),
        "ids.parquet --policy landlord@full,lru --capacity 2..4*2 --every 2",
    );
    assert_eq!(rows.len(), 4);
    let keys = "policy variant unit capacity requests hits read_misses compulsory_misses write_backs miss_ratio \
                byte_miss_ratio seconds requests_per_second";
    assert!(keys.split(' ').all(|key| rows[0].get(key).is_some()), "{}", rows[0]);
    assert_eq!((rows[0]["variant"].as_str(), rows[1]["variant"].as_str()), (Some("full"), None));
    assert_eq!((rows[0]["unit"].as_str(), rows[2]["capacity"].as_u64()), (Some("object"), Some(4)));
    let points = rows[1]["over_time"].as_array().unwrap();
    assert_eq!(
        (points[0]["miss_ratio"].as_f64(), points[1]["miss_ratio"].as_f64()),
        (Some(1.0), Some(0.75))
    );
    let text = printed(directory.path(), "sim ids.parquet --policy lru --capacity 2 --every 2");
    assert!(
        text.contains("4 requests for 3 ids\n") && text.contains("lru at 2, over time\n"),
        "{text}"
    );
}

#[test]
fn what_is_typed_wrongly_is_said() {
    let directory = workplace();
    sectors(directory.path());
    for (words, said) in [
        ("--capacity 10MB..5MB*2", "expected a range such as 1MB..64MB*2"),
        ("--write-back often", "expected evict, linux, sync"),
        ("--unit shelf", "possible values: file, page, object"),
        ("--merge --raw", "cannot be used with"),
    ] {
        let output = run(directory.path(), &format!("sim sectors.parquet {words}"));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && stderr.contains(said), "{words}: {stderr}");
    }
}

#[test]
fn write_back_rules_write_what_stays() {
    let directory = workplace();
    let csv = "time_s,op,path,offset,bytes\n0,write,a,0,4096\n1,sync,a,0,0\n40,write,a,4096,4096\n90,read,a,0,1\n";
    fs::write(directory.path().join("run.csv"), csv).unwrap();
    let written = |rule: &str| {
        let row = &rows(
            directory.path(),
            &format!("run.csv --unit page --policy lru --write-back {rule}"),
        )[0];
        (row["write_backs"].as_u64(), row["flushed"].as_u64(), row["dirty_at_end"].as_u64())
    };
    assert_eq!(written("evict"), (Some(0), Some(0), Some(2)));
    assert_eq!(written("sync"), (Some(1), Some(1), Some(1)));
    assert_eq!(written("every=30s"), (Some(2), Some(2), Some(0)));
    assert_eq!(written("dirty=0%"), (Some(2), Some(2), Some(0)));
    let output = run(directory.path(), "sim run.csv --unit file --policy lru --write-back sync");
    assert!(String::from_utf8(output.stderr).unwrap().contains("use --unit page"));
}

#[test]
fn every_policy_is_listed_with_its_source_and_typos_are_answered_with_few() {
    let directory = workplace();
    let text = printed(directory.path(), "sim --policies");
    let line = text.lines().find(|line| line.starts_with("  sieve ")).unwrap();
    assert!(
        line.contains("a FIFO whose hand spares") && line.ends_with("Zhang and others, NSDI 2024"),
        "{line}"
    );
    assert!(text.lines().count() > 75, "{text}");
    let heads: Vec<_> = text.lines().filter(|line| line.contains(": ")).collect();
    assert!(heads[0].starts_with("recency: ") && text.contains("\nsize-aware: "), "{heads:?}");
    assert!(text.contains("  s3-fifo: small=0.1 ("), "{text}");
    let one = printed(directory.path(), "sim --policies learned");
    assert!(
        one.starts_with("learned: ") && one.contains("\n  lhd ") && !one.contains(" lru "),
        "{one}"
    );
    let output = run(directory.path(), "sim --policies learnt");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("recency, frequency, ghost"), "{said}");
    let help = printed(directory.path(), "sim --help");
    assert!(
        help.contains("a FIFO whose hand spares") && help.contains("  Zhang and others, NSDI 2024"),
        "{help}"
    );
    let output = run(directory.path(), "sim run.csv --policy lru,s3fifo");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("did you mean s3-fifo, "), "{said}");
    assert!(!said.contains("landlord"), "three names, not sixty: {said}");
    let output = run(directory.path(), "sim run.csv --policy entirely-else");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("no policy has this name; `seekless sim --policies` lists"), "{said}");
}

#[test]
fn policies_take_parameters_and_the_error_says_which_there_are() {
    let directory = workplace();
    let text = "op,path,offset,bytes,file_bytes\nload,a,0,10,10\nload,b,0,10,10\n";
    fs::write(directory.path().join("run.csv"), text).unwrap();
    let policies = "lru,s3-fifo:small=0.05,ghost=1,lecar:rate=1";
    let command = &format!("sim run.csv --capacity 2KB --json --policy {policies}");
    let rows: Vec<Value> = serde_json::from_str(&printed(directory.path(), command)).unwrap();
    let names: Vec<_> = rows.iter().map(|row| row["policy"].as_str().unwrap()).collect();
    assert_eq!(names, ["lru", "s3-fifo:small=0.05,ghost=1", "lecar:rate=1"]);
    for (policy, wanted) in [
        ("s3-fifo:smal=1", "the policy s3-fifo has no parameter `smal`; it has small ("),
        ("s3-fifo:small=7", "small of the policy s3-fifo is a number from 0 to 1, not `7`"),
        ("lru:k=2", "the policy lru takes no parameters; those that do are landlord"),
        ("s3fifo:small=0.1", "did you mean s3-fifo, "),
    ] {
        let output = run(directory.path(), &format!("sim run.csv --policy {policy}"));
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(wanted), "{said}");
    }
}

#[test]
fn reads_inside_files_are_told_and_make_pages_the_unit() {
    let directory = workplace();
    let run_of = |reads: usize| {
        let mut text = "op,path,offset,bytes,file_bytes\n".to_owned();
        (0..reads)
            .for_each(|read| text += &format!("read,data.db,{},100,20000000\n", read * 1_000_000));
        (0..3).for_each(|file| text += &format!("read,{file},0,10,10\nload,{file},0,10,10\n"));
        fs::write(directory.path().join("run.csv"), text).unwrap();
    };
    run_of(3);
    let output = run(directory.path(), "sim run.csv --capacity 64MB");
    let (text, said) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(text.starts_with("4 requests for 4 files of 20.0 MB"), "{text}{said}");
    assert!(
        said.contains("not in this simulation: 3 reads inside files; use --unit page"),
        "{said}"
    );
    run_of(9);
    let text = printed(directory.path(), "sim run.csv --capacity 64MB");
    assert!(text.contains(" pages of "), "{text}");
}

#[test]
fn sizes_and_points_that_are_none_are_refused_in_plain_words() {
    let directory = workplace();
    fs::write(directory.path().join("run.csv"), "time_s,path,size\n0,a,1\n").unwrap();
    let refused = |words: &str, why: &str| {
        let output = run(directory.path(), words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(2) && said.contains(why) && !said.contains("expected \""),
            "{said}"
        );
    };
    refused("sim run.csv --capacity abc", "\"abc\" does not start with a number");
    refused("sim run.csv --curve exact --policy lru --points 0", "'--points <N>'");
}

#[test]
fn a_row_of_an_exabyte_is_an_error_that_names_it() {
    let directory = workplace();
    let rows = "time_s,op,path,offset,bytes\n0,read,a,0,100\n1,read,b,0,1152921504606846976\n";
    fs::write(directory.path().join("run.csv"), rows).unwrap();
    let output = run(directory.path(), "sim run.csv --unit page --policy lru");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.starts_with(
            "seekless: run.csv, row 1: 1,152,921,504,606,846,976 bytes from byte 0 on "
        ),
        "{said}"
    );
    assert!(said.contains("--memory"), "{said}");
    fs::write(
        directory.path().join("few.csv"),
        "time_s,op,path,offset,bytes\n0,read,a,0,99999999\n",
    )
    .unwrap();
    let words = "sim few.csv --unit page --policy lru --capacity 1MB";
    printed(directory.path(), words);
    let output = run(directory.path(), &format!("{words} --memory 100KB"));
    assert!(String::from_utf8(output.stderr).unwrap().contains("few.csv, row 0: "));
}

/// A record of oracleGeneral, or of lcs from version 1.
fn record(second: u32, object: u64, bytes: u32) -> Vec<u8> {
    let mut record = second.to_le_bytes().to_vec();
    record.extend(object.to_le_bytes());
    record.extend(bytes.to_le_bytes());
    record.extend((-1_i64).to_le_bytes());
    record
}

#[test]
fn traces_of_other_tools_are_simulated_as_they_are() {
    let directory = workplace();
    let path = |name: &str| directory.path().join(name);
    let records: Vec<u8> = (0..300_u64)
        .flat_map(|at| record(at as u32, at * at % 37, (at * at % 37) as u32))
        .collect();
    let magic = 0x1234_5678_9abc_def0_u64.to_le_bytes();
    let mut lcs = [magic, 1_u64.to_le_bytes()].concat();
    lcs.resize(8184, 0);
    lcs.extend(magic);
    lcs.extend(&records);
    fs::write(path("a"), &records).unwrap();
    fs::write(path("b.lcs"), lcs).unwrap();
    let numbers: String = (0..300_u64).map(|at| format!("{}\n", at * at % 37)).collect();
    fs::write(path("c"), &numbers).unwrap();
    fs::write(path("d"), numbers.replace('\n', "x\n")).unwrap();
    fs::write(path("e.csv"), format!("path\n{numbers}")).unwrap();
    fs::write(path("f"), SECTORS).unwrap();
    printed(directory.path(), "trace import --format oracle-general a -o a.parquet");
    let misses = |words: &str| {
        let mut rows = rows(
            directory.path(),
            &format!("{words} --policy lru,arc,belady-size --capacity 100B"),
        );
        for row in &mut rows {
            row.as_object_mut().unwrap().retain(|key, _| !key.contains("second"));
        }
        rows
    };
    let expected = misses("a.parquet");
    assert_eq!(misses("a"), expected);
    assert_eq!(misses("b.lcs"), expected);
    assert_eq!(misses("a --format oracle-general"), expected);
    let requests = |words: &str| misses(words)[0]["requests"].as_u64();
    assert_eq!([requests("c"), requests("d --format ids"), requests("e.csv")], [Some(300); 3]);
    let page = &rows(directory.path(), "f --policy lru --capacity 1pages")[0];
    assert_eq!((page["unit"].as_str(), page["requests"].as_u64()), (Some("page"), Some(3)));

    fs::write(path("cut.oracleGeneral"), &records[..24 * 7 + 5]).unwrap();
    let output = run(directory.path(), "sim cut.oracleGeneral");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("cut.oracleGeneral, byte 168: ends within a record"), "{said}");
}

#[test]
fn the_loads_of_a_run_from_a_pack_are_predicted() {
    let folder = workplace();
    let rows: String =
        (0..60).map(|file| format!("{file},art/{:03}.dds,9000\n", file * 7 % 60)).collect();
    fs::write(folder.path().join("run.csv"), format!("time_s,path,size\n{rows}")).unwrap();
    printed(folder.path(), "synth run.csv data");
    printed(folder.path(), "pack data -o data.zip --codec stored --trace run.csv");
    let words = "sim run.csv --pack data.zip --device iops=500,bandwidth=150MB/s";
    let said: Value = serde_json::from_str(&printed(
        folder.path(),
        &format!("{words} --policy lru,landlord --capacity 1MB --json"),
    ))
    .unwrap();
    assert_eq!((said["loads"].as_u64(), said["missing"].as_u64()), (Some(60), Some(0)));
    let rows = said["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    let none = printed(folder.path(), &format!("{words} --capacity 0B --policy lru --json"));
    let none: Value = serde_json::from_str(&none).unwrap();
    // 60 files, each read alone. The others are the pack's directory, what it says of its loads,
    // and what opening it takes: the folder's names and the inode, and an extent map where the
    // file system keeps one apart.
    let opening = none["rows"][0]["requests"].as_u64().unwrap() - 60;
    assert!((3..=5).contains(&opening), "{none}");
    // Reads of what a request is worth, 300 KB, of 540 KB in all; the pack knows this run, so that
    // the first may bring all.
    let reads = |row: &Value| row["requests"].as_u64().unwrap() - opening;
    assert!(rows.iter().all(|row| (1..=4).contains(&reads(row))), "{said}");
    assert!(printed(folder.path(), words).contains("60 loads one after another from the pack"));

    let output = run(folder.path(), "sim run.csv --pack data.zip");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--device"));
}

/// Runs a command whose standard input is a pipe with these bytes.
fn fed(directory: &Path, words: &str, bytes: Vec<u8>) -> Output {
    let mut command = seekless(directory);
    command.args(words.split_whitespace()).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        let _ = pipe.write_all(&bytes); // a command that refuses its input closes the pipe
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

#[test]
fn standard_input_is_a_trace() {
    let directory = workplace();
    let record = |at: u64| {
        let mut record = (at as u32 / 9).to_le_bytes().to_vec();
        record.extend((at * at % 101).to_le_bytes());
        record.extend([1, 0, 0, 0]);
        record.extend([0xff; 8]);
        record
    };
    let bytes: Vec<u8> = (0..4000).flat_map(record).collect();
    fs::write(directory.path().join("a.oracleGeneral"), &bytes).unwrap();
    let words = "--policy lru,arc --capacity 20,30% --unit-weights";
    let text = printed(directory.path(), &format!("sim a.oracleGeneral {words}"));
    let output = fed(directory.path(), &format!("sim - {words}"), bytes.clone());
    assert_eq!(String::from_utf8_lossy(&output.stdout), text);

    let output = fed(directory.path(), "sim - --unit-weights", bytes[..1000].to_vec());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && said.contains("byte 984: ends within"), "{said}");

    let output = fed(directory.path(), "trace import - -o a.parquet", bytes);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("4,000 rows"), "{said}");
}
