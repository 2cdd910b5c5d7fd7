//! `fits rebin`: sums boxes of pixels into one, as fimgbin does (Van Meter and Gao 2000, section
//! 5.3).
//!
//! The file is read in records that are whole rows of boxes. So each output pixel is summed at
//! once, and the result does not depend on what was cached. An image of more than two axes is
//! rebinned plane by plane. The other HDUs are copied.

use super::boxes::{Boxes, Tally, Target};
use super::card::{Card, Value};
use super::feed::{Feed, Live, Reading};
use super::hdu::{Hdu, Source};
use super::header::{Header, padded};
use super::image::{Image, Scale, Stored};
use super::pass::{Segment, Work, pass};
use super::select::Selector;
use super::wcs;
use super::write::Sink;
use crate::error::{Error, ErrorKind, Result};
use seekless_read::Plan;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The most bytes that a record may have: the rows of a row of boxes, or a whole plane if the boxes
/// do not tile it.
const RECORD_BYTES_MAX: u64 = 1 << 30;

/// How the output's pixels are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum DataType {
    /// As the input's pixels.
    #[default]
    Same,
    /// With this BITPIX, unscaled.
    Bitpix(i64),
}

impl DataType {
    /// Parses fimgbin's words in any case, and `k` or `long64` for 64 bits.
    ///
    /// # Errors
    /// The word is unknown; the message lists the known ones.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        Ok(DataType::Bitpix(match text.to_ascii_lowercase().as_str() {
            "" | "-" => return Ok(DataType::Same),
            "b" | "8" => 8,
            "i" | "short" | "16" => 16,
            "j" | "integer" | "int" | "long" | "32" => 32,
            "k" | "64" => 64,
            "r" | "f" | "e" | "real" | "float" | "-32" => -32,
            "d" | "double" | "-64" => -64,
            _ => {
                return Err(
                    "is unknown; give one of - b i j k e d or 8 16 32 64 -32 -64".to_owned()
                );
            }
        }))
    }
}

/// Which image to rebin, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The FITS file to read.
    pub input: PathBuf,
    /// Which image of the file.
    pub hdu: Selector,
    /// The file to write.
    pub output: PathBuf,
    /// The width of a box in pixels.
    pub x_bin_size: u64,
    /// The height of a box in pixels; 0 means the same as its width.
    pub y_bin_size: u64,
    /// How the output's pixels are stored.
    pub data_type: DataType,
    /// Replace a number that the output's type cannot hold by the nearest that it can; otherwise
    /// that is an error.
    pub overflow: bool,
    /// The number used in place of an undefined pixel.
    pub null_value: f64,
    /// Divide each sum by the number of pixels in a box.
    pub average: bool,
    /// Replace an existing file at `output`.
    pub clobber: bool,
    /// Work as a plain program does: read in the order of the file, and write through the page
    /// cache.
    pub linear: bool,
    /// The order of the bytes in each pass. With `linear` it is always that of the file.
    pub plan: Plan,
    /// Set this from another thread to stop the job.
    pub cancel: Arc<AtomicBool>,
}

impl Options {
    /// Boxes of `size` by `size` pixels of the first image of `input`.
    #[must_use]
    pub fn new(input: impl Into<PathBuf>, output: impl Into<PathBuf>, size: u64) -> Self {
        Options {
            input: input.into(),
            hdu: Selector::FirstImage,
            output: output.into(),
            x_bin_size: size,
            y_bin_size: 0,
            data_type: DataType::Same,
            overflow: false,
            null_value: 0.0,
            average: false,
            clobber: false,
            linear: false,
            plan: Plan::Best,
            cancel: Arc::default(),
        }
    }

    pub(super) fn plan(&self) -> Plan {
        if self.linear { Plan::Linear } else { self.plan }
    }
}

/// The result: the images of input and output, and the counts.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The HDU of the image; the primary is 0.
    pub hdu: usize,
    /// Bits of an input pixel; negative for floating point.
    pub bitpix: i64,
    /// The length of each axis.
    pub axes: Vec<u64>,
    /// Bits of an output pixel; negative for floating point.
    pub output_bitpix: i64,
    /// The length of each of the output's axes.
    pub output_axes: Vec<u64>,
    /// Undefined pixels in the boxes.
    pub undefined: u64,
    /// Output pixels that hold the nearest number that could be stored.
    pub clamped: u64,
    /// The size of the output in bytes.
    pub output_bytes: u64,
    /// Bytes of zeros after the last HDU of the input, which were not copied.
    pub left_over_bytes: u64,
    /// How much was read, and from where.
    pub reading: Reading,
}

