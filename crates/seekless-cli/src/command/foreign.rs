//! The options of every verb that reads traces of other formats.

use anyhow::bail;
use clap::builder::{PathBufValueParser, TypedValueParser};
use seekless::trace::import::{self, Columns, Options};
use std::path::PathBuf;

/// How files of other formats are read.
#[derive(clap::Args, Debug)]
pub struct Foreign {
    /// The format of the files [default: each file tells, by its content and the ending of its
    /// name]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// csv: which column holds which field: FIELD[:UNIT]=COLUMN,... where COLUMN is a name of the
    /// header or #1, #2, ...
    #[arg(long, value_name = "LIST")]
    columns: Option<Columns>,
    /// csv: the character between columns, or `tab`
    #[arg(long, default_value = ",", value_name = "CHAR", value_parser = delimiter)]
    delimiter: u8,
    /// csv: the first line is a row, not a header
    #[arg(long, requires = "columns")]
    no_header: bool,
    /// Skip malformed lines of text and count them
    #[arg(long)]
    lenient: bool,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq)]
enum Format {
    /// Rows with named columns
    Csv,
    /// One id a line
    Ids,
    /// Sectors of a device, read or written
    Ozen,
    /// Objects of libCacheSim, records of 24 bytes
    OracleGeneral,
    /// Objects of libCacheSim, records behind a header
    Lcs,
    /// Text of `strace -f -ttt -T -y`
    Strace,
    /// Logs of fio, version 2 or 3
    Fio,
    /// Text of blkparse
    Blkparse,
    /// Files of blktrace, of all processors
    Blktrace,
    /// VMware's records, version 1 or 2
    Vscsi,
    /// Text of darshan-dxt-parser
    Dxt,
    /// Block traces of MSR Cambridge
    Msr,
    /// Block traces of Alibaba
    Alibaba,
    /// Block traces of Tencent
    Tencent,
    /// SPC's traces, as UMass has them
    Spc,
    /// Block traces of SYSTOR '17
    Systor,
    /// Block traces of FIU
    FiuBlocks,
    /// FIU's traces of files
    FiuFiles,
}

impl Foreign {
    /// The options for the importers.
    pub fn options(&self) -> anyhow::Result<Options> {
        let format = self.format.map(|format| match format {
            Format::Csv => import::Format::Csv,
            Format::Ids => import::Format::Ids,
            Format::Ozen => import::Format::Ozen,
            Format::OracleGeneral => import::Format::OracleGeneral,
            Format::Lcs => import::Format::Lcs,
            Format::Strace => import::Format::Strace,
            Format::Fio => import::Format::Fio,
            Format::Blkparse => import::Format::Blkparse,
            Format::Blktrace => import::Format::Blktrace,
            Format::Vscsi => import::Format::Vscsi,
            Format::Dxt => import::Format::Dxt,
            Format::Msr => import::Format::Msr,
            Format::Alibaba => import::Format::Alibaba,
            Format::Tencent => import::Format::Tencent,
            Format::Spc => import::Format::Spc,
            Format::Systor => import::Format::Systor,
            Format::FiuBlocks => import::Format::FiuBlocks,
            Format::FiuFiles => import::Format::FiuFiles,
        });
        if self.columns.is_some() && format.is_some_and(|format| format != import::Format::Csv) {
            bail!("--columns is for --format csv: the other formats have no columns");
        }
        Ok(Options {
            // What has columns is CSV.
            format: format.or(self.columns.as_ref().map(|_| import::Format::Csv)),
            lenient: self.lenient,
            columns: self.columns.clone(),
            delimiter: self.delimiter,
            header: !self.no_header,
        })
    }
}

/// Reads the name of a file; - is standard input.
pub fn input() -> impl TypedValueParser<Value = PathBuf> {
    let named = |path: PathBuf| if path.as_os_str() == "-" { "/dev/stdin".into() } else { path };
    PathBufValueParser::new().map(named)
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        _ if text == "tab" => Ok(b'\t'),
        [b'"' | b'\n' | b'\r'] => Err("has another meaning in CSV".to_owned()),
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err("expected one ASCII character, or `tab`".to_owned()),
    }
}
