//! Two of the astronomers' tools, cheapest bytes first: a histogram of an image, and an image of larger pixels
//! (Van Meter and Gao 2000, section 5.3: fimhisto and fimgbin of LHEASOFT).
//!
//! A FITS file is read by its headers (`header`, `hdu`) and its data in whatever order is cheapest (`feed`, `pass`); what is
//! made is written past the page cache (`write`), so that it does not push out the input. Neither result depends on the order.

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
