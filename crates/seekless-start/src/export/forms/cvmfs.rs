//! CernVM-FS: JSON that names the files to fetch when a trigger is opened, by their absolute paths
//! in the repository. It lies beside the trigger as `.cvmfsbundle-NAME`. Defined by pull request
//! 4002 of cvmfs/cvmfs. The trigger is the first file of the list.

use super::super::Listed;
use super::lines::text;
use serde_json::json;
use std::io::{self, Write};

pub(in super::super) fn write(listed: &[Listed], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(
        b"{\n  \"name\": \"CVMFS_BUNDLE\",\n  \"version\": \"1.0.0\",\n  \"encoding\": \"UTF-8\",\n  \
          \"dependencies\": [",
    )?;
    for (number, file) in listed.iter().skip(1).enumerate() {
        let comma = if number > 0 { "," } else { "" };
        write!(out, "{comma}\n    {}", json!(format!("/{}", text(&file.name))))?;
    }
    out.write_all(b"\n  ]\n}\n")
}
