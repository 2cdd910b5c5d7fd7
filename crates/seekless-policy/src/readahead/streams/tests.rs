//! The windows of each pattern, what they are worth on modelled devices, and what always holds.

mod bars;
mod patterns;
mod properties;
mod timed;
mod windows;
