//! The program `seekless-gnu`: wc, grep and find, which `seekless` becomes. It may be called by a
//! tool's name itself.

use seekless_cli::stand_in;
use std::process::ExitCode;

fn main() -> ExitCode {
    stand_in::main()
}
