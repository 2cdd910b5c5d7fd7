//! `fits histogram`: copies a file and appends the histogram of one of its images, as fimhisto does
//! (Van Meter and Gao 2000, section 5.3).
//!
//! fimhisto makes three passes: it copies the file, finds the range of the pixels, and counts them.
//! Here the pass that copies also finds the range, or counts if the range is known. Images of 8 and
//! 16 bits never need a second pass, because every possible number has a counter.

use super::bins::{Bins, Bound, Division, Extremes, Frequencies};
use super::card::Value;
use super::feed::{Feed, Live, Reading};
use super::hdu::Source;
use super::image::Image;
use super::pass::{Nothing, Segment, Work, pass};
use super::select::Selector;
use super::table;
use super::write::Sink;
use crate::error::{Error, ErrorKind, Result};
use seekless_read::Plan;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Which image to count, and into which bins.
#[derive(Clone, Debug)]
pub struct Options {
    /// The FITS file to read.
    pub input: PathBuf,
    /// Which image of the file.
    pub hdu: Selector,
    /// The file to write.
    pub output: PathBuf,
    /// Lower and upper end of the range, both included. `None` takes the least or greatest pixel.
    pub range: (Option<f64>, Option<f64>),
    /// The width of a bin. If it is 0 or less, `bins` gives the number of bins instead.
    pub bin_size: f64,
    /// The number of bins, if `bin_size` is 0 or less.
    pub bins: Option<u64>,
    /// Replace an existing file at `output`.
    pub clobber: bool,
    /// Work as a plain program does: three passes in the order of the file, and output written
    /// through the page cache.
    pub linear: bool,
    /// The order of the bytes in each pass. With `linear` it is always that of the file.
    pub plan: Plan,
    /// Set this from another thread to stop the job.
    pub cancel: Arc<AtomicBool>,
}

impl Options {
    /// A histogram of the first image of `input`, over the range of its pixels, in `bins` bins.
    #[must_use]
    pub fn new(input: impl Into<PathBuf>, output: impl Into<PathBuf>, bins: u64) -> Self {
        Options {
            input: input.into(),
            hdu: Selector::FirstImage,
            output: output.into(),
            range: (None, None),
            bin_size: 0.0,
            bins: Some(bins),
            clobber: false,
            linear: false,
            plan: Plan::Best,
            cancel: Arc::default(),
        }
    }

    pub(super) fn plan(&self) -> Plan {
        if self.linear { Plan::Linear } else { self.plan }
    }

    fn division(&self) -> Result<Division> {
        let what = match self.bins {
            _ if self.bin_size > 0.0 && self.bin_size.is_finite() => {
                return Ok(Division::Size(self.bin_size));
            }
            Some(bins) if bins > 0 && self.bin_size <= 0.0 => return Ok(Division::Count(bins)),
            Some(_) => "a histogram needs at least one bin",
            None => {
                "a width of the bins that is not above 0 leaves it to their number: say that too"
            }
        };
        Err(Error::new(ErrorKind::Invalid, what))
    }
}

/// The result: the image, the range, and the counts.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The HDU of the image; the primary is 0.
    pub hdu: usize,
    /// Bits of a pixel; negative for floating point.
    pub bitpix: i64,
    /// The length of each axis.
    pub axes: Vec<u64>,
    /// Pixels of the image.
    pub pixels: u64,
    /// Lower end of the range.
    pub low: f64,
    /// Upper end of the range.
    pub high: f64,
    /// The width of a bin.
    pub bin_size: f64,
    /// The number of bins.
    pub bins: u64,
    /// Pixels in the bins.
    pub counted: u64,
    /// Pixels below the range.
    pub below: u64,
    /// Pixels above the range.
    pub above: u64,
    /// Undefined pixels.
    pub undefined: u64,
    /// The size of the output in bytes.
    pub output_bytes: u64,
    /// Bytes of zeros after the last HDU of the input, which were not copied.
    pub left_over_bytes: u64,
    /// How much was read, and from where.
    pub reading: Reading,
}

/// Copies a file and appends a histogram of one of its images. Calls `progress` with the bytes read
/// and an estimate of their total.
///
/// # Errors
/// The input is not a FITS file, is damaged, has no such image, or changes while it is read; or the
/// output cannot be written.
pub fn histogram(options: &Options, progress: &mut dyn FnMut(u64, u64)) -> Result<Report> {
    let source = Source::open(&options.input)?;
    let mut live = Live::new(options.plan(), &options.cancel, progress);
    let mut report = histogram_of(options, &source, &mut live)?;
    report.reading = live.reading;
    Ok(report)
}

