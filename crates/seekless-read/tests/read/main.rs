//! SLEDs and readers on file systems, and for users, that a unit test does not have. Each test runs
//! again in a process that has them.

mod other_user;
mod overlay;
mod support;
