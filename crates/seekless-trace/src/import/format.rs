//! The formats that can be imported, and how they are distinguished.

use super::accesses::{Parse, all_rows};
use super::{
    alibaba, blkparse, blktrace, csv, dxt, fiu, msr, ozen, spc, strace, systor, tencent, vscsi,
};
use crate::Kind;
use crate::compressed::Input;
use crate::error::{Error, Result};
use crate::foreign::{FIO_HEADINGS, LCS_MAGIC, ORACLE_RECORD_BYTES, POST_CACHE_HEADING};
use seekless_sys::file_kind::FileKind;
use std::path::Path;

/// A format of other tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Rows with named columns, see [`csv`](super::csv).
    Csv,
    /// One id a line, see [`ids`](super::ids).
    Ids,
    /// Sectors of a device, see [`ozen`](super::ozen).
    Ozen,
    /// libCacheSim's records of 24 bytes, see [`oracle_general`](super::oracle_general).
    OracleGeneral,
    /// libCacheSim's records behind a header, see [`lcs`](super::lcs).
    Lcs,
    /// The text of strace.
    Strace,
    /// fio's logs of I/O, versions 2 and 3.
    Fio,
    /// The text of blkparse.
    Blkparse,
    /// The files of blktrace. Those of all processors are one run.
    Blktrace,
    /// VMware's vscsi traces, versions 1 and 2.
    Vscsi,
    /// The text of darshan-dxt-parser.
    Dxt,
    /// MSR Cambridge's block traces.
    Msr,
    /// Alibaba's block traces of 2020.
    Alibaba,
    /// Tencent's block traces.
    Tencent,
    /// The Storage Performance Council's traces, as UMass has them.
    Spc,
    /// The block traces of SYSTOR '17.
    Systor,
    /// FIU's block traces.
    FiuBlocks,
    /// FIU's traces of files.
    FiuFiles,
    /// Records of one length, see [`Layout`](super::Layout).
    Binary,
    /// Twitter's traces of its caches.
    Twitter,
    /// The traces of CacheLib's benchmark, of keys and values.
    CacheLib,
    /// The traces of webcachesim and LRB.
    Lrb,
    /// The traces of ARC's authors.
    Arc,
    /// Meta's traces of a network of caches, as CacheLib publishes them.
    MetaCdn,
    /// Meta's traces of Tectonic, its storage, as CacheLib publishes them.
    MetaStorage,
    /// IBM's traces of object stores.
    IbmObjectStore,
    /// Wikimedia's traces of 2019, of its network of caches.
    Wiki,
    /// Tencent's traces of photos.
    TencentPhoto,
}

/// Each format with its name and, in a few words, what it holds.
const FORMATS: [(Format, &str, &str); 28] = [
    (Format::Csv, "csv", "Rows with named columns"),
    (Format::Ids, "ids", "One id a line"),
    (Format::Ozen, "ozen", "Sectors of a device, read or written"),
    (Format::OracleGeneral, "oracle-general", "Objects of libCacheSim, records of 24 bytes"),
    (Format::Lcs, "lcs", "Objects of libCacheSim, records behind a header"),
    (Format::Strace, "strace", "Text of `strace -f -ttt -T -y`"),
    (Format::Fio, "fio", "Logs of fio, version 2 or 3"),
    (Format::Blkparse, "blkparse", "Text of blkparse"),
    (Format::Blktrace, "blktrace", "Files of blktrace, of all processors"),
    (Format::Vscsi, "vscsi", "VMware's records, version 1 or 2"),
    (Format::Dxt, "dxt", "Text of darshan-dxt-parser"),
    (Format::Msr, "msr", "Block traces of MSR Cambridge"),
    (Format::Alibaba, "alibaba", "Block traces of Alibaba"),
    (Format::Tencent, "tencent", "Block traces of Tencent"),
    (Format::Spc, "spc", "SPC's traces, as UMass has them"),
    (Format::Systor, "systor", "Block traces of SYSTOR '17"),
    (Format::FiuBlocks, "fiu-blocks", "Block traces of FIU"),
    (Format::FiuFiles, "fiu-files", "FIU's traces of files"),
    (Format::Binary, "binary", "Records of one length, as --binary describes them"),
    (Format::Twitter, "twitter", "Twitter's traces of its caches"),
    (Format::CacheLib, "cachelib", "CacheLib's traces of keys and values (Meta's, 2022 and 2024)"),
    (Format::Lrb, "lrb", "Time, object and bytes, as webcachesim and LRB have them"),
    (Format::Arc, "arc", "Block traces of ARC's authors (.lis)"),
    (Format::MetaCdn, "meta-cdn", "Meta's traces of its network of caches"),
    (Format::MetaStorage, "meta-storage", "Meta's traces of blocks of its storage"),
    (Format::IbmObjectStore, "ibm-objectstore", "IBM's traces of object stores"),
    (Format::Wiki, "wiki", "Wikimedia's traces of 2019, text or uploads"),
    (Format::TencentPhoto, "tencent-photo", "Tencent's traces of photos"),
];

