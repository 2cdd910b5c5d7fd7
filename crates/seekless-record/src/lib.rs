//! From a running program to a trace.
