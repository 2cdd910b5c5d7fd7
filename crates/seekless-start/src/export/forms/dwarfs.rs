//! DwarFS: a path a line, relative to the input folder, each once. Defined by
//! src/writer/categorizer/hotness_categorizer.cpp of mhx/dwarfs; `--order=hotness::explicit:file=`
//! reads the same list.

use super::super::Listed;
use super::lines::line;
use std::io::{self, Write};

pub(in super::super) fn write(listed: &[Listed], out: &mut dyn Write) -> io::Result<()> {
    listed.iter().try_for_each(|file| line(out, &[&file.name]))
}
