//! Records a program, in a dozen lines: `record OUTPUT [--special] PROGRAM ARGUMENT...`. The tests drive it as a process of
//! its own, to see how it ends and what its being killed leaves.

use seekless_record::{Options, record};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let special = words.iter().position(|word| word == "--special").is_some_and(|at| at == 1);
    words.retain(|word| !special || word != "--special");
    let [output, program, arguments @ ..] = words.as_slice() else {
        eprintln!("usage: record OUTPUT [--special] PROGRAM ARGUMENT...");
        return ExitCode::from(125);
    };
    let options = Options { special, ..Options::default() };
    match record(program, arguments, &PathBuf::from(output), &options) {
        Ok(recorded) => recorded.status.imitate(),
        Err(error) => {
            eprintln!("record: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
