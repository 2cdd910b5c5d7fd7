//! Where files lie in an archive, which reads fetch them at least cost, and in which order an epoch
//! of a training reads them.

pub mod extents;
pub mod ordering;
pub mod shuffle;
