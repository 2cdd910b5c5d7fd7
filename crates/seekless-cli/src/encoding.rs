//! The option of verbs that read archives of other tools: in which characters their names are.

use seekless::pack::NameEncoding;

/// In which characters names are.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct Names {
    /// The characters of names that an archive does not say to be UTF-8, such as cp932, gbk, cp866
    /// or windows-1252 [default: UTF-8 where they are that, else cp437]
    #[arg(long, value_name = "ENCODING")]
    names: Option<NameEncoding>,
}

impl Names {
    /// What was named, or the default.
    #[must_use]
    pub fn encoding(self) -> NameEncoding {
        self.names.unwrap_or_default()
    }
}
