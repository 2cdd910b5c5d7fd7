//! The labs in their quick settings: one binary, a file each.

mod nbdkit;
mod ozen2018;
mod quick;
mod vanmeter2000;
