//! `seekless export`: lists for tools that prefetch.

use super::{printed, run, workplace};
use std::fs;

/// Three runs of a program in a folder that has moved since.
const RUNS: &str = "\
run,time_ms,op,path,offset,bytes,size
0,1,read,/old/app,0,4096,8192
0,2,read,/old/lib one,4096,4096,8192
1,1,read,/old/app,0,8192,8192
2,1,read,/old/lib one,0,4096,8192
2,2,read,/old/app,0,4096,8192
2,3,read,/etc/hosts,0,10,10
";

fn prepared() -> tempfile::TempDir {
    let folder = workplace();
    let root = folder.path().join("root");
    fs::create_dir(&root).unwrap();
    fs::write(folder.path().join("runs.csv"), RUNS).unwrap();
    for name in ["app", "lib one"] {
        fs::write(root.join(name), [7; 8192]).unwrap();
    }
    folder
}

#[test]
fn a_list_goes_to_standard_output_and_the_summary_to_standard_error() {
    let folder = prepared();
    let output = run(folder.path(), "export runs.csv --format dwarfs --root /old=root");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "app\nlib one\n");
    assert_eq!(
        said,
        "2 files of 3 runs: 16.4 KB; they needed 16.4 KB of it\n\
         left out, outside of the root: 1 file\n"
    );
}

#[test]
fn json_tells_the_same_and_a_list_is_scored() {
    let folder = prepared();
    let words = "export runs.csv --format nydus --root /old=root --score --json -o list.json";
    let said = printed(folder.path(), words);
    let json: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&json["files"], &json["bytes"]), (&2.into(), &16_384.into()));
    assert_eq!(json["left_out"]["outside of the root"], 1);
    assert_eq!(json["score"]["held_out"].as_array().unwrap().len(), 3);
    assert_eq!(json["score"]["learned"].as_array().unwrap().len(), 2);
    let list = fs::read_to_string(folder.path().join("list.json")).unwrap();
    serde_json::from_str::<serde_json::Value>(&list).unwrap();

    let scored = printed(folder.path(), "export runs.csv --format nydus --root /old=root --score");
    assert!(scored.contains("on the list that the other runs make"), "{scored}");
    assert!(!scored.contains("\"version\""), "no list is written without -o: {scored}");
}

#[test]
fn what_cannot_be_listed_is_an_error_that_says_why() {
    let folder = prepared();
    for (words, why) in [
        (
            "--format dwarfs --root /nowhere",
            "names nothing to list below /nowhere: files left out: 3",
        ),
        ("--format dwarfs --root /old=root --budget 10B", "files left out: 1 outside of the root"),
        ("--format shoe", "possible values: estargz, nydus"),
    ] {
        let output = run(folder.path(), &format!("export runs.csv {words} -o list"));
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(why), "{words}: {said}");
        assert!(!folder.path().join("list").exists());
    }
}
