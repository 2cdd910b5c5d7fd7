//! Writes the histogram as a binary table, after the other HDUs of the output.

use super::bins::Bins;
use super::card::{Card, Value};
use super::header::Header;
use super::write::Sink;
use crate::error::Result;

/// Bytes of a row: two doubles and a 64-bit whole number.
const ROW_BYTES: usize = 24;
/// Rows that are encoded at a time.
const ROWS: usize = 1 << 14;

/// The columns: name, form, description.
const COLUMNS: [(&str, &str, &str); 3] = [
    ("BIN_LO", "D", "lower edge of the bin, which belongs to it"),
    ("BIN_HI", "D", "upper edge of the bin"),
    ("COUNT", "K", "pixels in the bin"),
];

/// Writes the table at `offset`; returns where it ends.
///
/// # Errors
/// The table cannot be written.
pub(super) fn write(bins: &Bins, image: usize, sink: &mut Sink, offset: u64) -> Result<u64> {
    let header = header(bins, image).encode();
    sink.write(offset, &header)?;
    let mut at = offset + header.len() as u64;
    let numbers: Vec<usize> = (0..bins.counts.len()).collect();
    for some in numbers.chunks(ROWS) {
        let mut rows = Vec::with_capacity(some.len() * ROW_BYTES);
        for &bin in some {
            rows.extend(bins.edge(bin).to_be_bytes());
            rows.extend(bins.edge(bin + 1).to_be_bytes());
            rows.extend(bins.counts[bin].to_be_bytes());
        }
        sink.write(at, &rows)?;
        at += rows.len() as u64;
    }
    Ok(at)
}

fn header(bins: &Bins, image: usize) -> Header {
    let whole = |key: &str, value: u64, comment: &str| {
        Card::new(key, Value::Integer(value.into()), comment)
    };
    let real = |key: &str, value: f64, comment: &str| Card::new(key, Value::Real(value), comment);
    let text = |key: &str, value: &str, comment: &str| Card::new(key, Value::Text(value), comment);
    let mut cards = vec![
        text("XTENSION", "BINTABLE", "binary table"),
        whole("BITPIX", 8, "bytes"),
        whole("NAXIS", 2, "rows and columns"),
        whole("NAXIS1", ROW_BYTES as u64, "bytes in a row"),
        whole("NAXIS2", bins.counts.len() as u64, "bins"),
        whole("PCOUNT", 0, "no heap"),
        whole("GCOUNT", 1, "one table"),
        whole("TFIELDS", COLUMNS.len() as u64, "columns"),
    ];
    for (at, (name, form, comment)) in COLUMNS.iter().enumerate() {
        cards.push(text(&format!("TTYPE{}", at + 1), name, comment));
        cards.push(text(&format!("TFORM{}", at + 1), form, ""));
    }
    cards.extend([
        text("EXTNAME", "HISTOGRAM", "histogram of an image of this file"),
        whole("HISTHDU", image as u64, "of which HDU; the primary is 0"),
        real("HISTMIN", bins.low.real, "lower end of the range"),
        real("HISTMAX", bins.high.real, "upper end of the range, included"),
        real("BINSIZE", bins.size, "width of a bin"),
        whole("NCOUNTED", bins.counted(), "pixels in the bins"),
        whole("NBELOW", bins.below, "pixels below the range"),
        whole("NABOVE", bins.above, "pixels above the range"),
        whole("NUNDEF", bins.undefined, "undefined pixels (BLANK, NaN)"),
        text("CREATOR", concat!("seekless ", env!("CARGO_PKG_VERSION")), ""),
    ]);
    Header::new(cards)
}
