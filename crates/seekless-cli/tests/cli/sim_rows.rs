//! `seekless sim`: which rows of a trace are simulated, what is counted apart, and deletes.

use super::{printed, run, workplace};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Time, key, bytes of key and value, tenant, operation.
const KEYED: &str = "0,a,1,9,t1,get\n1,b,1,9,t2,set\n2,a,1,9,t1,get\n3,a,1,9,t1,delete\n\
                     4,a,1,9,t1,get\n5,b,1,9,t2,get\n";
const COLUMNS: &str = "kv.csv --no-header --columns time:s=#1,key=#2,bytes=#3+#4,tenant=#5,op=#6 --policy lru --capacity 1KB";

fn first(directory: &Path, words: &str) -> Value {
    let text = printed(directory, &format!("sim --json {words}"));
    serde_json::from_str::<Vec<Value>>(&text).unwrap().remove(0)
}

fn refused(directory: &Path, words: &str) -> String {
    let output = run(directory, words);
    assert_eq!(output.status.code(), Some(2), "{words}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn rules_and_deletes_decide_what_is_a_request() {
    let directory = workplace();
    fs::write(directory.path().join("kv.csv"), KEYED).unwrap();
    let of = |words: &str| first(directory.path(), &format!("{COLUMNS} {words}"));
    let counts = |row: &Value| (row["requests"].as_u64(), row["misses"].as_u64());
    let all = of("");
    assert_eq!((counts(&all), &all["unit"]), ((Some(5), Some(2)), &Value::from("object")));
    assert_eq!(all["left_out"]["row by its operation delete"], 1);
    let gets = of("--where op=get --where tenant=t1");
    assert_eq!(counts(&gets), (Some(3), Some(1)));
    assert_eq!(gets["left_out"]["row by --where op=get"], 2);
    let removed = of("--ops delete=remove");
    assert_eq!(counts(&removed), (Some(5), Some(3)), "a misses again after its delete");
    let reads = of("--ops get=read,set=write,delete=remove");
    assert_eq!((reads["writes"].as_u64(), reads["misses"].as_u64()), (Some(1), Some(3)));
    let curve =
        format!("sim {COLUMNS} --ops delete=remove --curve exact").replace(" --capacity 1KB", "");
    assert!(refused(directory.path(), &curve).contains("--ops delete=skip"));
    let unknown = refused(directory.path(), &format!("sim {COLUMNS} --where color=red"));
    assert!(unknown.contains("kv.csv") && unknown.contains("`color`"), "{unknown}");
}

#[test]
fn a_sample_and_a_limit_are_the_same_for_every_form_of_a_trace() {
    let directory = workplace();
    let path = |name: &str| directory.path().join(name);
    let record = |at: u64| {
        let (time, size, next) =
            (1_u32.to_le_bytes(), 10_u32.to_le_bytes(), (-1_i64).to_le_bytes());
        [&time[..], &(at * at % 4099).to_le_bytes(), &size, &next].concat()
    };
    fs::write(path("a.oracleGeneral"), (0..20_000).flat_map(record).collect::<Vec<_>>()).unwrap();
    let ids: String = (0..20_000_u64).map(|at| format!("{}\n", at * at % 4099)).collect();
    fs::write(path("b.txt"), ids).unwrap();
    printed(directory.path(), "trace import a.oracleGeneral -o c.parquet");
    let of = |name: &str, words: &str| {
        let row = first(
            directory.path(),
            &format!("{name} --unit-weights --policy lru --capacity 50 {words}"),
        );
        ["requests", "misses", "compulsory_misses"].map(|key| row[key].as_u64().unwrap())
    };
    for words in
        ["--sample 10%", "--limit 5K", "--sample 0.2 --limit 5000", "--warm-up 20% --limit 9000"]
    {
        let expected = of("a.oracleGeneral", words);
        assert!(expected[0] > 0 && expected[0] < 9000, "{words}: {expected:?}");
        assert_eq!(of("b.txt", words), expected, "{words}");
        assert_eq!(of("c.parquet", words), expected, "{words}");
    }
    let shown = printed(
        directory.path(),
        "sim a.oracleGeneral --warm-up 20% --policy lru,arc --capacity 1KB",
    );
    assert!(shown.contains("the warm-up of 4,000 requests, not counted above"), "{shown}");
    fs::write(path("s.txt"), "r 1\nw 2\n").unwrap();
    assert!(refused(directory.path(), "sim s.txt --sample 10%").contains("--shards"));
    assert!(refused(directory.path(), "sim a.oracleGeneral --where op=get").contains("no columns"));
    assert!(refused(directory.path(), "sim c.parquet --where op=get").contains("trace import"));
}

#[test]
fn lifetimes_end_by_the_clock_of_the_trace() {
    let directory = workplace();
    let text =
        "0,a,1,9,t,set,5\n1,b,1,9,t,get,0\n4,a,1,9,t,get,0\n6,a,1,9,t,get,0\n7,a,1,9,t,get,0\n";
    fs::write(directory.path().join("kv.csv"), text).unwrap();
    let of = |words: &str| {
        let row = first(directory.path(), &format!("kv.csv {words} --policy lru --capacity 1KB"));
        (row["misses"].as_u64().unwrap(), row["expired"]["requests"].as_u64())
    };
    let columns = "--no-header --columns time:s=#1,key=#2,bytes=#3+#4,op=#6,ttl:s=#7";
    assert_eq!(of(columns), (3, Some(1)), "lifetimes that are named count");
    assert_eq!(of(&columns.replace(",ttl:s=#7", "")), (2, None));
    assert_eq!(of("--format twitter"), (2, None), "as other simulators by default");
    for when in ["lazy", "active", "lazy,fixed"] {
        assert_eq!(of(&format!("--format twitter --expiry {when}")), (3, Some(1)), "{when}");
    }
    printed(directory.path(), "trace import kv.csv --format twitter -o kv.parquet");
    let row = first(directory.path(), "kv.parquet --expiry lazy --policy lru --capacity 1KB");
    assert_eq!(row["expired"]["requests"], 1);
    let shown =
        printed(directory.path(), &format!("sim kv.csv {columns} --policy lru --capacity 1KB"));
    assert!(shown.contains("misses by expiry"), "{shown}");
    let none = "sim kv.csv --no-header --columns time:s=#1,key=#2,bytes=#3 --expiry lazy";
    assert!(refused(directory.path(), none).contains("no lifetimes"));
    let future = format!("sim kv.csv {columns} --policy opt --unit-weights --capacity 5");
    assert!(refused(directory.path(), &future).contains("the ends of lifetimes"));
}

#[test]
fn admission_stands_before_any_policy() {
    let directory = workplace();
    fs::write(directory.path().join("t.csv"), "path,size\na,10\nb,900\na,10\nb,900\nb,900\n")
        .unwrap();
    let of = |rule: &str| {
        let words = format!("t.csv --policy lru,landlord --capacity 10KB --admission {rule}");
        let row = first(directory.path(), &words);
        (row["hits"].as_u64().unwrap(), row["bypassed"].as_u64().unwrap())
    };
    assert_eq!((of("size:1KB"), of("size:100B"), of("bloom")), ((3, 0), (1, 3), (1, 2)));
    let words = "sim t.csv --policy lru --admission";
    assert!(refused(directory.path(), &format!("{words} size")).contains("size:1MiB"));
    assert!(refused(directory.path(), &format!("{words} tiny")).contains("adaptsize or tinylfu"));
}

#[test]
fn a_trace_may_be_made_on_the_fly() {
    let directory = workplace();
    let spec = "zipf:objects=1K,alpha=0.9,requests=20K,seed=4";
    let row = first(directory.path(), &format!("{spec} --policy lru --capacity 10%"));
    assert_eq!((row["requests"].as_u64(), &row["unit"]), (Some(20_000), &Value::from("object")));
    let again = first(directory.path(), &format!("{spec} --policy lru --capacity 10%"));
    assert_eq!(row["misses"], again["misses"]);
    let both = "loop:objects=10,requests=100 loop:objects=20,requests=100";
    let row = first(directory.path(), &format!("{both} --policy lru --capacity 100"));
    assert_eq!((row["requests"].as_u64(), row["misses"].as_u64()), (Some(200), Some(20)));
    let curve = format!("sim {spec} --curve exact --policy lru --points 5");
    assert!(printed(directory.path(), &curve).contains("20,000 requests for"));
    let wrong = refused(directory.path(), "sim zipf:objects=1K --policy lru");
    assert!(wrong.contains("needs `requests`"), "{wrong}");
}
