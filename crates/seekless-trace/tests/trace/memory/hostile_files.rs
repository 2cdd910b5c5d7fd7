//! Files of few bytes that ask for much memory, each in a different way.

use super::bare_parquet::{BYTE_ARRAY, Column, INT64, Page, Thrift, bomb, trace, with_footer};
use flate2::Compression;
use flate2::write::GzEncoder;
use parquet::basic::{Compression as Codec, Encoding, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
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
        ("a spool that claims a batch of gigabytes", spool_of_one_batch(0x7fff_fff0)),
        ("a spool of runs", spool_of_runs()),
    ];
    all.extend(changed("changed parquet", &fixture()));
    all.extend(changed("changed spool", &spool_of_runs()));
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

/// A schema of `elements` groups, each of which claims this many children.
fn schema(children: i64, elements: usize) -> Thrift {
    let group = |_| Thrift::default().i32(3, 0).text(4, "a").i32(5, children);
    Thrift::default()
        .i32(1, 1)
        .list(2, (0..elements).map(group).collect())
        .i64(3, 0)
        .list(4, vec![])
}

/// Rows of a trace, which have one name and one kind.
struct Rows {
    path: String,
    op: String,
    files: Vec<i64>,
    offsets: Vec<i64>,
    bytes: i64,
}

const COUNT: usize = 1 << 19;

impl Rows {
    fn new(count: usize) -> Self {
        let (files, offsets) = (vec![0; count], vec![0; count]);
        Rows { path: "a".to_owned(), op: "read".to_owned(), files, offsets, bytes: 1 }
    }

    fn paths(self, count: usize, length: usize) -> Self {
        Rows { path: "a".repeat(length), ..Rows::new(count) }
    }

    fn long_op(self, length: usize) -> Self {
        Rows { op: "a".repeat(length), ..Rows::new(1 << 14) }
    }

    fn new_files(self) -> Self {
        Rows { files: (0..COUNT as i64).collect(), ..Rows::new(COUNT) }
    }

    fn sparse_files(self) -> Self {
        Rows {
            files: (0..COUNT as i64).map(|row| 0xffff_ffff - 4096 * row % (1 << 32)).collect(),
            ..Rows::new(COUNT)
        }
    }

    fn new_places(self) -> Self {
        Rows { offsets: (0..COUNT as i64).map(|row| row << 13).collect(), ..Rows::new(COUNT) }
    }

    fn bytes(self, bytes: i64) -> Self {
        Rows { bytes, ..Rows::new(1) }
    }

    /// Writes the rows from `start` to `end` as a row group.
    fn write(&self, start: usize, end: usize, mut group: SerializedRowGroupWriter<Vec<u8>>) {
        let zeros = vec![0; end - start];
        let times: Vec<i64> = (start as i64..end as i64).collect();
        numbers(&mut group, &zeros); // run
        numbers(&mut group, &times);
        numbers(&mut group, &zeros); // pid
        numbers(&mut group, &zeros); // tid
        text(&mut group, &self.op, end - start);
        numbers(&mut group, &self.files[start..end]);
        text(&mut group, &self.path, end - start);
        numbers(&mut group, &self.offsets[start..end]);
        numbers(&mut group, &vec![self.bytes; end - start]);
        group.close().unwrap();
    }
}

const SCHEMA: &str = "message trace {
    REQUIRED INT64 run (INTEGER(64, false));
    REQUIRED INT64 time_ns (INTEGER(64, false));
    REQUIRED INT64 pid (INTEGER(64, false));
    REQUIRED INT64 tid (INTEGER(64, false));
    REQUIRED BYTE_ARRAY op (STRING);
    REQUIRED INT64 file (INTEGER(64, false));
    REQUIRED BYTE_ARRAY path (STRING);
    REQUIRED INT64 offset;
    REQUIRED INT64 bytes (INTEGER(64, false));
}";

fn numbers(group: &mut SerializedRowGroupWriter<Vec<u8>>, values: &[i64]) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int64Type>().write_batch(values, None, None).unwrap();
    column.close().unwrap();
}

fn text(group: &mut SerializedRowGroupWriter<Vec<u8>>, text: &str, count: usize) {
    let values = vec![ByteArray::from(text); count];
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
    column.close().unwrap();
}

fn written(
    make: impl Fn(Rows) -> Rows,
    how: impl Fn(WriterPropertiesBuilder) -> WriterPropertiesBuilder,
) -> Vec<u8> {
    let rows = make(Rows::new(0));
    let zstd = Codec::ZSTD(ZstdLevel::try_new(3).unwrap());
    let properties = Arc::new(how(WriterProperties::builder().set_compression(zstd)).build());
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties.clone()).unwrap();
    let (count, group) = (rows.files.len(), properties.max_row_group_row_count());
    let group = group.unwrap_or(count);
    for start in (0..count).step_by(group) {
        rows.write(start, count.min(start + group), writer.next_row_group().unwrap());
    }
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

fn fixture() -> Vec<u8> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/before-checksums.parquet");
    std::fs::read(path).unwrap()
}

/// A spool with the head of one more frame, which claims a body of `bytes`.
fn spool_of_one_batch(bytes: u32) -> Vec<u8> {
    let mut spool = spool_of_runs();
    let mut head = b"SKSP".to_vec();
    for number in [2, bytes, 0] {
        head.extend(number.to_le_bytes());
    }
    head.extend(crc32fast::hash(&head).to_le_bytes());
    spool.extend(head);
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

/// A file with a few bytes changed. Where there are no checksums, only the reader's checks of what
/// is claimed limit the memory.
fn changed(name: &'static str, whole: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let mut all = Vec::new();
    let mut state = 0x9e37_79b9_u64;
    for _ in 0..200 {
        let mut bytes = whole.to_owned();
        for _ in 0..2 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let at = (state >> 33) as usize % bytes.len();
            bytes[at] = [0xff, 0x7f, 0x80, (state >> 20) as u8][(state >> 29) as usize % 4];
        }
        all.push((name, bytes));
    }
    all
}
