//! Records what a program needs for the first time, in a few lines: `needed OUTPUT PROGRAM
//! ARGUMENT...`. Each line of the output is a range (how, offset, bytes, file) or a name that was
//! looked up. The tests run it as a process of its own.

use seekless_record::record_needed;
use std::ffi::OsString;
use std::fmt::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let (Some(output), Some(program)) = (words.next(), words.next()) else {
        eprintln!("usage: needed OUTPUT PROGRAM ARGUMENT...");
        return ExitCode::from(125);
    };
    let arguments: Vec<OsString> = words.collect();
    let needed = match record_needed(&program, &arguments) {
        Ok(needed) => needed,
        Err(error) => {
            eprintln!("needed: {error}");
            return ExitCode::from(error.exit_code());
        }
    };
    let mut text = format!("lost {}\nunnamed {}\n", needed.lost, needed.unnamed);
    for need in &needed.needs {
        let name = &needed.names[need.file as usize];
        let how = if need.mapped { "touched" } else { "read" };
        let _ = writeln!(text, "{how} {} {} {name}", need.offset, need.bytes);
    }
    for (name, is_listed) in &needed.looks {
        let _ = writeln!(text, "{} {name}", if *is_listed { "listed" } else { "looked" });
    }
    if let Err(error) = std::fs::write(&output, text) {
        eprintln!("needed: {}: {error}", output.display());
        return ExitCode::from(125);
    }
    needed.status.imitate()
}
