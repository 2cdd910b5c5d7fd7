//! Traces, profiles and lists in object storage, named where a file would be.

use super::remote::with_storage::run_on;
use super::{run, workplace};
use seekless_testing::{Conduct, Fault, ObjectServer};
use std::fs;
use std::path::Path;
use std::process::Output;

const RUN: &str = "time_s,path,size\n0,b,40000\n1,art/a,5\n2,b,40000\n";

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What it prints on success.
fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}", said(output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Without how long it took.
fn untimed(text: &str) -> Vec<&str> {
    let is_time = |line: &&str| ["\"seconds\"", "_per_second\""].iter().any(|it| line.contains(it));
    text.lines().filter(|line| !is_time(line)).collect()
}

/// A folder with a pack's files, a trace of each form and an order; the same as objects.
fn prepared(folder: &Path) -> ObjectServer {
    fs::create_dir_all(folder.join("data/art")).unwrap();
    fs::write(folder.join("data/art/a"), "brick").unwrap();
    fs::write(folder.join("data/b"), "wood".repeat(10_000)).unwrap();
    fs::write(folder.join("run.csv"), RUN).unwrap();
    fs::write(folder.join("order.txt"), "art/a\nb\n").unwrap();
    printed(&run(folder, "trace import run.csv -o run.parquet"));
    printed(&run(folder, "pack data -o data.zip"));
    let server = ObjectServer::start(Conduct::plain()).unwrap();
    for name in ["run.csv", "run.parquet", "order.txt"] {
        server.put(&format!("/bucket/{name}"), fs::read(folder.join(name)).unwrap());
    }
    server
}

#[test]
fn an_object_is_read_as_the_file_would_be_and_fetched_once() {
    let folder = workplace();
    let server = prepared(folder.path());
    for words in [
        "trace info {}run.parquet --json",
        "trace files {}run.parquet --json",
        "trace export {}run.parquet",
        "trace info {}run.csv --json",
        "sim {}run.csv --capacity 40000 --json",
        "sim {}run.parquet --capacity 40000 --json",
        "order --trace {}run.parquet --json",
        "compare data data.zip --trace {}run.csv --rounds 1 --json",
    ] {
        let before = server.served().requests;
        let remote = run_on(&server, folder.path(), &words.replace("{}", "s3://bucket/"));
        let remote = printed(&remote).replace("s3://bucket/", "");
        assert_eq!(server.served().requests, before + 1, "{words}");
        // Times differ from run to run.
        if !words.starts_with("compare") {
            let local = printed(&run(folder.path(), &words.replace("{}", "")));
            assert_eq!(untimed(&remote), untimed(&local), "{words}");
        }
    }
    let words = "pack data -o new.zip --order s3://bucket/order.txt";
    printed(&run_on(&server, folder.path(), words));
    printed(&run(folder.path(), "pack data -o same.zip --order order.txt"));
    let [new, same] = ["new.zip", "same.zip"].map(|zip| fs::read(folder.path().join(zip)).unwrap());
    assert!(new == same, "the same pack as with the file");
}

#[test]
fn an_output_becomes_an_object_and_replaces_one_only_on_request() {
    let folder = workplace();
    let server = prepared(folder.path());
    let words = "trace import run.csv -o s3://bucket/new.parquet";
    printed(&run_on(&server, folder.path(), words));
    let made = server.content("/bucket/new.parquet").unwrap();
    assert!(made == fs::read(folder.path().join("run.parquet")).unwrap(), "the same as a file");
    let refused = run_on(&server, folder.path(), words);
    assert_eq!(refused.status.code(), Some(2));
    let words = said(&refused);
    assert!(words.contains("s3://bucket/new.parquet: exists already; give --force"), "{words}");
    for words in [
        "trace merge s3://bucket/run.parquet s3://bucket/new.parquet -o s3://bucket/new.parquet --force",
        "trace cut s3://bucket/new.parquet --run 0 -o s3://bucket/cut.parquet",
        "order --trace s3://bucket/run.parquet -o s3://bucket/order.csv",
        "trace export s3://bucket/run.parquet -o s3://bucket/run.text",
        "export s3://bucket/run.parquet --format vmtouch --root /=data -o s3://bucket/list.txt",
    ] {
        printed(&run_on(&server, folder.path(), words));
    }
    let runs =
        printed(&run_on(&server, folder.path(), "trace info s3://bucket/new.parquet --json"));
    let runs: serde_json::Value = serde_json::from_str(&runs).unwrap();
    assert_eq!(runs["runs"].as_array().map(Vec::len), Some(2), "{runs}");
    for (name, begin) in [("cut.parquet", "PAR1"), ("order.csv", "b\nart/a\n")] {
        let content = server.content(&format!("/bucket/{name}")).unwrap();
        assert!(content.starts_with(begin.as_bytes()), "{name}");
    }
    assert!(!folder.path().join("s3:").exists());
}

#[test]
fn a_large_object_is_fetched_in_ranges_although_answers_fail() {
    let folder = workplace();
    let record = |number: u32| {
        let mut record = number.to_le_bytes().to_vec();
        record.extend(u64::from(number.wrapping_mul(2_654_435_761) >> 18).to_le_bytes());
        record.extend(512_u32.to_le_bytes());
        record.extend((-1_i64).to_le_bytes());
        record
    };
    let trace: Vec<u8> = (0..900_000).flat_map(record).collect();
    fs::write(folder.path().join("big.oracleGeneral"), &trace).unwrap();
    let faults = [Fault::SlowDown, Fault::Reset, Fault::Truncated];
    let conduct = Conduct::plain().faulty(400, faults);
    let server = ObjectServer::start(conduct).unwrap();
    server.put("/bucket/big.oracleGeneral", trace);
    let words = "sim {}big.oracleGeneral --capacity 1000000 --policy lru --json";
    let remote = run_on(&server, folder.path(), &words.replace("{}", "s3://bucket/"));
    let remote = printed(&remote).replace("s3://bucket/", "");
    let local = printed(&run(folder.path(), &words.replace("{}", "")));
    assert_eq!(untimed(&remote), untimed(&local));
    assert!(server.served().requests >= 4, "the end, and ranges before it");
}

#[test]
fn what_cannot_be_fetched_is_named_without_secrets() {
    let folder = workplace();
    let server = prepared(folder.path());
    for (words, parts) in [
        ("trace info s3://bucket/none.parquet", ["s3://bucket/none.parquet", "no such object"]),
        ("sim s3://bucket/none.csv", ["s3://bucket/none.csv", "no such object"]),
        ("warm s3://bucket", ["s3://bucket", "this names a folder"]),
        ("trace info https://me:sesame@host/a", ["https://host/a", "must not hold credentials"]),
        ("sim https://host/a?sig=sesame", ["https://host/a?…", "a query"]),
        ("trace import run.csv -o https://host/a", ["https://host/a", "takes no objects"]),
    ] {
        let output = run_on(&server, folder.path(), words);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{words}: {said}");
        assert!(parts.iter().all(|part| said.contains(part)), "{words}: {said}");
        assert!(!said.contains("sesame") && !said.contains("the-secret"), "{words}: {said}");
    }
}
