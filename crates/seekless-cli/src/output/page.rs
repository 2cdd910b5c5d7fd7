//! `--html`: a page to look at, for each verb whose figures make pictures.
//!
//! A verb gives the answer, its pictures and tables. What all pages end with is added here: how it
//! was found, and the command that repeats it.

use super::{Force, errors_are_shown, say, shown};
use anyhow::Context;
use clap::Args as ClapArgs;
use seekless::report::page::{Facts, Page};
use seekless::sys::output::{Content, Destination, Output};
use seekless::tools::advise::quoted;
use std::io::Write as _;
use std::path::PathBuf;

/// The option of every verb that writes a page.
#[derive(ClapArgs, Clone, Debug)]
pub struct HtmlFile {
    /// Write a page to look at: the answer, pictures, tables, and how it was found
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// A page that is written at the end of the work. It is begun before the work, so that a file that
/// may not be written fails at once.
#[derive(Debug)]
pub struct Html(Output);

impl HtmlFile {
    /// Whether the page goes to standard output.
    #[must_use]
    pub fn is_standard_output(&self) -> bool {
        self.html.as_ref().is_some_and(|path| Destination::from_word(path).is_standard_output())
    }

    /// Begins the page, if one is asked for.
    pub fn begin(&self, force: Force) -> anyhow::Result<Option<Html>> {
        let Some(path) = &self.html else { return Ok(None) };
        Ok(Some(Html(force.destination(path).create(Content::Text)?)))
    }
}

impl Html {
    /// Where it goes.
    #[must_use]
    pub fn destination(&self) -> &Destination {
        self.0.destination()
    }

    /// Writes the page, whole or not at all, and says so if somebody reads it. `found` says how its
    /// figures were found, and on what.
    pub fn write(mut self, page: Page, found: Vec<(&str, String)>) -> anyhow::Result<()> {
        let named = |(name, value): (&str, String)| (name.to_owned(), value);
        let rows = found.into_iter().filter(|(_, value)| !value.is_empty()).map(named);
        let version = ("Seekless".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        let facts =
            Facts { heading: "How it was found".to_owned(), rows: rows.chain([version]).collect() };
        let html = page.facts(facts).command(&repeated()).html();
        let written = self.0.write_all(html.as_bytes());
        written.with_context(|| format!("cannot write {}", shown(self.0.path())))?;
        let written =
            (!self.destination().is_standard_output()).then(|| shown(self.0.path()).into_owned());
        self.0.publish()?;
        if let Some(path) = written.filter(|_| errors_are_shown()) {
            say(format_args!("{path} is written: open it in a browser"));
        }
        Ok(())
    }
}

/// The command line that repeats this.
fn repeated() -> String {
    let words = std::env::args_os().skip(1);
    let words = words.map(|word| quoted(&word.to_string_lossy()));
    format!("seekless {}", words.collect::<Vec<_>>().join(" "))
}