/// Rebins one image of a file and copies the rest. Calls `progress` with the bytes read and an
/// estimate of their total.
///
/// # Errors
/// The input is not a FITS file, is damaged, has no such image, or changes while it is read; a sum
/// cannot be stored; or the output cannot be written.
pub fn rebin(options: &Options, progress: &mut dyn FnMut(u64, u64)) -> Result<Report> {
    let source = Source::open(&options.input)?;
    let mut live = Live::new(options.plan(), &options.cancel, progress);
    let mut report = rebin_of(options, &source, &mut live)?;
    report.reading = live.reading;
    Ok(report)
}

/// The job, with the reading handed in: tests pass a feed of their own.
pub(super) fn rebin_of(options: &Options, source: &Source, feed: &mut dyn Feed) -> Result<Report> {
    let number = options.hdu.find(source)?;
    let hdu = &source.hdus[number];
    let boxes = boxes(options, hdu)?;
    let shape = Shape::of(&boxes, hdu)?;
    let header = header(options, &hdu.header, &boxes, &shape)?;
    let mut sink = Sink::create(&options.output, options.clobber, options.linear)?;
    let (segments, data_start, output_bytes) = plan(source, hdu, &header, &shape)?;
    sink.write(hdu.header.offset, &header)?;
    let unit = (boxes.image.data.clone(), shape.record_bytes());
    let output_axes = shape.axes.clone();
    let target = boxes.target.stored;
    let mut work =
        Rows { boxes, shape, start: data_start, made: Vec::new(), tally: Tally::default() };
    pass(feed, source, &segments, &mut sink, unit, &mut work)?;
    source.check_unchanged()?;
    sink.publish(output_bytes)?;
    Ok(Report {
        hdu: number,
        bitpix: hdu.bitpix,
        axes: hdu.axes.clone(),
        output_bitpix: target.bitpix(),
        output_axes,
        undefined: work.tally.undefined,
        clamped: work.tally.clamped,
        output_bytes,
        left_over_bytes: source.left_over,
        reading: Reading::default(),
    })
}

fn boxes(options: &Options, hdu: &Hdu) -> Result<Boxes> {
    let image = Image::of(hdu)?;
    let target = match options.data_type {
        DataType::Same => Target { stored: image.stored, scale: image.scale },
        DataType::Bitpix(bitpix) => {
            let unknown = || Error::new(ErrorKind::Invalid, format!("{bitpix} is no BITPIX"));
            Target { stored: Stored::of(bitpix).ok_or_else(unknown)?, scale: Scale::PLAIN }
        }
    };
    let width = options.x_bin_size;
    let height = match options.y_bin_size {
        _ if image.axes.len() == 1 => 1, // an image of one axis has no second one to rebin
        0 => width,
        height => height,
    };
    Ok(Boxes {
        image,
        width,
        height,
        average: options.average,
        undefined: options.null_value,
        clamp: options.overflow,
        target,
    })
}

/// Sizes of input and output.
#[derive(Clone, Debug)]
struct Shape {
    /// The output's axes.
    axes: Vec<u64>,
    /// Bytes of the input rows that become one output row.
    band_bytes: u64,
    /// Bytes of a plane of the input.
    plane_bytes: u64,
    /// Output rows that a plane becomes. Input rows left over at its end are ignored.
    rows: u64,
    planes: u64,
    /// Bytes of a row of the output.
    row_bytes: u64,
    /// Whether boxes tile a plane's rows, or there is only one plane.
    even: bool,
}

