//! Files of few bytes that ask for much memory, each in a different way.

use super::bare_parquet::{BYTE_ARRAY, Column, INT64, Page, Thrift, bomb, trace, with_footer};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray, UInt64Array,
};
use arrow_schema::{Field, Schema};
use flate2::Compression;
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression as Codec, Encoding, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

const MANY: i64 = i32::MAX as i64;

pub(crate) fn all() -> Vec<(&'static str, Vec<u8>)> {
    let mut all = vec![
        (
            "a page of two gigabytes",
            one_page(INT64, "bytes", Page::data(1, 0, MANY, bomb(1 << 27))),
        ),
        (
            "a page that is smaller than it claims",
            one_page(INT64, "bytes", Page::data(1, 0, MANY, bomb(1 << 17))),
        ),
        (
            "a page of two billion values",
            one_page(INT64, "time_ns", Page::data(MANY, 5, 8, delta(1 << 40))),
        ),
        (
            "texts in delta lengths",
            one_page(BYTE_ARRAY, "path", Page::data(1, 6, 8, delta(1 << 40))),
        ),
        (
            "texts in delta lengths for op",
            one_page(BYTE_ARRAY, "op", Page::data(1, 6, 8, delta(1 << 32))),
        ),
        ("a dictionary of numbers", dictionary(INT64, "bytes", MANY, 8)),
        ("a dictionary of paths", dictionary(BYTE_ARRAY, "path", MANY, 8)),
        ("a dictionary of gigabytes", dictionary(BYTE_ARRAY, "path", 1, MANY)),
        ("two billion row groups", with_footer(b"PAR1".to_vec(), row_groups(MANY as u64))),
        ("two billion columns", with_footer(b"PAR1".to_vec(), schema(MANY, 1))),
        ("columns in columns", with_footer(b"PAR1".to_vec(), schema(100_000, 100_000))),
        (
            "a trillion rows",
            trace(1 << 40, Column { name: "none", kind: INT64, zstd: false, pages: vec![] }),
        ),
        ("a path of 100 MB", written(|rows| rows.paths(1, 100 << 20), |properties| properties)),
        (
            "a long path in two row groups",
            written(|rows| rows.paths(1 << 14, 1 << 15), long_dictionaries),
        ),
        ("a long path by its prefix", written(|rows| rows.paths(1 << 14, 1 << 15), prefixes)),
        ("a long op in two row groups", written(|rows| rows.long_op(1 << 15), long_dictionaries)),
        ("ever new files of one name", written(Rows::new_files, deltas)),
        ("ever new files, backwards", written(Rows::sparse_files, deltas)),
        ("ever new places", written(Rows::new_places, deltas)),
        ("a row of an exabyte", written(|rows| rows.bytes(1 << 60), |properties| properties)),
        ("names in a gzip", gzip(&long_names())),
        ("names in an xz", xz(&long_names())),
        ("one line in a gzip", gzip(&"a".repeat(50 << 20))),
        ("a quote that never closes", gzip(&format!("path,size\n\"{}", "a\n".repeat(1 << 18)))),
        ("a million columns", gzip(&format!("path,{}\n", ",".repeat(1 << 20)))),
        ("an xz that asks for a gigabyte", xz_claiming_a_gigabyte()),
        ("a spool that claims a header of gigabytes", spool(4, &0x7fff_fff0_u32.to_le_bytes())),
        ("a spool of runs", spool_of_runs()),
    ];
    all.extend(["parquet", "spool"].map(changed_fixtures).into_iter().flatten());
    all
}

fn one_page(kind: i64, name: &'static str, page: Page) -> Vec<u8> {
    let zstd = page.content.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]);
    trace(1, Column { name, kind, zstd, pages: vec![page] })
}

fn dictionary(kind: i64, name: &'static str, values: i64, bytes: i64) -> Vec<u8> {
    let keys = Page::data(1, 8, 3, vec![1, 2, 0]);
    let content = if bytes == MANY { bomb(1 << 27) } else { vec![0; bytes as usize] };
    let zstd = bytes == MANY;
    trace(
        1,
        Column { name, kind, zstd, pages: vec![Page::dictionary(values, bytes, content), keys] },
    )
}

/// The header of delta-encoded numbers, which claims this many, without the numbers.
fn delta(values: u64) -> Vec<u8> {
    let mut bytes = vec![0x80, 0x01, 0x04];
    let mut rest = values;
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.extend([rest as u8, 0, 0]);
    bytes
}

fn row_groups(claim: u64) -> Thrift {
    let schema = vec![Thrift::default().text(4, "schema").i32(5, 0)];
    Thrift::default().i32(1, 1).list(2, schema).i64(3, 0).list_claiming(4, claim, vec![])
}

/// A schema of `elements` groups, each of which claims so many children.
fn schema(children: i64, elements: usize) -> Thrift {
    let group = |_| Thrift::default().i32(3, 0).text(4, "a").i32(5, children);
    Thrift::default()
        .i32(1, 1)
        .list(2, (0..elements).map(group).collect())
        .i64(3, 0)
        .list(4, vec![])
}

/// Rows of a trace, and how a Parquet writer writes them.
struct Rows {
    paths: ArrayRef,
    ops: ArrayRef,
    files: Vec<u64>,
    offsets: Vec<i64>,
    bytes: u64,
}

const COUNT: usize = 1 << 19;

impl Rows {
    fn new(count: usize) -> Self {
        let text = |text: &str| repeated(text, count);
        let (files, offsets) = (vec![0; count], vec![0; count]);
        Rows { paths: text("a"), ops: text("read"), files, offsets, bytes: 1 }
    }

    fn paths(self, count: usize, length: usize) -> Self {
        Rows { paths: repeated(&"a".repeat(length), count), ..Rows::new(count) }
    }

