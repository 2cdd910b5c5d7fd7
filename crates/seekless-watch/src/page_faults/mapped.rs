//! What a process has mapped now: /proc/PID/maps (proc_pid_maps(5)).

use super::event::Mapped;
use seekless_sys::escape::unescaped;
use std::io;
use std::os::unix::ffi::OsStringExt;

/// The files that process `pid` has mapped, by their addresses. Memory without a file is left out.
///
/// # Errors
/// There is no such process, or it may not be looked at.
pub fn mapped_now(pid: i32) -> io::Result<Vec<Mapped>> {
    let text = std::fs::read(format!("/proc/{pid}/maps"))?;
    Ok(text.split(|byte| *byte == b'\n').filter_map(mapped).collect())
}

/// `7f12000-7f13000 r--p 00000000 fe:00 1234        /path`. The name is the rest of the line.
fn mapped(line: &[u8]) -> Option<Mapped> {
    const NAME_FIELD: usize = 5;
    let mut rest = line;
    let mut fields = Vec::with_capacity(NAME_FIELD);
    for _ in 0..NAME_FIELD {
        let end = rest.iter().position(|byte| *byte == b' ')?;
        fields.push(std::str::from_utf8(&rest[..end]).ok()?);
        rest = &rest[end + 1..];
    }
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let (start, end) = fields[0].split_once('-')?;
    let (major, minor) = fields[3].split_once(':')?;
    let inode = fields[4].parse().ok().filter(|inode| *inode != 0)?;
    let address = hex(start)?;
    Some(Mapped {
        address,
        bytes: hex(end)?.checked_sub(address)?,
        offset: hex(fields[2])?,
        device: rustix::fs::makedev(hex(major)? as u32, hex(minor)? as u32),
        inode,
        name: name(rest.trim_ascii_start()),
    })
}

/// Only line ends are escaped there; a name that is not UTF-8 has none, most likely.
fn name(bytes: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.contains("\\012") => unescaped(text).into_vec(),
        _ => bytes.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_file_is_understood_and_memory_is_left_out() {
        let line = b"7f00-8f00 r-xp 00001000 fe:01 1234                  /a b/libc.so (deleted)";
        let expected = Mapped {
            address: 0x7f00,
            bytes: 0x1000,
            offset: 0x1000,
            device: rustix::fs::makedev(0xfe, 1),
            inode: 1234,
            name: b"/a b/libc.so (deleted)".to_vec(),
        };
        assert_eq!(mapped(line), Some(expected));
        assert_eq!(mapped(b"7f00-8f00 rw-p 00000000 00:00 0      [heap]"), None);
        assert_eq!(mapped(b"7f00-8f00 rw-p 00000000 00:00 0 "), None);
        assert_eq!(mapped(b""), None);
    }

    #[test]
    fn this_program_has_itself_mapped() {
        let own = std::env::current_exe().unwrap();
        let mapped = mapped_now(std::process::id() as i32).unwrap();
        let is_own = |it: &Mapped| it.name == own.as_os_str().as_encoded_bytes();
        assert!(mapped.iter().any(is_own), "{mapped:?}");
    }
}
