//! Exports one run as events that Perfetto's UI (ui.perfetto.dev) and chrome://tracing open: the
//! JSON of the Trace Event Format. A call is a slice on the track of its thread, a touch of a
//! mapped file an instant.

use super::BUFFER_BYTES;
use crate::error::{Error, ErrorKind, Result};
use crate::{Access, Columns, Op, Trace, errno};
use std::io::{self, BufWriter, Write};

/// Writes the calls, touches and fetches of a trace of one run, by time. Times are in microseconds
/// from the run's start. Calls `progress` with rows done and their sum.
///
/// # Errors
/// The trace cannot be read, has several runs, whose times overlap, or `out` cannot be written.
pub fn perfetto(
    trace: &Trace,
    out: &mut dyn Write,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<()> {
    let failed = |error| Error::io(trace.path(), "its events could not be written", error);
    let names = trace.file_names()?;
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, out);
    out.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[").map_err(failed)?;
    let (mut done, mut is_first, mut run) = (0, true, None);
    for batch in trace.scan(Columns::ALL)? {
        let batch = batch?;
        for access in (0..batch.rows()).filter_map(|row| batch.access(row)) {
            if *run.get_or_insert(access.run) != access.run {
                let message = "has several runs, whose events would lie over each other; take one \
                               with `seekless trace cut --run N`";
                return Err(Error::new(ErrorKind::Usage, trace.path(), message));
            }
            if matches!(access.op, Op::Load | Op::Release) {
                continue; // they stand beside the calls
            }
            let name = names.get(access.file as usize).map_or("", String::as_str);
            out.write_all(if is_first { b"\n" } else { b",\n" }).map_err(failed)?;
            event(&mut out, &access, name).map_err(failed)?;
            is_first = false;
        }
        done += batch.rows() as u64;
        progress(done, trace.rows());
    }
    out.write_all(b"\n]}\n").map_err(failed)?;
    out.flush().map_err(failed)
}

fn event(out: &mut impl Write, access: &Access, path: &str) -> io::Result<()> {
    let Access { op, time_ns, pid, tid, offset, bytes, .. } = access;
    let short = path.rsplit('/').next().unwrap_or(path);
    let name = serde_json::to_string(&format!("{op} {short}"))?;
    write!(out, "{{\"name\":{name},\"cat\":\"{op}\",\"pid\":{pid},\"tid\":{tid}")?;
    write!(out, ",\"ts\":{}.{:03}", time_ns / 1000, time_ns % 1000)?;
    match access.latency_ns {
        Some(ns) => write!(out, ",\"ph\":\"X\",\"dur\":{}.{:03}", ns / 1000, ns % 1000)?,
        None => write!(out, ",\"ph\":\"i\",\"s\":\"t\"")?,
    }
    write!(out, ",\"args\":{{\"path\":{}", serde_json::to_string(path)?)?;
    write!(out, ",\"offset\":{offset},\"bytes\":{bytes}")?;
    if let Some(error) = access.error {
        write!(out, ",\"error\":{}", serde_json::to_string(&errno::name_of(error))?)?;
    }
    out.write_all(b"}}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Metadata, Writer};

    fn written(accesses: &[Access]) -> (tempfile::TempDir, Result<String>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.parquet");
        let mut writer = Writer::create(&path, Metadata::default()).unwrap();
        let file = writer.file("/art/a \"wall\".dds");
        for access in accesses {
            writer.push(Access { file, ..*access }).unwrap();
        }
        writer.finish().unwrap();
        let mut out = Vec::new();
        let done = perfetto(&Trace::open(&path).unwrap(), &mut out, &mut |_, _| {});
        (folder, done.map(|()| String::from_utf8(out).unwrap()))
    }

    #[test]
    fn a_call_is_a_slice_and_a_touch_an_instant() {
        let read = Access {
            time_ns: 1_234_567,
            latency_ns: Some(2_005),
            offset: 4096,
            bytes: 100,
            pid: 7,
            tid: 8,
            ..Access::new(Op::Read, 0)
        };
        let missing =
            Access { error: Some(2), time_ns: 1, latency_ns: Some(0), ..Access::new(Op::Open, 0) };
        let touch = Access { time_ns: 2_000_000, ..Access::new(Op::Fault, 0) };
        let (_folder, text) = written(&[read, missing, touch, Access::new(Op::Load, 0)]);
        let json: serde_json::Value = serde_json::from_str(&text.unwrap()).unwrap();
        let events = json["traceEvents"].as_array().unwrap();
        assert_eq!(events.len(), 3, "loads stand beside their calls");
        assert_eq!(events[0]["args"]["error"], "ENOENT");
        let slice = &events[1];
        assert_eq!((&slice["ph"], &slice["name"]), (&"X".into(), &"read a \"wall\".dds".into()));
        assert_eq!((slice["ts"].as_f64(), slice["dur"].as_f64()), (Some(1234.567), Some(2.005)));
        assert_eq!((&slice["pid"], &slice["tid"]), (&7.into(), &8.into()));
        assert_eq!(slice["args"]["path"], "/art/a \"wall\".dds");
        assert_eq!((&events[2]["ph"], &events[2]["s"]), (&"i".into(), &"t".into()));
    }

    #[test]
    fn an_empty_trace_is_a_whole_document_and_several_runs_are_refused() {
        let (_folder, text) = written(&[]);
        let json: serde_json::Value = serde_json::from_str(&text.unwrap()).unwrap();
        assert_eq!(json["traceEvents"], serde_json::json!([]));
        let second = Access { run: 1, ..Access::new(Op::Open, 0) };
        let (_folder, text) = written(&[Access::new(Op::Open, 0), second]);
        assert!(text.unwrap_err().to_string().contains("trace cut --run"));
    }
}
