//! What holds whatever is read.
