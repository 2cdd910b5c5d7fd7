//! A histogram of a FITS image, and an image of larger pixels, reading the cheapest bytes first.
//!
//! **Invariant:** no order of pieces changes a result; a damaged header is an error with its
//! offset.
//!
//! Astronomers keep images in FITS files, often larger than memory. fimhisto and fimgbin of
//! LHEASOFT read such a file once or more. Van Meter and Gao (2000, section 5.3) changed both to
//! read first what the page cache holds. This crate has the same two tools:
//!
//! * [`histogram()`] copies a file and appends a table with the histogram of one of its images.
//! * [`rebin()`] replaces an image by one whose pixels are sums of boxes of the old pixels.
//!
//! Neither result depends on the order in which the bytes arrive. Counts can be added in any order,
//! and a box is summed only when all of its rows are there. So the file is read by
//! [`seekless_read`], which delivers cached bytes first. The output is written past the page cache,
//! so that it does not evict the input.
//!
//! # How it works
//!
//! [`Selector`] names one of the HDUs (header and data units) of a file. `hdu` walks the headers
//! and finds where the data lie; `header`, `card` and `wcs` read and change headers. `image`
//! describes how pixels are stored. `feed` reads the file in pieces, and `pass` gives each piece to
//! the copy and to the work, which is `bins` or `boxes`. `write` puts the output together.
//!
//! # Example
//!
//! A file with one image of 2 by 2 pixels, and its histogram in 2 bins:
//!
//! ```
//! use seekless_fits::{HistogramOptions, histogram};
//!
//! # let folder = tempfile::tempdir()?;
//! # let (input, output) = (folder.path().join("in.fits"), folder.path().join("out.fits"));
//! let cards = ["SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 2", "NAXIS1  = 2", "NAXIS2  = 2", "END"];
//! let mut file: String = cards.map(|card| format!("{card:80}")).concat();
//! file += &" ".repeat(2880 - file.len());
//! file += "\u{0}\u{1}\u{2}\u{9}"; // the pixels, a byte each
//! file += &"\0".repeat(2880 - 4);
//! std::fs::write(&input, file)?;
//!
//! let options = HistogramOptions::new(&input, &output, 2);
//! let report = histogram(&options, &mut |_done, _total| {})?;
//! assert_eq!((report.low, report.high, report.bin_size), (0.0, 9.0, 4.5));
//! assert_eq!((report.pixels, report.counted), (4, 4));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bins;
mod boxes;
mod card;
mod error;
mod feed;
mod hdu;
mod header;
mod histogram;
mod image;
mod pass;
mod rebin;
mod select;
mod table;
#[cfg(test)]
mod tests;
mod wcs;
mod write;

pub use bins::BINS_MAX;
pub use error::{Error, ErrorKind, Result};
pub use feed::Reading;
pub use histogram::{Options as HistogramOptions, Report as HistogramReport, histogram};
pub use rebin::{DataType, Options as RebinOptions, Report as RebinReport, rebin};
pub use select::Selector;
