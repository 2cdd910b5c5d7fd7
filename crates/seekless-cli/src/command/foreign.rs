//! The options of every verb that reads traces of other formats.

use crate::output;
use anyhow::bail;
use clap::builder::{PathBufValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use seekless::device::units::counted;
use seekless::trace::import::{Columns, Format, Layout, Ops, Options, Sample, Select, Where};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How files of other formats are read.
#[derive(clap::Args, Debug)]
pub struct Foreign {
    /// The format of the files [default: decided by the content and the name of each]
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    format: Option<Format>,
    /// csv, and Parquet tables of your own: which column holds which field:
    /// FIELD[:UNIT]=COLUMN,... where COLUMN is a name of the header or #1, #2, ... ; bytes may be a
    /// sum, as in bytes=#3+#4; `key` makes a trace of objects, `count` says how often a row comes,
    /// `ttl` how long its object may be kept
    #[arg(long, value_name = "LIST")]
    columns: Option<Columns>,
    /// csv: what the words of an operation column mean: WORD=OPERATION,... or WORD=skip to leave
    /// such rows out [default: get, set and the like are loads, delete is left out; with
    /// delete=remove it takes the object out of every simulated cache]
    #[arg(long, value_name = "LIST")]
    ops: Option<Ops>,
    /// binary: the fields of a record: TYPE:FIELD[:UNIT],... such as
    /// u32:time,u64:key,u32:bytes,i64:next; be behind a type is big-endian; libCacheSim's
    /// `format=<IIQ,obj-id-col=3,...` is understood
    #[arg(long, value_name = "LAYOUT")]
    binary: Option<Layout>,
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

impl Foreign {
    /// Whether --columns or --binary say where lifetimes of objects are.
    pub fn names_lifetimes(&self) -> bool {
        let columns = self.columns.as_ref().is_some_and(Columns::has_lifetimes);
        columns || self.binary.as_ref().is_some_and(Layout::has_lifetimes)
    }

    /// The options for the importers.
    pub fn options(&self) -> anyhow::Result<Options> {
        let format = self.format;
        if self.columns.is_some() && format.is_some_and(|format| format != Format::Csv) {
            bail!("--columns is for --format csv: the other formats have no columns");
        }
        if self.binary.is_some() && format.is_some_and(|format| format != Format::Binary) {
            bail!("--binary is for --format binary: the other formats have layouts of their own");
        }
        if format == Some(Format::Binary) && self.binary.is_none() {
            bail!("--format binary needs the fields: --binary u32:time,u64:key,u32:bytes");
        }
        if self.columns.is_some() && self.binary.is_some() {
            bail!("--columns is for text, --binary for records: give one of them");
        }
        // What has columns is CSV, and what has a layout is records.
        let columns = self.columns.as_ref().map(|_| Format::Csv);
        let layout = self.binary.as_ref().map(|_| Format::Binary);
        Ok(Options {
            format: format.or(columns).or(layout),
            ops: self.ops.clone().unwrap_or_default(),
            layout: self.binary.clone(),
            lenient: self.lenient,
            columns: self.columns.clone(),
            delimiter: self.delimiter,
            header: !self.no_header,
            ..Options::default()
        })
    }
}

/// Which rows of the inputs are used.
#[derive(clap::Args, Debug)]
pub struct Selected {
    /// Rows with columns: use only those where a field of --columns, a name of the header or #N has
    /// one of these words: op=get, op=get|gets, tenant!=3; each further rule must hold, too
    #[arg(long = "where", value_name = "RULE")]
    wheres: Vec<Where>,
    /// Read no more than the first N rows of each file
    #[arg(long, value_name = "N", value_parser = parse_number)]
    limit: Option<u64>,
    /// Use a share of all objects, such as 0.01 or 1%: those with such hashes of their names, which
    /// are the same in every trace and on every machine
    #[arg(long, value_name = "SHARE")]
    sample: Option<Sample>,
}

impl Selected {
    /// The same options of `import`, with these rows alone.
    pub fn of(&self, import: Options) -> Options {
        let (limit, sample) = (self.limit, self.sample);
        Options { select: Select { wheres: self.wheres.clone(), limit, sample }, ..import }
    }
}

/// A number of rows: 5000, 10K or 2M.
fn parse_number(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.strip_suffix(['K', 'k']) {
        Some(digits) => (digits, 1000),
        None => match text.strip_suffix('M') {
            Some(digits) => (digits, 1_000_000),
            None => (text, 1),
        },
    };
    let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    number.ok_or_else(|| "expected a number of rows, such as 5000, 10K or 2M".to_owned())
}

/// How many lines and records of each kind became no rows: `2 malformed lines, 1 trim`.
pub fn kinds(left_out: &BTreeMap<String, u64>) -> String {
    let one = |(kind, &count): (&String, &u64)| match kind.strip_prefix("row ") {
        Some(why) => format!("{} {why}", counted(count, "row")),
        None => counted(count, kind),
    };
    let each = left_out.iter().map(one);
    each.collect::<Vec<_>>().join(", ")
}

/// Says what was left out of traces that were imported on the way.
pub fn say_left_out(options: &Options) {
    let left_out = options.left_out.so_far();
    if !left_out.is_empty() {
        output::say(format_args!("left out of the traces: {}", kinds(&left_out)));
    }
}

fn format() -> impl TypedValueParser<Value = Format> {
    let value = |format: Format| PossibleValue::new(format.name()).help(format.about());
    let named = |name: String| Format::named(&name).ok_or("no such format");
    PossibleValuesParser::new(Format::all().map(value)).try_map(named)
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
