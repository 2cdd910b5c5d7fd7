//! The program `seekless`: see `front`.

use std::process::ExitCode;

fn main() -> ExitCode {
    seekless_cli::front::main()
}
