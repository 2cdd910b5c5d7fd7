//! Trace, policy and device to figures.
