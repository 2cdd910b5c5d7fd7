//! `seekless fits rebin`: fimgbin, which reads the cheapest bytes first.

use super::files::{self, Task, Tool};
use super::{Common, size};
use crate::{interrupt, output};
use seekless::device::units::format_count;
use seekless::fits::{DataType, Reading, RebinOptions, RebinReport, rebin};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Sum each box of a FITS image's pixels into one pixel.
///
/// Pixels at the right and upper ends that do not fill a box are left out. An image of more than
/// two axes is rebinned plane by plane. Coordinates keep their meaning (CRPIX, CDELT, CD, PC, of
/// all alternative systems; LTV and LTM). Distortions do not, nor does a CROTA with boxes that are
/// not square.
///
/// Whole numbers are summed exactly and rounded once, half away from zero; floating-point ones in
/// double precision. Without --datatype the output is stored and scaled as the input. A sum that
/// does not fit the output's whole numbers is an error without --overflow.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless fits rebin m13.fits small.fits 2
  seekless fits rebin m13.fits small.fits 4 2 --datatype e --average
  seekless fits rebin 'raw.fits[1]' small.fits 2 --overflow --clobber --json")]
pub struct Args {
    /// The FITS file, with the HDU if it is not the first image; or @LIST
    #[arg(value_name = "INFILE")]
    input: PathBuf,
    /// The file to write; for a list, a folder
    #[arg(value_name = "OUTFILE")]
    output: PathBuf,
    /// The width of a box in pixels
    #[arg(value_name = "XBINSIZE", value_parser = clap::value_parser!(u64).range(1..))]
    x_bin_size: u64,
    /// The height of a box in pixels; 0: as its width
    #[arg(value_name = "YBINSIZE", default_value_t = 0)]
    y_bin_size: u64,
    /// How to store the output: b, i, j, k, e or d, or a BITPIX; `-` as the input
    #[arg(long, value_name = "TYPE", default_value = "-", allow_hyphen_values = true, value_parser = DataType::parse)]
    datatype: DataType,
    /// Store the nearest possible value where a sum does not fit
    #[arg(long)]
    overflow: bool,
    /// The value of an undefined pixel (BLANK, NaN)
    #[arg(long, value_name = "NUMBER", default_value = "0", allow_hyphen_values = true, value_parser = super::histogram::number)]
    nullval: f64,
    /// Divide by the number of pixels in a box
    #[arg(long)]
    average: bool,
    #[command(flatten)]
    common: Common,
}

/// Sums, writes, prints.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let cancel = interrupt::cancel_when_interrupted()?;
    let (input, output) = (args.input.clone(), args.output.clone());
    let common = args.common.clone();
    files::work(&common, (&input, &output), &Rebin { args, cancel })
}

struct Rebin {
    args: Args,
    cancel: Arc<AtomicBool>,
}

impl Tool for Rebin {
    type Report = RebinReport;

    fn run(&self, task: &Task) -> seekless::fits::Result<RebinReport> {
        let args = &self.args;
        let options = RebinOptions {
            hdu: task.hdu.clone(),
            y_bin_size: args.y_bin_size,
            data_type: args.datatype,
            overflow: args.overflow,
            null_value: args.nullval,
            average: args.average,
            clobber: args.common.clobber,
            linear: args.common.linear,
            plan: args.common.order.into(),
            cancel: Arc::clone(&self.cancel),
            ..RebinOptions::new(&task.input, &task.output, args.x_bin_size)
        };
        rebin(&options, &mut output::progress("Rebinning"))
    }

    fn reading(report: &RebinReport) -> &Reading {
        &report.reading
    }

    fn text(output: &Path, report: &RebinReport) -> String {
        text(output, report)
    }
}

fn text(path: &Path, report: &RebinReport) -> String {
    let mut text = format!(
        "{}: {} pixels (BITPIX {}), from {} (BITPIX {}) of HDU {}\n",
        output::shown(path),
        size(&report.output_axes),
        report.output_bitpix,
        size(&report.axes),
        report.bitpix,
        report.hdu,
    );
    if report.undefined > 0 {
        text += &format!("undefined pixels replaced: {}\n", format_count(report.undefined));
    }
    if report.clamped > 0 {
        text += &format!("sums that could not be stored: {}\n", format_count(report.clamped));
    }
    text + &super::left_over(report.left_over_bytes)
}
