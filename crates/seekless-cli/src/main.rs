//! The `seekless` command: everything lives in the library, so that xtask can see the flags.

use std::process::ExitCode;

fn main() -> ExitCode {
    seekless_cli::main()
}
