//! `seekless fits histogram`: fimhisto, which reads the cheapest bytes first.

use super::files::{self, Task, Tool};
use super::{Common, size};
use crate::{interrupt, output};
use seekless::device::units::format_count;
use seekless::fits::{HistogramOptions, HistogramReport, Reading, histogram};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Copy a FITS file and append the histogram of one of its images.
///
/// The range is MIN,MAX, both included. INDEF takes the least or greatest pixel, leaving out
/// infinite ones. With BINSIZE above 0 each bin includes its lower edge but not its upper one, and
/// there are enough bins to include MAX. With BINSIZE 0 or less, --nbins gives their number, and
/// the last bin includes MAX. Undefined pixels (BLANK, NaN) are counted apart.
///
/// The histogram is a binary table, HISTOGRAM, with the columns BIN_LO, BIN_HI and COUNT.
/// (fimhisto's names of columns are not documented; these are our own.) Keywords of its header
/// count the pixels below the range, above it, and undefined.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Images of 8 or 16 bits, and others whose range is given, take one pass; others two.

Examples:
  seekless fits histogram m13.fits counted.fits INDEF,INDEF 1
  seekless fits histogram 'deep.fits[SCI]' counted.fits 0,INDEF 0 --nbins 256
  seekless fits histogram flat.fits counted.fits -5,5 0.1 --clobber --json")]
pub struct Args {
    /// The FITS file, with the HDU if it is not the first image; or @LIST
    #[arg(value_name = "INFILE")]
    input: PathBuf,
    /// The file to write; for a list, a folder
    #[arg(value_name = "OUTFILE")]
    output: PathBuf,
    /// Lower and upper end, both included: numbers or INDEF
    #[arg(value_name = "MIN,MAX", default_value = "INDEF,INDEF", allow_hyphen_values = true, value_parser = range)]
    range: Range,
    /// The width of a bin, in the pixels' units; 0 or less: see --nbins
    #[arg(value_name = "BINSIZE", default_value = "0", allow_hyphen_values = true, value_parser = number)]
    bin_size: f64,
    /// The number of bins, where BINSIZE is not above 0
    #[arg(long, value_name = "N", default_value_t = 256)]
    nbins: u64,
    #[command(flatten)]
    common: Common,
}

type Range = (Option<f64>, Option<f64>);

fn range(text: &str) -> Result<Range, String> {
    let end = |text: &str| match text.trim() {
        "" | "-" => Ok(None),
        text if text.eq_ignore_ascii_case("INDEF") => Ok(None),
        text => number(text).map(Some),
    };
    match text.split_once(',') {
        Some((low, high)) => Ok((end(low)?, end(high)?)),
        None => match end(text)? {
            None => Ok((None, None)),
            Some(_) => Err("a range has two ends: 0,INDEF".to_owned()),
        },
    }
}

pub(super) fn number(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| format!("{text} is not a number"))?;
    if number.is_finite() { Ok(number) } else { Err("must be finite".to_owned()) }
}

/// Counts, writes, prints.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let cancel = interrupt::cancel_when_interrupted()?;
    let (input, output) = (args.input.clone(), args.output.clone());
    let common = args.common.clone();
    files::work(&common, (&input, &output), &Histogram { args, cancel })
}

struct Histogram {
    args: Args,
    cancel: Arc<AtomicBool>,
}

impl Tool for Histogram {
    type Report = HistogramReport;

    fn run(&self, task: &Task) -> seekless::fits::Result<HistogramReport> {
        let args = &self.args;
        let options = HistogramOptions {
            hdu: task.hdu.clone(),
            range: args.range,
            bin_size: args.bin_size,
            bins: Some(args.nbins),
            clobber: args.common.clobber,
            linear: args.common.linear,
            plan: args.common.order.into(),
            cancel: Arc::clone(&self.cancel),
            ..HistogramOptions::new(&task.input, &task.output, 0)
        };
        histogram(&options, &mut output::progress("Counting"))
    }

    fn reading(report: &HistogramReport) -> &Reading {
        &report.reading
    }

    fn text(output: &Path, report: &HistogramReport) -> String {
        text(output, report)
    }
}

fn text(path: &Path, report: &HistogramReport) -> String {
    let mut text = format!(
        "{}: {} bins of {} from {} to {}, {} of {} pixels of HDU {} ({})\n",
        output::shown(path),
        format_count(report.bins),
        report.bin_size,
        report.low,
        report.high,
        format_count(report.counted),
        format_count(report.pixels),
        report.hdu,
        size(&report.axes),
    );
    let others =
        [(report.below, "below"), (report.above, "above"), (report.undefined, "undefined")];
    let others: Vec<String> = others
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", format_count(*count)))
        .collect();
    if !others.is_empty() {
        text += &format!("not counted: {}\n", others.join(", "));
    }
    text + &super::left_over(report.left_over_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_numbers_or_those_of_the_pixels() {
        assert_eq!(range("INDEF,INDEF"), Ok((None, None)));
        assert_eq!(range("indef"), Ok((None, None)));
        assert_eq!(range("-5, 1e3"), Ok((Some(-5.0), Some(1000.0))));
        assert_eq!(range("2.0,INDEF"), Ok((Some(2.0), None)));
        for wrong in ["3", "a,b", "0,inf", "1,2,3"] {
            assert!(range(wrong).is_err(), "{wrong}");
        }
    }
}
