//! Which rows of an input are used: rules for columns, a limit, and a sample of the objects.

use crate::foreign_formats::file;
use crate::support::rows;
use seekless_trace::import::{self, Format, NOT_SAMPLED, Options, Sample, Select};
use seekless_trace::*;

fn imported(name: &str, bytes: &[u8], options: &Options) -> (Vec<String>, import::Report, Kind) {
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (file(&folder, name, bytes), folder.path().join("out.parquet"));
    let report = import::any(&[path], &out, options, &mut |_, _| ()).unwrap();
    let kind = Trace::open(&out).unwrap().metadata().kind;
    (rows(&out).into_iter().map(|(_, name)| name).collect(), report, kind)
}

fn error(name: &str, bytes: &[u8], options: &Options) -> String {
    let folder = tempfile::tempdir().unwrap();
    open_with(&file(&folder, name, bytes), options).unwrap_err().to_string()
}

fn select(wheres: &[&str], limit: Option<u64>, sample: Option<&str>) -> Select {
    let wheres = wheres.iter().map(|rule| rule.parse().unwrap()).collect();
    Select { wheres, limit, sample: sample.map(|rate| rate.parse().unwrap()) }
}

fn with_columns(columns: &str, select: Select) -> Options {
    let columns = Some(columns.parse().unwrap());
    Options { format: Some(Format::Csv), columns, header: false, select, ..Options::default() }
}

/// Time, key, bytes of the key and of the value, tenant, operation, lifetime, next, count.
const KEYED: &[u8] = b"0,a,1,9,7,get,0,3,2\n1,b,1,9,7,SET,60,-1,1\n2,a,1,9,8,get,0,-1,1\n";
const COLUMNS: &str = "time:s=#1,key=#2,bytes=#3+#4,tenant=#5,op=#6,next=#8,count=#9";

#[test]
fn rules_ask_for_fields_and_columns_and_what_they_refuse_is_counted() {
    for (rules, names, refused) in [
        (&[][..], &["a", "a", "b", "a"][..], None),
        (&["op=get"], &["a", "a", "a"], Some("row by --where op=get")),
        (&["op=get", "tenant!=7"], &["a"], Some("row by --where tenant!=7")),
        (&["#7=60|90"], &["b"], Some("row by --where #7=60|90")),
    ] {
        let options = with_columns(COLUMNS, select(rules, None, None));
        let (found, report, kind) = imported("t.csv", KEYED, &options);
        assert_eq!((&found[..], kind), (&names.map_owned()[..], Kind::Ids), "{rules:?}");
        assert!(refused.is_none_or(|kind| report.left_out[kind] == 1 || kind.contains("#7")));
    }
    let wrong = error("t.csv", KEYED, &with_columns(COLUMNS, select(&["#12=1"], None, None)));
    assert!(wrong.contains("line 1") && wrong.contains("at least 12 columns"), "{wrong}");
    let unknown = error("t.csv", KEYED, &with_columns(COLUMNS, select(&["latency=1"], None, None)));
    assert!(unknown.contains("has no column `latency`"), "{unknown}");
    let ids = Options {
        format: Some(Format::Ids),
        ..with_columns(COLUMNS, select(&["op=get"], None, None))
    };
    assert!(error("t.txt", b"1\n2\n", &ids).contains("has format ids"), "lists have no columns");
}

trait MapOwned {
    fn map_owned(&self) -> Vec<String>;
}

impl MapOwned for [&str] {
    fn map_owned(&self) -> Vec<String> {
        self.iter().map(|name| (*name).to_owned()).collect()
    }
}

#[test]
fn records_answer_rules_too() {
    let record = |op: u8, key: u64| [&[op][..], &key.to_le_bytes()].concat();
    let bytes = [record(1, 5), record(2, 6), record(1, 7)].concat();
    let layout = Some("u8:tenant,u64:key".parse().unwrap());
    let select = select(&["tenant=1"], None, None);
    let options = Options { format: Some(Format::Binary), layout, select, ..Options::default() };
    assert_eq!(imported("t.bin", &bytes, &options).0, ["5", "7"]);
}

fn oracle(objects: impl Iterator<Item = u64>) -> Vec<u8> {
    let record = |object: u64| {
        let (time, size, next) =
            (1_u32.to_le_bytes(), 10_u32.to_le_bytes(), (-1_i64).to_le_bytes());
        [&time[..], &object.to_le_bytes(), &size, &next].concat()
    };
    objects.flat_map(record).collect()
}

#[test]
fn a_limit_ends_each_file_whatever_its_format() {
    let limited = |format, limit| Options {
        format: Some(format),
        select: select(&[], Some(limit), None),
        ..Options::default()
    };
    for (format, bytes) in [
        (Format::Ids, b"1\n2\n3\nnot an id\n".to_vec()),
        (Format::Csv, b"path,size\n1,1\n2,1\n3,1\n4\n".to_vec()),
        (Format::Lrb, b"0 1 1\n0 2 1\n0 3 1\nx\n".to_vec()),
        (Format::OracleGeneral, oracle(1..9000)),
    ] {
        assert_eq!(imported("t", &bytes, &limited(format, 3)).0, ["1", "2", "3"], "{format:?}");
    }
    let blocks = imported("t", b"r 1\nw 2\nr 3\n", &limited(Format::Ozen, 2));
    assert_eq!(blocks.1.rows, 2);
    let repeats = with_columns("key=#1,count=#2", select(&[], Some(3), None));
    assert_eq!(imported("t", b"a,2\nb,5\n", &repeats).0, ["a", "a", "b"]);
}

#[test]
fn a_sample_has_the_same_objects_in_every_format() {
    let options = |format| Options {
        format: Some(format),
        select: select(&[], None, Some("5%")),
        ..Options::default()
    };
    let sample: Sample = "5%".parse().unwrap();
    let expected: Vec<String> =
        (0..7000).filter(|&id| sample.keeps_number(id)).map(|id| id.to_string()).collect();
    assert!((250..450).contains(&expected.len()), "{}", expected.len());
    let text: String = (0..7000).map(|id| format!("{id}\n")).collect();
    for (format, bytes) in
        [(Format::Ids, text.into_bytes()), (Format::OracleGeneral, oracle(0..7000))]
    {
        let (names, report, _) = imported("t", &bytes, &options(format));
        assert_eq!(names, expected, "{format:?}");
        assert_eq!(report.left_out[NOT_SAMPLED], 7000 - expected.len() as u64);
    }
    let refused = error("t", b"r 1\nw 2\n", &options(Format::Ozen));
    assert!(refused.contains("--shards"), "{refused}");
}

#[test]
fn loads_of_a_trace_obey_the_same_rules() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("t.parquet");
    let text: String = (0..500).map(|id| format!("{id}\n")).collect();
    let path = file(&folder, "t.txt", text.as_bytes());
    import::any(&[path], &out, &Options::default(), &mut |_, _| ()).unwrap();
    let loads = |select| {
        let options = Options { select, ..Options::default() };
        Loads::read_with(std::slice::from_ref(&out), None, &options)
            .map(|loads| loads.runs[0].len())
    };
    assert_eq!(loads(select(&[], Some(20), None)).unwrap(), 20);
    let sample: Sample = "10%".parse().unwrap();
    let kept = (0..500).filter(|&id| sample.keeps_number(id)).count();
    assert_eq!(loads(select(&[], None, Some("10%"))).unwrap(), kept);
    let refused = loads(select(&["op=get"], None, None)).unwrap_err().to_string();
    assert!(refused.contains("trace import"), "{refused}");
}
