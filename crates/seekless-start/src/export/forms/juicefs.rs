//! JuiceFS: `PATH [START-END;...]` a line, the end not included, where PATH lies below the mount
//! point. Defined by `parseRanges` in pkg/vfs/fill.go of juicedata/juicefs (pull request 7398).

use super::super::Listed;
use super::lines::line;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

pub(in super::super) fn write(listed: &[Listed], out: &mut dyn Write) -> io::Result<()> {
    listed.iter().try_for_each(|file| {
        // Ranges stand behind every name, so that a name that ends in brackets is still a name.
        let ranges: Vec<String> =
            file.ranges.iter().map(|range| format!("{}-{}", range.offset, range.end())).collect();
        let ranges = format!(" [{}]", ranges.join(";"));
        line(out, &[file.path.as_os_str().as_bytes(), ranges.as_bytes()])
    })
}
