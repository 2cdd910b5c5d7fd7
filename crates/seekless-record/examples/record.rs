//! Records a program, in a few lines: `record OUTPUT [FLAG...] PROGRAM ARGUMENT...`. The tests run
//! it as a process of its own, to see how it ends and which files it leaves after a kill. The
//! method is that of --method, else that of SEEKLESS_TEST_METHOD, else ptrace.

use seekless_record::{Grain, Method, Options, record};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1).peekable();
    let output = words.next().map(PathBuf::from).unwrap_or_default();
    let named = std::env::var("SEEKLESS_TEST_METHOD").unwrap_or_default();
    let usual = method(&named).unwrap_or(Method::Ptrace);
    let mut options = Options { method: usual, ..Options::default() };
    while let Some(flag) = words.next_if(|word| word.as_encoded_bytes().starts_with(b"--")) {
        match flag.to_str() {
            Some("--special") => options.special = true,
            Some("--method") => {
                match words.next().as_deref().and_then(|word| method(word.to_str()?)) {
                    Some(method) => options.method = method,
                    None => return usage(),
                }
            }
            Some("--ring") => {
                let bytes = words.next().and_then(|word| word.to_str()?.parse().ok());
                options.ring_bytes = bytes;
            }
            Some("--fetches") => options.fetches = true,
            Some("--force") => options.force = true,
            Some("--only") => {
                options.only.extend(words.next().and_then(|glob| glob.into_string().ok()))
            }
            Some("--exclude") => {
                options.exclude.extend(words.next().and_then(|glob| glob.into_string().ok()))
            }
            _ => return usage(),
        }
    }
    let Some(program) = words.next() else { return usage() };
    let arguments: Vec<OsString> = words.collect();
    match record(&program, &arguments, &output, &options) {
        Ok(recorded) => {
            if let Some(error) = recorded.unfinished {
                eprintln!("record: {error}");
            }
            recorded.status.imitate()
        }
        Err(error) => {
            eprintln!("record: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn method(name: &str) -> Option<Method> {
    Some(match name {
        "ptrace" => Method::Ptrace,
        "ebpf" => Method::Ebpf,
        "notify" => Method::Notify(Grain::Calls),
        "notify-files" => Method::Notify(Grain::Files),
        _ => return None,
    })
}

fn usage() -> ExitCode {
    eprintln!(
        "usage: record OUTPUT [--special] [--force] [--method METHOD] [--ring BYTES] [--only GLOB] [--exclude GLOB] PROGRAM ARGUMENT..."
    );
    ExitCode::from(125)
}