    fn long_op(self, length: usize) -> Self {
        Rows { ops: repeated(&"a".repeat(length), 1 << 14), ..Rows::new(1 << 14) }
    }

    fn new_files(self) -> Self {
        Rows { files: (0..COUNT as u64).collect(), ..Rows::new(COUNT) }
    }

    fn sparse_files(self) -> Self {
        Rows {
            files: (0..COUNT as u64).map(|row| 0xffff_ffff - 4096 * row % (1 << 32)).collect(),
            ..Rows::new(COUNT)
        }
    }

    fn new_places(self) -> Self {
        Rows { offsets: (0..COUNT as i64).map(|row| row << 13).collect(), ..Rows::new(COUNT) }
    }

    fn bytes(self, bytes: u64) -> Self {
        Rows { bytes, ..Rows::new(1) }
    }

    fn batch(self) -> RecordBatch {
        let count = self.files.len();
        let zeros = || Arc::new(UInt64Array::from(vec![0; count])) as ArrayRef;
        let columns = [
            ("run", zeros()),
            ("time_ns", Arc::new(UInt64Array::from_iter_values(0..count as u64)) as ArrayRef),
            ("pid", zeros()),
            ("tid", zeros()),
            ("op", self.ops),
            ("file", Arc::new(UInt64Array::from(self.files))),
            ("path", self.paths),
            ("offset", Arc::new(Int64Array::from(self.offsets))),
            ("bytes", Arc::new(UInt64Array::from(vec![self.bytes; count]))),
        ];
        let fields: Vec<Field> = columns
            .iter()
            .map(|(name, column)| Field::new(*name, column.data_type().clone(), false))
            .collect();
        RecordBatch::try_new(
            Arc::new(Schema::new(fields)),
            columns.map(|(_, column)| column).into(),
        )
        .unwrap()
    }
}

fn repeated(text: &str, count: usize) -> ArrayRef {
    let values = Arc::new(StringArray::from(vec![text]));
    Arc::new(DictionaryArray::new(Int32Array::from(vec![0; count]), values))
}

fn written(
    make: impl Fn(Rows) -> Rows,
    how: impl Fn(WriterPropertiesBuilder) -> WriterPropertiesBuilder,
) -> Vec<u8> {
    let batch = make(Rows::new(0)).batch();
    let zstd = Codec::ZSTD(ZstdLevel::try_new(3).unwrap());
    let properties = how(WriterProperties::builder().set_compression(zstd));
    let mut writer =
        ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties.build())).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

fn long_dictionaries(properties: WriterPropertiesBuilder) -> WriterPropertiesBuilder {
    properties.set_dictionary_page_size_limit(1 << 30).set_max_row_group_row_count(Some(1 << 13))
}

fn prefixes(properties: WriterPropertiesBuilder) -> WriterPropertiesBuilder {
    let path = ColumnPath::from("path");
    let properties = properties.set_column_dictionary_enabled(path.clone(), false);
    properties.set_column_encoding(path, Encoding::DELTA_BYTE_ARRAY)
}

fn deltas(mut properties: WriterPropertiesBuilder) -> WriterPropertiesBuilder {
    for name in ["file", "offset", "time_ns"].map(ColumnPath::from) {
        properties = properties.set_column_dictionary_enabled(name.clone(), false);
        properties = properties.set_column_encoding(name, Encoding::DELTA_BINARY_PACKED);
    }
    properties
}

/// Names of files that are long and nearly equal.
fn long_names() -> String {
    let prefix = "a".repeat(60_000);
    (0..2_000).fold("path,size\n".to_owned(), |mut text, number| {
        let _ = writeln!(text, "{prefix}{number},1"); // into text, which never fails
        text
    })
}

fn gzip(text: &str) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(text.as_bytes()).unwrap();
    out.finish().unwrap()
}

fn xz(text: &str) -> Vec<u8> {
    let mut out = liblzma::write::XzEncoder::new(Vec::new(), 1);
    out.write_all(text.as_bytes()).unwrap();
    out.finish().unwrap()
}

/// An lzma header with a window of a gigabyte, and some content.
fn xz_claiming_a_gigabyte() -> Vec<u8> {
    let mut bytes = vec![0x5d, 0, 0, 0, 0x40];
    bytes.extend([0xff; 8]);
    bytes.extend([0; 64]);
    bytes
}

fn fixture(ending: &str) -> Vec<u8> {
    let name = format!("tests/fixtures/before-checksums.{ending}");
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// A spool without checksums, with other bytes at a place.
fn spool(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut spool = fixture("spool");
    spool[at..at + bytes.len()].copy_from_slice(bytes);
    spool
}

/// A spool whose metadata names many runs.
fn spool_of_runs() -> Vec<u8> {
    use seekless_trace::{Metadata, RunInfo, SpoolWriter};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spool");
    let runs = vec![RunInfo::default(); 1000];
    drop(SpoolWriter::create(&path, &Metadata { runs, ..Metadata::default() }).unwrap());
    std::fs::read(&path).unwrap()
}

/// Traces from before checksums with a few bytes changed. Without checksums, only the reader's
/// checks of claims limit the memory.
fn changed_fixtures(ending: &str) -> Vec<(&'static str, Vec<u8>)> {
    let whole = fixture(ending);
    let mut all = Vec::new();
    let mut state = 0x9e37_79b9_u64;
    for _ in 0..200 {
        let mut bytes = whole.clone();
        for _ in 0..2 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let at = (state >> 33) as usize % bytes.len();
            bytes[at] = [0xff, 0x7f, 0x80, (state >> 20) as u8][(state >> 29) as usize % 4];
        }
        all.push((if ending == "spool" { "changed spool" } else { "changed parquet" }, bytes));
    }
    all
}
