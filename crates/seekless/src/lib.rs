//! Find out what your program reads, and make those reads cheap.
//!
//! The facade: each crate of the house under its short name, no logic.

pub use seekless_device as device;
pub use seekless_engine as engine;
pub use seekless_io as io;
pub use seekless_measure as measure;
pub use seekless_pack as pack;
pub use seekless_policy as policy;
pub use seekless_record as record;
pub use seekless_report as report;
pub use seekless_sim as sim;
pub use seekless_sled as sled;
pub use seekless_sys as sys;
pub use seekless_tools as tools;
pub use seekless_trace as trace;