/// How much of the content is looked at.
pub(crate) const HEAD_BYTES: usize = 16 << 10;
/// The endings of files that are compressed. They stand behind the ending of the format.
const COMPRESSED: [&str; 4] = [".gz", ".xz", ".lzma", ".zst"];

impl Format {
    /// All formats.
    pub fn all() -> impl Iterator<Item = Self> {
        FORMATS.iter().map(|&(format, ..)| format)
    }

    /// The format of this [name](Self::name).
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|format| format.name() == name)
    }

    /// Its name in commands.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// What it holds, in a few words.
    #[must_use]
    pub fn about(self) -> &'static str {
        self.row().2
    }

    fn row(self) -> &'static (Self, &'static str, &'static str) {
        // The table is in the order of the formats; a test holds it to that.
        &FORMATS[self as usize]
    }

    /// What a trace of this format is about.
    #[must_use]
    pub fn kind(self) -> Kind {
        match self {
            Format::Csv
            | Format::Strace
            | Format::Fio
            | Format::Dxt
            | Format::FiuFiles
            | Format::MetaStorage => Kind::Files,
            Format::Ozen
            | Format::Blkparse
            | Format::Blktrace
            | Format::Vscsi
            | Format::Msr
            | Format::Alibaba
            | Format::Tencent
            | Format::Spc
            | Format::Systor
            | Format::FiuBlocks
            | Format::Arc => Kind::Blocks,
            Format::Ids
            | Format::OracleGeneral
            | Format::Lcs
            | Format::Binary
            | Format::Twitter
            | Format::CacheLib
            | Format::Lrb
            | Format::MetaCdn
            | Format::IbmObjectStore
            | Format::Wiki
            | Format::TencentPhoto => Kind::Ids,
        }
    }

    /// Whether it is made of records of one length ([`Records`](crate::Records) reads it).
    #[must_use]
    pub fn is_records(self) -> bool {
        matches!(self, Format::OracleGeneral | Format::Lcs)
    }

    /// Whether its rows have columns, which rules can ask for.
    pub(super) fn has_columns(self) -> bool {
        matches!(self, Format::Csv | Format::Binary) || csv::preset(self).is_some()
    }

    /// The format of the file `path`, which has been opened and not read. Its first bytes decide,
    /// then the ending of its name, then the look of its beginning. If nothing fits, it is taken
    /// for CSV; reading it then says what a CSV needs.
    pub(crate) fn detect(path: &Path, input: &mut Input) -> Result<Self> {
        let head = input.head(path, HEAD_BYTES)?;
        if let Some(found) = Self::of_first_bytes(&head).or_else(|| Self::of_name(path)) {
            return Ok(found);
        }
        use FileKind::{Empty, List, Program, Zip};
        match (Self::of_content(&head), FileKind::of_head(&head)) {
            (Format::Csv, Some(kind @ (Empty | List | Program | Zip))) => {
                Err(Error::no_trace(path, kind))
            }
            (found, _) => Ok(found),
        }
    }

    /// The format of a file that begins in a way that only files of one format do. Published block
    /// traces are such: their names end in `.csv`, but their columns have no names that are known.
    pub(crate) fn of_first_bytes(head: &[u8]) -> Option<Self> {
        if head.starts_with(&LCS_MAGIC) {
            return Some(Format::Lcs);
        }
        if blktrace::is_trace(head) {
            return Some(Format::Blktrace);
        }
        if head.contains(&0) {
            return None; // no text
        }
        let first = lines(head).next()?;
        if FIO_HEADINGS.iter().any(|heading| heading.as_bytes() == first) {
            return Some(Format::Fio);
        }
        if first == systor::HEADING {
            return Some(Format::Systor);
        }
        let is = |parse: Parse| all_rows(lines(head), parse);
        let forms = [
            (Format::Msr, msr::FORM.parse),
            (Format::Alibaba, alibaba::FORM.parse),
            (Format::Tencent, tencent::FORM.parse),
            (Format::Spc, spc::FORM.parse),
            (Format::FiuBlocks, fiu::BLOCKS.parse),
            (Format::FiuFiles, fiu::FILES.parse),
        ];
        let is_number = first.first().is_some_and(u8::is_ascii_digit);
        if let Some((form, _)) = forms.into_iter().find(|(_, parse)| is_number && is(*parse)) {
            return Some(form);
        }
        match () {
            () if dxt::is_text(lines(head)) => Some(Format::Dxt),
            () if lines(head)
                .take(8)
                .any(|line| matches!(blkparse::parse_row(line), Ok(Some(_)))) =>
            {
                Some(Format::Blkparse)
            }
            () if strace::is_text(lines(head)) => Some(Format::Strace),
            () => None,
        }
    }

    /// The format that the ending of a name stands for.
    pub(crate) fn of_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let plain = COMPRESSED.iter().find_map(|ending| name.strip_suffix(ending));
        let name = plain.unwrap_or(&name);
        match name.rsplit_once('.')?.1 {
            "lcs" => Some(Format::Lcs),
            "csv" => Some(Format::Csv),
            "lis" => Some(Format::Arc),
            "oraclegeneral" => Some(Format::OracleGeneral),
            "bin" if name.ends_with(".oraclegeneral.bin") => Some(Format::OracleGeneral),
            _ => None,
        }
    }

    /// The format that the beginning of a file looks like.
    pub(crate) fn of_content(head: &[u8]) -> Self {
        match () {
            () if is_oracle_general(head) => Format::OracleGeneral,
            () if head.contains(&0) && vscsi::version(head).is_some() => Format::Vscsi,
            () if is_sectors(head) => Format::Ozen,
            () if are_numbers(head) => Format::Ids,
            () => Format::Csv,
        }
    }
}

