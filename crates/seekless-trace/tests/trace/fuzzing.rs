//! Runs the fuzz targets that read traces on their seeds and on mutations. `fuzz/README.md` shows
//! how to fuzz for longer.

#![expect(unreachable_pub, reason = "the fuzz targets' own crate exports what these files hold")]

#[path = "../../../../fuzz/src/drive.rs"]
mod drive;
#[path = "../../../../fuzz/src/trace.rs"]
mod trace;

use drive::drive;

#[test]
fn any_bytes_as_a_parquet_trace() {
    drive("trace_parquet", trace::parquet);
}

#[test]
fn any_bytes_as_a_spool() {
    drive("trace_spool", trace::spool);
}

#[test]
fn any_bytes_as_text() {
    drive("trace_text", trace::text);
}
