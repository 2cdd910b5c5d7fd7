//! Makes the traces of the sample's runs: records them, or imports them if the machine refuses
//! recording.

use super::options::Options;
use super::sample::Sample;
use seekless_job::{Error, ErrorKind, Result};
use seekless_record::{ErrorKind as Refusal, record};
use seekless_trace::import;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Writes the names of the files that a run loads, one a line.
pub(crate) fn write_list(list: &Path, sample: &Sample, run: &[usize]) -> Result<()> {
    let names: String = run.iter().map(|&file| format!("{}\n", sample.paths[file])).collect();
    write(list, &names)
}

/// Records the reader's run; `false` if the machine refuses recording.
pub(crate) fn record_run(
    options: &Options,
    tree: &Path,
    list: &Path,
    trace: &Path,
) -> Result<bool> {
    let Some((program, first)) = options.reader.split_first() else { return Ok(false) };
    let mut arguments = first.to_vec();
    arguments.extend([tree.as_os_str().to_owned(), list.as_os_str().to_owned()]);
    let recorded = match record(program, &arguments, trace, &seekless_record::Options::default()) {
        Ok(recorded) => recorded,
        Err(error) if error.kind() == Refusal::Refused => return Ok(false),
        Err(error) => {
            return Err(Error::because(
                ErrorKind::Record,
                "cannot record the sample's reader",
                error,
            ));
        }
    };
    if let Some(error) = recorded.unfinished {
        return Err(Error::because(ErrorKind::Record, "cannot record the sample's reader", error));
    }
    match recorded.status.code() {
        0 => Ok(true),
        code => {
            let message = format!("the sample's reader, {}, ended with {code}", program.display());
            Err(Error::new(ErrorKind::Record, message))
        }
    }
}

/// Writes a run as a CSV file with a load every 0.1 ms, and imports that as a trace.
pub(crate) fn import_run(csv: &Path, trace: &Path, sample: &Sample, run: &[usize]) -> Result<()> {
    let mut text = "time_s,path,size\n".to_owned();
    for (place, &file) in run.iter().enumerate() {
        let _ = writeln!(
            text,
            "{:.4},{},{}",
            place as f64 / 1e4,
            sample.paths[file],
            sample.bytes[file]
        );
    }
    write(csv, &text)?;
    let files: [PathBuf; 1] = [csv.to_path_buf()];
    import::csv(&files, trace, &import::Options::default(), &mut |_, _| {}).map_err(|error| {
        Error::because(ErrorKind::Trace, "cannot import the sample's run", error)
    })?;
    Ok(())
}

pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|error| {
        Error::because(ErrorKind::Io, format!("cannot write {}", path.display()), error)
    })
}
