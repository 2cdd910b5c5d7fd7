//! What the system says of an error.

use std::io;

/// The words of an error without the number that Rust puts behind them: `No such file or
/// directory`, as C programs print it.
///
/// ```
/// let error = std::fs::read("/no/such/file").unwrap_err();
/// assert_eq!(error.to_string(), "No such file or directory (os error 2)");
/// assert_eq!(seekless_sys::reason(&error), "No such file or directory");
/// ```
#[must_use]
pub fn reason(error: &io::Error) -> String {
    let mut text = error.to_string();
    if let Some(number) = text.find(" (os error") {
        text.truncate(number);
    }
    text
}
