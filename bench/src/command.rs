//! The command that a bench measures, and an older one beside it.

use crate::folder::Folder;
use crate::rounds::Rival;
use anyhow::{Context, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Options of every bench that runs the command.
#[derive(clap::Args, Debug)]
pub(crate) struct Commands {
    /// The command to measure [default: `seekless` beside this program]
    #[arg(long, value_name = "FILE")]
    seekless: Option<PathBuf>,
    /// An older command, which takes turns with the others: is the new one as fast?
    #[arg(long, value_name = "FILE")]
    beside: Option<PathBuf>,
    /// A folder for the files, removed at the end
    #[arg(long, visible_alias = "dir", value_name = "DIR", default_value = "/var/tmp")]
    pub(crate) folder: PathBuf,
    /// Prints figures as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl Commands {
    /// The command to measure.
    pub(crate) fn ours(&self) -> anyhow::Result<PathBuf> {
        let ours = match &self.seekless {
            Some(path) => path.clone(),
            None => std::env::current_exe()?.with_file_name("seekless"),
        };
        let hint = "not there; build it (`./run --version`) or name it with --seekless";
        ensure!(ours.exists(), "{}: {hint}", ours.display());
        Ok(ours)
    }

    /// The older command, if one is named.
    pub(crate) fn older(&self) -> anyhow::Result<Option<&Path>> {
        if let Some(older) = &self.beside {
            ensure!(older.exists(), "{}: not there; --beside names a program", older.display());
        }
        Ok(self.beside.as_deref())
    }

    /// The command to measure, and the older one if one is named, each run with `verb` from a copy
    /// in `folder`.
    pub(crate) fn rivals(
        &self,
        folder: &Folder,
        verb: &str,
    ) -> anyhow::Result<(Rival, Option<Rival>)> {
        let rival = |name: &str, program: &Path| -> anyhow::Result<Rival> {
            Ok(Rival::new(name, &folder.installed(program, name)?, &[verb]))
        };
        let older = self.older()?.map(|program| rival("older", program)).transpose()?;
        Ok((rival("seekless", &self.ours()?)?, older))
    }
}

/// Runs a command that must succeed; what it says on standard error is shown if it does not.
pub(crate) fn succeed(command: &mut Command) -> anyhow::Result<()> {
    let output = command.stderr(Stdio::piped()).output();
    let output = output.with_context(|| format!("cannot run {command:?}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} failed: {said}");
    Ok(())
}

/// All that take turns: ours first, then the rivals, the older command last.
pub(crate) struct Field {
    pub(crate) all: Vec<Rival>,
    with_older: bool,
}

impl Field {
    pub(crate) fn new(ours: Rival, rivals: Vec<Rival>, older: Option<Rival>) -> Self {
        let with_older = older.is_some();
        let all = [ours].into_iter().chain(rivals).chain(older).collect();
        Field { all, with_older }
    }

    /// The names, and what the last columns say.
    pub(crate) fn header(&self) -> Vec<&str> {
        let names = self.all.iter().map(|rival| rival.name.as_str()).chain(["ratio"]);
        names.chain(self.with_older.then_some("older / ours")).collect()
    }

    /// What became of the seconds of each.
    pub(crate) fn ratios(&self, seconds: &[f64]) -> Ratios {
        let rivals = &seconds[1..seconds.len() - usize::from(self.with_older)];
        let best = rivals.iter().copied().fold(f64::INFINITY, f64::min);
        let older = self.with_older.then(|| seconds[seconds.len() - 1] / seconds[0]);
        Ratios { ratio: best / seconds[0], older_ratio: older }
    }
}

/// How one run of ours compares.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub(crate) struct Ratios {
    /// The best rival's seconds divided by ours.
    ratio: f64,
    /// The older command's seconds divided by ours.
    older_ratio: Option<f64>,
}

impl Ratios {
    pub(crate) fn cells(&self) -> impl Iterator<Item = String> {
        [Some(self.ratio), self.older_ratio]
            .into_iter()
            .flatten()
            .map(|ratio| format!("{ratio:.2}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rival(name: &str) -> Rival {
        Rival::new(name, Path::new(name), &[])
    }

    #[test]
    fn an_older_command_is_no_rival() {
        let rivals = || vec![rival("GNU"), rival("uutils")];
        let field = Field::new(rival("seekless"), rivals(), Some(rival("older")));
        let header = ["seekless", "GNU", "uutils", "older", "ratio", "older / ours"];
        assert_eq!(field.header(), header);
        let ratios = field.ratios(&[2.0, 6.0, 5.0, 1.0]);
        assert_eq!(ratios, Ratios { ratio: 2.5, older_ratio: Some(0.5) });
        let field = Field::new(rival("seekless"), rivals(), None);
        assert_eq!(field.header(), ["seekless", "GNU", "uutils", "ratio"]);
        let ratios = field.ratios(&[2.0, 6.0, 5.0]);
        assert_eq!(ratios, Ratios { ratio: 2.5, older_ratio: None });
    }

    #[test]
    fn two_commands_of_one_file_name_are_two_programs() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::in_(parent.path()).unwrap();
        let program = |folder: &str, says: &str| {
            let path = parent.path().join(folder).join("seekless");
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, format!("#!/bin/sh\necho {says} $1\n")).unwrap();
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
                .unwrap();
            Some(path)
        };
        let (seekless, beside) = (program("new", "new"), program("old", "old"));
        let commands = Commands { seekless, beside, folder: parent.path().to_owned(), json: false };
        let (ours, older) = commands.rivals(&folder, "wc").unwrap();
        let said = |rival: Rival| rival.run::<&str>([], "C").unwrap().0;
        assert_eq!(said(ours), b"new wc\n");
        assert_eq!(said(older.unwrap()), b"old wc\n");
    }
}
