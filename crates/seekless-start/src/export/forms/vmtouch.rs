//! vmtouch: a path a line, as files lie here (`-b` in the manual of hoytech/vmtouch).

use super::super::Listed;
use super::lines::line;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

pub(in super::super) fn write(listed: &[Listed], out: &mut dyn Write) -> io::Result<()> {
    listed.iter().try_for_each(|file| line(out, &[file.path.as_os_str().as_bytes()]))
}
