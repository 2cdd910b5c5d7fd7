//! The labs in their small settings: one binary, a file each.

mod nbdkit;
mod ozen2018;
mod small;
mod vanmeter2000;
