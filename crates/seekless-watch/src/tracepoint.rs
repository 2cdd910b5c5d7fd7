//! The kernel's tracepoints: whether there is one, its number, and where its fields lie in its
//! record. The kernel says so in the event's `format` file; places differ between versions.
//!
//! tracefs need not be mounted: where it is not, this process mounts one for itself alone.

use crate::perf::{u16_at, u32_at, u64_at};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};

const MOUNTED: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// The file system of the kernel's tracepoints.
pub(crate) fn tracefs() -> io::Result<OwnedFd> {
    let folder = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    for path in MOUNTED {
        let Ok(found) = openat(CWD, path, folder, Mode::empty()) else { continue };
        if openat(&found, "events", folder, Mode::empty()).is_ok() {
            return Ok(found);
        }
    }
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(context.as_fd())?;
    let flags = MountAttrFlags::MOUNT_ATTR_RDONLY;
    Ok(fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, flags)?)
}

/// What the kernel says of a tracepoint, such as `block/block_rq_issue`.
///
/// # Errors
/// This kernel has none of that name, or keeps it from this process.
pub(crate) fn format(tracefs: &OwnedFd, event: &str) -> io::Result<String> {
    let path = format!("events/{event}/format");
    let file = openat(tracefs, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let mut format = String::new();
    File::from(file).read_to_string(&mut format)?;
    Ok(format)
}

/// The number of a tracepoint, by which perf events name it.
pub(crate) fn number(format: &str) -> io::Result<u64> {
    let found = format.lines().find_map(|line| line.strip_prefix("ID: ")?.trim().parse().ok());
    found.ok_or_else(|| io::Error::other("a tracepoint of the kernel has no number"))
}

/// A field: its first byte and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) offset: usize,
    pub(crate) bytes: usize,
}

impl Field {
    /// Finds a field in the text of a `format` file.
    pub(crate) fn find(format: &str, name: &str) -> io::Result<Self> {
        let found = format.lines().find_map(|line| parse(line).filter(|field| field.0 == name));
        found.map(|(_, field)| field).ok_or_else(|| {
            let message = format!("a tracepoint of the kernel has no field `{name}`");
            io::Error::new(io::ErrorKind::Unsupported, message)
        })
    }

    /// The field's bytes; `None` if the record is too short.
    pub(crate) fn of<'a>(&self, record: &'a [u8]) -> Option<&'a [u8]> {
        record.get(self.offset..self.offset.checked_add(self.bytes)?)
    }

    /// A whole number of two, four or eight bytes.
    pub(crate) fn number(&self, record: &[u8]) -> Option<u64> {
        let field = self.of(record)?;
        match field.len() {
            2 => Some(u16_at(field, 0).into()),
            4 => Some(u32_at(field, 0).into()),
            8 => Some(u64_at(field, 0)),
            _ => None,
        }
    }
}

/// `field:char rwbs[10];  offset:34;  size:10;  signed:0;`, with tabs between.
fn parse(line: &str) -> Option<(&str, Field)> {
    let mut parts = line.trim().split(';').map(str::trim);
    let declared = parts.next()?.strip_prefix("field:")?;
    let name = declared.rsplit(' ').next()?.split('[').next()?;
    let mut number = |label: &str| parts.next()?.strip_prefix(label)?.parse().ok();
    let (offset, bytes) = (number("offset:")?, number("size:")?);
    Some((name, Field { offset, bytes }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: &str = "name: block_rq_issue\nID: 2104\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
        \tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n\
        \tfield:__data_loc char[] cmd;\toffset:60;\tsize:4;\tsigned:0;\n\nprint fmt: \"%d\"";

    #[test]
    fn fields_lie_where_the_format_says() {
        assert_eq!(Field::find(FORMAT, "rwbs").unwrap(), Field { offset: 34, bytes: 10 });
        let sector = Field::find(FORMAT, "sector").unwrap();
        let mut record = [0; 60];
        record[16..18].copy_from_slice(&[1, 2]);
        assert_eq!(sector.number(&record), Some(513));
        assert_eq!(sector.number(&record[..20]), None, "cut off");
        assert!(Field::find(FORMAT, "nr_sector").unwrap_err().to_string().contains("nr_sector"));
    }
}
