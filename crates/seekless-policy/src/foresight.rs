//! What a program will ask for: learned from its runs, read in its files, or announced by it.

pub mod alike;
pub mod future;
pub mod prediction;
pub mod references;
pub mod start;
