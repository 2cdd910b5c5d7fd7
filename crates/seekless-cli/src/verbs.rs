//! The program `seekless-verbs`, which `seekless` becomes: everything lives in the library, so that tests can see the flags.

use std::process::ExitCode;

fn main() -> ExitCode {
    seekless_cli::main()
}
