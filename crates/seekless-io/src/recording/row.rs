//! One event as a line of CSV. The word for the event stands last, so that a line that was cut
//! short is seen.

use crate::event_stripe::Event;
use std::io::Write;

pub(super) const HEADER: &str = "time_ns,pid,tid,lost,path,bytes,file_bytes,op\n";

/// Adds the line of `event`, before which `lost` others are missing. The file is called `name` and
/// has `file_bytes` bytes.
pub(super) fn write(text: &mut Vec<u8>, event: &Event, lost: u64, name: &str, file_bytes: u64) {
    let Event { time_ns, tid, released, .. } = *event;
    let (bytes, op) = if released { (0, "release") } else { (file_bytes, "load") };
    let pid = std::process::id();
    // Writing to memory cannot fail.
    let _ = write!(text, "{time_ns},{pid},{tid},{lost},");
    field(text, name);
    let _ = writeln!(text, ",{bytes},{file_bytes},{op}");
}

/// As RFC 4180 quotes it.
fn field(text: &mut Vec<u8>, name: &str) {
    if !name.contains([',', '"', '\n', '\r']) && name.trim() == name {
        return text.extend_from_slice(name.as_bytes());
    }
    text.push(b'"');
    for part in name.split_inclusive('"') {
        text.extend_from_slice(part.as_bytes());
        if part.ends_with('"') {
            text.push(b'"');
        }
    }
    text.push(b'"');
}
