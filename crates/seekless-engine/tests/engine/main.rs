//! One test binary: what every engine must do, and what the throttled one promises on top.

mod common;
mod failures;
mod reads;
mod throttled;
