//! The real device: cold trials of workloads side by side.
