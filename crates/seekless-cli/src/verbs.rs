//! The program `seekless-verbs`, which `seekless` becomes. All its code is in the library, so that
//! tests can reach it.

use std::process::ExitCode;

fn main() -> ExitCode {
    seekless_cli::main()
}
