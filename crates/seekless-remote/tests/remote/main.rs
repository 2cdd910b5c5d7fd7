//! What a read gives and what a written object is, whatever the server does.

mod common;
mod disk;
mod faults;
mod moto;
mod reads;
mod renewals;
mod updates;
mod writes;
