//! Parquet tables of other programs are read as the same CSV is.

use crate::support::{read_everything, rows, scratch};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use seekless_trace::import::{self, Options};
use seekless_trace::*;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A column of a table.
enum Column<'a> {
    Text(&'a [&'a str]),
    Wide(&'a [i64]),
    Narrow(&'a [i32]),
    /// Rows with a value, and which these are.
    Real(&'a [f64], &'a [bool]),
    Flags(&'a [bool]),
}

fn write(path: &Path, message: &str, columns: &[Column<'_>]) {
    let schema = Arc::new(parse_message_type(&format!("message m {{ {message} }}")).unwrap());
    let out = std::fs::File::create(path).unwrap();
    let properties = Arc::new(WriterProperties::default());
    let mut writer = SerializedFileWriter::new(out, schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for column in columns {
        let mut into = group.next_column().unwrap().unwrap();
        let wrote = match column {
            Column::Text(words) => {
                let words: Vec<ByteArray> = words.iter().map(|&word| word.into()).collect();
                into.typed::<ByteArrayType>().write_batch(&words, None, None)
            }
            Column::Wide(all) => into.typed::<Int64Type>().write_batch(all, None, None),
            Column::Narrow(all) => into.typed::<Int32Type>().write_batch(all, None, None),
            Column::Flags(all) => into.typed::<BoolType>().write_batch(all, None, None),
            Column::Real(all, known) => {
                let levels: Vec<i16> = known.iter().map(|&known| i16::from(known)).collect();
                into.typed::<DoubleType>().write_batch(all, Some(&levels), None)
            }
        };
        wrote.unwrap();
        into.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
}

/// What `open_with` makes of both files is equal, and so is what an import makes.
fn same(table: &Path, text: &Path, options: &Options) -> Vec<(Access, String)> {
    let folder = scratch();
    let all = [table, text].map(|path| {
        let out = folder.path().join(path.extension().unwrap());
        import::any(&[path.to_owned()], &out, options, &mut |_, _| ()).unwrap();
        let opened = open_with(path, options).unwrap();
        assert_eq!(*opened.origin(), Origin::Imported, "{}", path.display());
        assert_eq!(opened.rows(), Trace::open(&out).unwrap().rows());
        (rows(&out), Trace::open(&out).unwrap().metadata().kind)
    });
    assert_eq!(all[0], all[1]);
    let [(rows, _), _] = all;
    rows
}

fn columns(list: &str) -> Options {
    Options {
        format: Some(import::Format::Csv),
        columns: Some(list.parse().unwrap()),
        ..Options::default()
    }
}

#[test]
fn names_of_columns_mean_what_they_mean_in_csv() {
    let folder = scratch();
    let table = folder.path().join("own.parquet");
    write(
        &table,
        "required int64 time_ns; required binary path (string); required int32 size (integer(32, false)); required binary what (string);",
        &[
            Column::Wide(&[0, 1, 2]),
            Column::Text(&["a", "b", "a"]),
            Column::Narrow(&[10, -1, 10]),
            Column::Text(&["x", "y", "z"]),
        ],
    );
    let text = "time_ns,path,size,what\n0,a,10,x\n1,b,4294967295,y\n2,a,10,z\n";
    let text = file_in(folder.path(), "own.csv", text);
    let rows = same(&table, &text, &Options::default());
    assert_eq!((rows.len(), rows[1].0.op, rows[1].0.bytes), (3, Op::Load, u64::from(u32::MAX)));
    read_everything(&table);
}

#[test]
fn columns_with_sums_gaps_and_lifetimes() {
    let folder = scratch();
    let table = folder.path().join("kv.parquet");
    write(
        &table,
        "required int64 when (timestamp(millis,true)); required int64 id; optional double bytes; required int32 more; required binary what (string); optional double life;",
        &[
            Column::Wide(&[500, 1500, 2500]),
            Column::Wide(&[7, 8, 7]),
            Column::Real(&[10.0, 20.0], &[true, false, true]),
            Column::Narrow(&[1, 2, 3]),
            Column::Text(&["get", "set", "get"]),
            Column::Real(&[60.0], &[false, true, false]),
        ],
    );
    let text =
        "when,id,bytes,more,what,life\n500,7,10,1,get,\n1500,8,,2,set,60\n2500,7,20.0,3,get,\n";
    let text = file_in(folder.path(), "kv.csv", text);
    let list = "time:ms=when,key=id,bytes=bytes+more,op=what,ttl:s=life";
    let rows = same(&table, &text, &columns(list));
    let brief: Vec<_> =
        rows.iter().map(|(row, name)| (name.as_str(), row.bytes, row.ttl_ns)).collect();
    let minute = NonZeroU64::new(60_000_000_000);
    assert_eq!(brief, [("7", 11, None), ("8", 2, minute), ("7", 23, None)]);
    let chosen = Options {
        select: import::Select { wheres: vec!["op=set".parse().unwrap()], ..Default::default() },
        ..columns(list)
    };
    assert_eq!(same(&table, &text, &chosen).len(), 1);
    let limited = Options {
        select: import::Select { limit: Some(2), ..Default::default() },
        ..columns(list)
    };
    assert_eq!(same(&table, &text, &limited).len(), 2);
}

#[test]
fn what_no_table_can_mean_is_named() {
    let folder = scratch();
    let table = folder.path().join("own.parquet");
    write(
        &table,
        "required int64 x; required boolean flag;",
        &[Column::Wide(&[7]), Column::Flags(&[true])],
    );
    let said = |options: &Options| open_with(&table, options).unwrap_err().to_string();
    let error = said(&Options::default());
    assert!(error.contains("own.parquet") && error.contains("names no `path`"), "{error}");
    let error = said(&columns("path=name"));
    assert!(error.contains("has no column `name`; its columns are x,flag"), "{error}");
    let error = said(&columns("path=flag"));
    assert!(error.contains("`flag` holds BOOLEAN, expected numbers or text"), "{error}");
}

/// Rewriting keeps lifetimes, and a trace without them has no such column.
#[test]
fn lifetimes_stay_through_imports_and_merges() {
    let folder = scratch();
    let text = file_in(folder.path(), "a.csv", "9,k,10,90,1,get,0\n1,b,10,200,1,set,60\n");
    let twitter = Options { format: Some(import::Format::Twitter), ..Options::default() };
    let (one, two) = (folder.path().join("one.parquet"), folder.path().join("two.parquet"));
    import::any(&[text], &one, &twitter, &mut |_, _| ()).unwrap();
    let plain = file_in(folder.path(), "p.csv", "path,size\nk,4\n");
    import::any(&[plain], &two, &Options::default(), &mut |_, _| ()).unwrap();
    let has = |path: &Path| Trace::open(path).unwrap().columns().unwrap().contains(Columns::TTL_NS);
    assert_eq!((has(&one), has(&two)), (true, false));
    let lives = |path: &Path| {
        rows(path).iter().map(|(row, _)| row.ttl_ns.map(NonZeroU64::get)).collect::<Vec<_>>()
    };
    assert_eq!(lives(&one), [Some(60_000_000_000), None], "sorted by time");
    let all = folder.path().join("all.parquet");
    import::any(
        &[file_in(folder.path(), "b.csv", "9,k,10,90,1,get,0\n")],
        two.with_extension("b"),
        &twitter,
        &mut |_, _| (),
    )
    .unwrap();
    merge::merge(&[one.clone(), two.with_extension("b"), one], &all, &mut |_, _| ()).unwrap();
    assert_eq!(lives(&all).iter().flatten().count(), 2);
}

fn file_in(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}
