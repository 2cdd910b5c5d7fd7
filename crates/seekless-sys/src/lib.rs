//! Safe faces of the Linux calls that no crate offers.
