//! `seekless doctor`: which facilities of the kernel are usable here, and what each missing one
//! costs.

mod about;
mod words;

use crate::output;
use seekless::tools::doctor::{Examined, Facility, Finding, examine};
use seekless::tools::leftovers::{self, Leftover};
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Show which kernel facilities are usable here, and what each missing one costs.
///
/// Each facility is tried for a moment, by the code that uses it: a ring is made, a file is read
/// past the page cache, a child is attached, a program is loaded into the kernel. Nothing is
/// changed or left behind. Facilities of the file system are tried with a file of 2 MiB without a
/// name in FOLDER.
///
/// Refused facilities are listed with the reason, what Seekless does instead, what that costs, and
/// how to get them. Files that killed verbs left in your folders are counted. Run it as the user,
/// in the container and on the file system that you will use: each decides differently.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless doctor
  seekless doctor /mnt/data                       what this file system allows
  sudo seekless doctor                            what root may do here
  seekless doctor --json | jq '.facilities[] | select(.usable | not) | .name'

Exit status: 0, also if facilities are missing; 2 if they could not be tried.")]
pub struct Args {
    /// The folder whose file system is tried
    #[arg(value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

/// Tries everything and prints what was found.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let examined = examine(&args.folder)?;
    if args.json {
        output::json(&Report::new(&examined))?;
    } else {
        let colour = output::is_shown() && std::env::var_os("NO_COLOR").is_none();
        output::coloured(&words::report(&examined, &leftovers::list(), colour))?;
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Report<'a> {
    kernel: &'a str,
    architecture: &'static str,
    root: bool,
    folder: String,
    file_system: Option<&'a str>,
    device: Option<&'a str>,
    facilities: Vec<Row<'a>>,
    /// What killed verbs have left.
    left: Vec<Leftover>,
}

#[derive(Serialize)]
struct Row<'a> {
    facility: Facility,
    name: &'static str,
    about: &'static str,
    usable: bool,
    why: Option<&'a str>,
    verbs: &'static [&'static str],
    instead: &'static str,
    cost: &'static str,
    get: &'static str,
}

impl<'a> Report<'a> {
    fn new(examined: &'a Examined) -> Self {
        Report {
            kernel: &examined.kernel,
            architecture: std::env::consts::ARCH,
            root: examined.root,
            folder: examined.folder.to_string_lossy().into_owned(),
            file_system: examined.file_system.as_deref(),
            device: examined.device.as_deref(),
            facilities: examined.findings.iter().map(Row::new).collect(),
            left: leftovers::list(),
        }
    }
}

impl<'a> Row<'a> {
    fn new(finding: &'a Finding) -> Self {
        let about = about::about(finding.facility);
        Row {
            facility: finding.facility,
            name: about.name,
            about: about.what,
            usable: finding.usable,
            why: finding.why.as_deref(),
            verbs: about.verbs,
            instead: about.instead,
            cost: about.cost,
            get: about.get,
        }
    }
}
