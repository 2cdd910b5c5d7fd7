//! Parquet files made by hand, with claims that no writer would make.

use std::io::Write;

/// Thrift's compact protocol, as far as footers and page headers need it.
#[derive(Default)]
pub(crate) struct Thrift {
    bytes: Vec<u8>,
    last: u8,
}

impl Thrift {
    fn head(mut self, field: u8, kind: u8) -> Self {
        self.bytes.push((field - self.last) << 4 | kind);
        self.last = field;
        self
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    pub(crate) fn i32(self, field: u8, value: i64) -> Self {
        let mut this = self.head(field, 5);
        this.varint(((value << 1) ^ (value >> 63)) as u64);
        this
    }

    pub(crate) fn i64(self, field: u8, value: i64) -> Self {
        let mut this = self.head(field, 6);
        this.varint(((value << 1) ^ (value >> 63)) as u64);
        this
    }

    pub(crate) fn text(self, field: u8, text: &str) -> Self {
        let mut this = self.head(field, 8);
        this.varint(text.len() as u64);
        this.bytes.extend(text.as_bytes());
        this
    }

    pub(crate) fn part(self, field: u8, part: Thrift) -> Self {
        let mut this = self.head(field, 12);
        this.bytes.extend(part.done());
        this
    }

    /// A list of structures that claims this length.
    pub(crate) fn list_claiming(self, field: u8, claim: u64, parts: Vec<Thrift>) -> Self {
        let mut this = self.head(field, 9);
        this.bytes.push(0xfc);
        this.varint(claim);
        parts.into_iter().for_each(|part| this.bytes.extend(part.done()));
        this
    }

    pub(crate) fn list(self, field: u8, parts: Vec<Thrift>) -> Self {
        self.list_claiming(field, parts.len() as u64, parts)
    }

    fn i32s(self, field: u8, values: &[u8]) -> Self {
        let mut this = self.head(field, 9);
        this.bytes.push((values.len() as u8) << 4 | 5);
        values.iter().for_each(|&value| this.varint(u64::from(value) << 1));
        this
    }

    fn texts(self, field: u8, text: &str) -> Self {
        let mut this = self.head(field, 9);
        this.bytes.push(0x18);
        this.varint(text.len() as u64);
        this.bytes.extend(text.as_bytes());
        this
    }

    pub(crate) fn done(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

pub(crate) const INT64: i64 = 2;
pub(crate) const BYTE_ARRAY: i64 = 6;
const UNCOMPRESSED: i64 = 0;
const ZSTD: i64 = 6;

/// A page: the claims in its header, and its content as stored in the file.
pub(crate) struct Page {
    pub(crate) header: Thrift,
    pub(crate) content: Vec<u8>,
}

impl Page {
    /// A data page that claims this many values, and this many bytes when decompressed.
    pub(crate) fn data(values: i64, encoding: i64, bytes: i64, content: Vec<u8>) -> Self {
        let part = Thrift::default().i32(1, values).i32(2, encoding).i32(3, 3).i32(4, 3);
        let header =
            Thrift::default().i32(1, 0).i32(2, bytes).i32(3, content.len() as i64).part(5, part);
        Page { header, content }
    }

    pub(crate) fn dictionary(values: i64, bytes: i64, content: Vec<u8>) -> Self {
        let part = Thrift::default().i32(1, values).i32(2, 0);
        let header =
            Thrift::default().i32(1, 2).i32(2, bytes).i32(3, content.len() as i64).part(7, part);
        Page { header, content }
    }
}

/// A column and its pages.
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) kind: i64,
    pub(crate) zstd: bool,
    pub(crate) pages: Vec<Page>,
}

/// A trace with the required columns and one row of zeros; `special` replaces the column of its
/// name.
pub(crate) fn trace(rows: i64, special: Column) -> Vec<u8> {
    let names = ["run", "time_ns", "pid", "tid", "op", "file", "path", "offset", "bytes"];
    let mut special = Some(special);
    let columns = names.map(|name| match special.take_if(|column| column.name == name) {
        Some(special) => special,
        None => plain(name, rows),
    });
    file(rows, columns.into())
}

fn plain(name: &'static str, rows: i64) -> Column {
    let count = rows.clamp(0, 1 << 14) as usize;
    let (kind, value) = match name {
        "op" => (BYTE_ARRAY, &b"\x04\0\0\0read"[..]),
        "path" => (BYTE_ARRAY, &b"\x01\0\0\0a"[..]),
        _ => (INT64, &[0; 8][..]),
    };
    let content = value.repeat(count);
    let pages = vec![Page::data(rows, 0, content.len() as i64, content)];
    Column { name, kind, zstd: false, pages }
}

fn file(rows: i64, columns: Vec<Column>) -> Vec<u8> {
    let mut bytes = b"PAR1".to_vec();
    let mut schema = vec![Thrift::default().text(4, "schema").i32(5, columns.len() as i64)];
    let mut chunks = Vec::new();
    for Column { name, kind, zstd, pages } in columns {
        let element = Thrift::default().i32(1, kind).i32(3, 0).text(4, name);
        schema.push(if kind == BYTE_ARRAY { element.i32(6, 0) } else { element });
        let start = bytes.len() as i64;
        let mut data = start;
        let mut has_dictionary = false;
        for Page { header, content } in pages {
            let is_dictionary = header.bytes.get(1) == Some(&4); // type 2, zigzag
            has_dictionary |= is_dictionary;
            bytes.extend(header.done());
            bytes.extend(content);
            data = if is_dictionary { bytes.len() as i64 } else { data };
        }
        let length = bytes.len() as i64 - start;
        let part = Thrift::default().i32(1, kind).i32s(2, &[0, 3, 8]).texts(3, name);
        let part = part
            .i32(4, if zstd { ZSTD } else { UNCOMPRESSED })
            .i64(5, rows)
            .i64(6, length)
            .i64(7, length);
        let part = part.i64(9, data);
        let part = if has_dictionary { part.i64(11, start) } else { part };
        chunks.push(Thrift::default().i64(2, start).part(3, part));
    }
    let group = Thrift::default().list(1, chunks).i64(2, bytes.len() as i64).i64(3, rows);
    let footer = Thrift::default().i32(1, 1).list(2, schema).i64(3, rows).list(4, vec![group]);
    with_footer(bytes, footer)
}

pub(crate) fn with_footer(mut bytes: Vec<u8>, footer: Thrift) -> Vec<u8> {
    let footer = footer.done();
    bytes.extend(&footer);
    bytes.extend((footer.len() as u32).to_le_bytes());
    bytes.extend(b"PAR1");
    bytes
}

/// `length` equal bytes, compressed to few.
pub(crate) fn bomb(length: usize) -> Vec<u8> {
    let mut out = zstd::Encoder::new(Vec::new(), 1).unwrap();
    let piece = [0; 1 << 16];
    for _ in 0..length / piece.len() {
        out.write_all(&piece).unwrap();
    }
    out.finish().unwrap()
}