/// Whether these are records of oracleGeneral: no text, times do not fall, and the next access of
/// each, if it has one, is a later record.
fn is_oracle_general(head: &[u8]) -> bool {
    let mut before = 0;
    let mut is_next = |(number, record): (i64, &[u8])| {
        let (Some(seconds), Some(next)) = (record.first_chunk(), record.last_chunk()) else {
            return false;
        };
        let (seconds, next) = (u32::from_le_bytes(*seconds), i64::from_le_bytes(*next));
        let in_order = seconds >= before;
        before = seconds;
        in_order && (next == -1 || next > number)
    };
    head.len() >= ORACLE_RECORD_BYTES
        && head.contains(&0)
        && (1..).zip(head.chunks_exact(ORACLE_RECORD_BYTES)).all(&mut is_next)
}

/// The whole lines of `head` that are not blank.
fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = match head.len() < HEAD_BYTES {
        true => head.len(),
        false => head.iter().rposition(|&byte| byte == b'\n').unwrap_or(0),
    };
    head[..end].split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
}

/// Whether the first line that is no comment is an access to a sector, or the first of all is the
/// heading of post-cache traces.
fn is_sectors(head: &[u8]) -> bool {
    let first = lines(head).next().unwrap_or_default();
    first == POST_CACHE_HEADING.as_bytes()
        || lines(head)
            .find(|line| !line.starts_with(b"#"))
            .is_some_and(|line| ozen::access(line).is_some())
}

/// Whether each line is a number, or a `*` between them.
fn are_numbers(head: &[u8]) -> bool {
    let mut lines = lines(head).filter(|line| *line != b"*").peekable();
    lines.peek().is_some() && lines.all(|line| line.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_has_its_own_row() {
        for (format, name, _) in FORMATS {
            assert_eq!((format.row().0, Format::named(name)), (format, Some(format)));
        }
    }

    #[test]
    fn names_tell_whatever_they_are_compressed_with() {
        for (name, format) in [
            ("a.oracleGeneral", Some(Format::OracleGeneral)),
            ("w105.oracleGeneral.bin", Some(Format::OracleGeneral)),
            ("w105.oracleGeneral.zst", Some(Format::OracleGeneral)),
            ("a.lcs.zst", Some(Format::Lcs)),
            ("Run.CSV.gz", Some(Format::Csv)),
            ("trace.bin", None),
            ("csv", None),
            ("trace.txt.lzma", None),
        ] {
            assert_eq!(Format::of_name(Path::new(name)), format, "{name}");
        }
    }

    #[test]
    fn content_tells() {
        let record = |seconds: u32, next: i64| {
            let mut record = seconds.to_le_bytes().to_vec();
            record.extend([7; 12]);
            record.extend(next.to_le_bytes());
            record
        };
        for (content, format) in [
            ([record(5, 2), record(5, i64::MAX), record(6, -1)].concat(), Format::OracleGeneral),
            ([record(5, 2), record(4, -1)].concat(), Format::Csv),
            ([record(5, 2), record(5, 2)].concat(), Format::Csv),
            (b"r 16\nw -1\n".to_vec(), Format::Ozen),
            (b"# nrFileReads = 3\nw 3\n".to_vec(), Format::Ozen),
            (b"# Post-cache traces\n".to_vec(), Format::Ozen),
            (b"17\n\n4\r\n".to_vec(), Format::Ids),
            (b"17\nx\n".to_vec(), Format::Csv),
            (b"path,size\n".to_vec(), Format::Csv),
            (Vec::new(), Format::Csv),
            (b"17\n".repeat(HEAD_BYTES), Format::Ids),
        ] {
            let head = &content[..content.len().min(HEAD_BYTES)];
            let shown = &head[..head.len().min(99)];
            assert_eq!(Format::of_content(head), format, "{}", shown.escape_ascii());
        }
    }
}
