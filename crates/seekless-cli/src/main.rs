//! The program `seekless`: see `front`.

use std::process::ExitCode;

// A program waits for what `run` does before it starts.
seekless::sys::read_itself!();

fn main() -> ExitCode {
    seekless_cli::front::main()
}