/// The job, with the reading handed in: tests pass a feed of their own.
pub(super) fn histogram_of(
    options: &Options,
    source: &Source,
    feed: &mut dyn Feed,
) -> Result<Report> {
    let hdu = options.hdu.find(source)?;
    let image = Image::of(&source.hdus[hdu])?;
    let division = options.division()?;
    let mut sink = Sink::create(&options.output, options.clobber, options.linear)?;
    let (segments, copied) = copy_plan(source, &mut sink)?;
    let range = (options.range.0.map(Bound::real), options.range.1.map(Bound::real));
    let mut job =
        Job { source, image: &image, feed, sink: &mut sink, segments: &segments, range, division };
    let bins = if options.linear { job.three_passes()? } else { job.fewest_passes()? };
    let end = table::write(&bins, hdu, &mut sink, copied)?;
    let output_bytes = end.next_multiple_of(super::header::BLOCK_BYTES);
    source.check_unchanged()?;
    sink.publish(output_bytes)?;
    Ok(Report {
        hdu,
        bitpix: image.stored.bitpix(),
        pixels: image.pixels(),
        axes: image.axes,
        low: bins.low.real,
        high: bins.high.real,
        bin_size: bins.size,
        bins: bins.counts.len() as u64,
        counted: bins.counted(),
        below: bins.below,
        above: bins.above,
        undefined: bins.undefined,
        output_bytes,
        left_over_bytes: source.left_over,
        reading: Reading::default(),
    })
}

/// The bytes to copy unchanged, and where the copy ends. All is copied, but EXTEND is added to a
/// primary header that lacks it.
fn copy_plan(source: &Source, sink: &mut Sink) -> Result<(Vec<Segment>, u64)> {
    let primary = &source.hdus[0].header;
    let (mut input, mut output) = (0, 0);
    if !primary.is_true("EXTEND") {
        let mut header = primary.clone();
        header.set_after_axes("EXTEND", Value::Logical(true), "there are extensions");
        header.remove(&["CHECKSUM"]);
        let bytes = header.encode();
        sink.write(0, &bytes)?;
        (input, output) = (primary.bytes, bytes.len() as u64);
    }
    let copied = output + (source.end() - input);
    let whole = Segment { input: input..source.end().min(source.bytes), output };
    Ok((vec![whole].into_iter().filter(|segment| !segment.input.is_empty()).collect(), copied))
}

struct Job<'a> {
    source: &'a Source,
    image: &'a Image,
    feed: &'a mut dyn Feed,
    sink: &'a mut Sink,
    segments: &'a [Segment],
    range: (Option<Bound>, Option<Bound>),
    division: Division,
}

impl Job<'_> {
    fn three_passes(&mut self) -> Result<Bins> {
        self.copy(&mut Nothing)?;
        let mut extremes = Extremes::new(self.image);
        self.look(&mut extremes)?;
        let mut bins = self.bins(|| extremes.bounds())?;
        self.look(&mut bins)?;
        Ok(bins)
    }

    fn fewest_passes(&mut self) -> Result<Bins> {
        if let Some(mut frequencies) = Frequencies::new(self.image) {
            self.copy(&mut frequencies)?;
            return self.bins_of(&frequencies);
        }
        if matches!(self.range, (Some(_), Some(_))) {
            let mut bins = self.bins(|| None)?;
            self.copy(&mut bins)?;
            return Ok(bins);
        }
        let mut extremes = Extremes::new(self.image);
        self.copy(&mut extremes)?;
        let mut bins = self.bins(|| extremes.bounds())?;
        self.look(&mut bins)?;
        Ok(bins)
    }

    fn bins_of(&self, frequencies: &Frequencies) -> Result<Bins> {
        let values = frequencies.values();
        let mut extremes = Extremes::new(self.image);
        values.iter().for_each(|&(value, _)| extremes.add(value));
        let mut bins = self.bins(|| extremes.bounds())?;
        values.iter().for_each(|&(value, count)| bins.add(value, count));
        Ok(bins)
    }

    fn bins(&self, of_pixels: impl FnOnce() -> Option<(Bound, Bound)>) -> Result<Bins> {
        let (low, high) = match self.range {
            (Some(low), Some(high)) => (low, high),
            (low, high) => {
                let what = "has no pixel with a finite number: say the range";
                let none = || {
                    Error::new(ErrorKind::Invalid, format!("{} {what}", self.source.path.display()))
                };
                let (least, greatest) = of_pixels().ok_or_else(none)?;
                (low.unwrap_or(least), high.unwrap_or(greatest))
            }
        };
        Bins::new(self.image, low, high, self.division)
    }

    /// A pass that copies the file and does `work` on the image's pixels.
    fn copy(&mut self, work: &mut dyn Work) -> Result<()> {
        let segments = self.segments;
        self.go(segments, work)
    }

    /// A pass over the image alone.
    fn look(&mut self, work: &mut dyn Work) -> Result<()> {
        self.go(&[], work)
    }

    fn go(&mut self, segments: &[Segment], work: &mut dyn Work) -> Result<()> {
        let unit = (self.image.data.clone(), self.image.stored.bytes());
        pass(self.feed, self.source, segments, self.sink, unit, work)
    }
}
