//! What a read gives and what a written object is, whatever the server does.

mod common;
mod disk;
mod faults;
mod moto;
mod reads;
mod updates;
mod writes;