impl Shape {
    fn of(boxes: &Boxes, hdu: &Hdu) -> Result<Self> {
        let axes = &hdu.axes;
        let (columns, rows) = (axes[0], axes.get(1).copied().unwrap_or(1));
        let height = boxes.height;
        if boxes.width == 0 || boxes.width > columns || height > rows {
            let what = format!(
                "boxes of {} x {height} pixels do not fit an image of {columns} x {rows}",
                boxes.width
            );
            return Err(hdu.header.refusal(&what));
        }
        let input_row = columns * boxes.image.stored.bytes();
        let mut output = axes.clone();
        output[0] = columns / boxes.width;
        if let Some(second) = output.get_mut(1) {
            *second = rows / height;
        }
        let planes = axes.iter().skip(2).product();
        let shape = Shape {
            band_bytes: input_row * height,
            plane_bytes: input_row * rows,
            rows: rows / height,
            planes,
            row_bytes: output[0] * boxes.target.stored.bytes(),
            axes: output,
            even: planes == 1 || rows.is_multiple_of(height),
        };
        if shape.record_bytes() > RECORD_BYTES_MAX {
            let bytes = shape.record_bytes();
            let what = format!(
                "{bytes} bytes would have to be held in memory at a time; {RECORD_BYTES_MAX} is the most"
            );
            return Err(hdu.header.refusal(&what));
        }
        Ok(shape)
    }

    /// The bytes that must be read at once: the rows of a row of boxes, or a whole plane if the
    /// boxes do not tile it.
    fn record_bytes(&self) -> u64 {
        if self.even { self.band_bytes } else { self.plane_bytes }
    }

    /// The number of the first output row that a record becomes.
    fn first_row(&self, record: u64) -> u64 {
        if self.even { record } else { record * self.rows }
    }

    fn all_rows(&self) -> u64 {
        self.rows * self.planes
    }
}

/// The output's header.
fn header(options: &Options, of: &Header, boxes: &Boxes, shape: &Shape) -> Result<Vec<u8>> {
    let mut header = of.clone();
    let (width, height) = (boxes.width, boxes.height);
    header.remove(&["CHECKSUM", "DATASUM", "DATAMIN", "DATAMAX", "BLANK"]);
    if options.data_type != DataType::Same {
        header.remove(&["BSCALE", "BZERO"]);
    }
    header.set("BITPIX", Value::Integer(boxes.target.stored.bitpix().into()), "");
    for (axis, length) in shape.axes.iter().enumerate().take(2) {
        header.set(&format!("NAXIS{}", axis + 1), Value::Integer((*length).into()), "");
    }
    wcs::rebin(&mut header, [width as f64, height as f64])?;
    let done = if boxes.average { "averaged" } else { "summed" };
    header.push(Card::history(&format!(
        "seekless fits rebin: boxes of {width} x {height} pixels {done}"
    )));
    Ok(header.encode())
}

/// The bytes to copy, where the new data start, and where the output ends.
fn plan(
    source: &Source,
    hdu: &Hdu,
    header: &[u8],
    shape: &Shape,
) -> Result<(Vec<Segment>, u64, u64)> {
    let start = hdu.header.offset + header.len() as u64;
    let too_large = || hdu.header.refusal("the output would be larger than any file can be");
    let end = padded(start + shape.all_rows() * shape.row_bytes).ok_or_else(too_large)?;
    let before = Segment { input: 0..hdu.header.offset, output: 0 };
    let behind =
        Segment { input: hdu.end.min(source.bytes)..source.end().min(source.bytes), output: end };
    let output_bytes = end + (source.end() - hdu.end);
    let segments =
        [before, behind].into_iter().filter(|segment| !segment.input.is_empty()).collect();
    Ok((segments, start, output_bytes))
}

/// Makes the rows of the output.
struct Rows {
    boxes: Boxes,
    shape: Shape,
    /// Where the output's data start.
    start: u64,
    /// Consecutive output rows that are still to be written.
    made: Vec<u8>,
    tally: Tally,
}

impl Work for Rows {
    fn records(&mut self, at: u64, bytes: &[u8], sink: &mut Sink) -> Result<()> {
        let record_bytes = self.shape.record_bytes();
        let mut row = self.shape.first_row(at / record_bytes);
        let first = row;
        self.made.clear();
        for record in bytes.chunks(record_bytes as usize) {
            // Rows after the last whole box become no output row.
            let bands = record.chunks_exact(self.shape.band_bytes as usize);
            let most = if self.shape.even { 1 } else { self.shape.rows as usize };
            for band in bands.take(most) {
                if row == self.shape.all_rows() {
                    break;
                }
                let tally = self.boxes.row(band, row % self.shape.rows, &mut self.made)?;
                self.tally.add(tally);
                row += 1;
            }
        }
        sink.write(self.start + first * self.shape.row_bytes, &self.made)
    }

    fn restart(&mut self) {
        self.tally = Tally::default();
    }
}
