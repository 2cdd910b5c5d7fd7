//! The questions, the command line of each rival for each, and the right answers.

use super::files::{ABSENT, MARK};
use super::level::Level;
use super::programs::Programs;
use serde::Serialize;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The question of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Question {
    /// Figs. 7 to 9.
    CountLines,
    /// Fig. 10.
    AllMatches,
    /// Figs. 11 to 13.
    OneMatch,
    /// Fig. 14.
    Histogram,
    /// Fig. 15.
    RebinBy4,
    /// Fig. 15's text.
    RebinBy16,
}

/// One task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Task {
    CountLines,
    /// Prints the lines that hold the word.
    Matches(&'static str),
    /// Whether a line holds the word.
    Holds(String),
    Histogram,
    /// Boxes of this many pixels.
    Rebin(u32),
}

/// The rivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Tool {
    Seekless,
    Gnu,
    Uutils,
    Ripgrep,
    /// From the first byte to the last with RWF_DONTCACHE.
    DontCache,
    /// Seekless as a plain program: the plain order, several passes, output through the cache.
    SeeklessLinear,
    /// Seekless but for the order, which is the plain one.
    SeeklessPlainOrder,
}

impl Question {
    pub(super) fn is_of_images(self) -> bool {
        matches!(self, Question::Histogram | Question::RebinBy4 | Question::RebinBy16)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Question::CountLines => "wc -l",
            Question::AllMatches => "grep, all matches",
            Question::OneMatch => "grep -q, one match",
            Question::Histogram => "fimhisto",
            Question::RebinBy4 => "fimgbin, 4 times less data",
            Question::RebinBy16 => "fimgbin, 16 times less data",
        }
    }

    /// The rivals, first the plain program, with which the others are compared.
    pub(super) fn tools(self, programs: &Programs, level: &Level) -> Vec<Tool> {
        if !matches!(level, Level::Disk) {
            // A pass takes long there, and FUSE knows no RWF_DONTCACHE.
            let plain = if self.is_of_images() { Tool::SeeklessLinear } else { Tool::Gnu };
            return vec![plain, Tool::Seekless];
        }
        let mut tools = match self {
            Question::CountLines => vec![Tool::Gnu, Tool::Seekless, Tool::DontCache],
            Question::AllMatches | Question::OneMatch => {
                vec![Tool::Gnu, Tool::Seekless, Tool::DontCache]
            }
            _ => return vec![Tool::SeeklessLinear, Tool::Seekless, Tool::SeeklessPlainOrder],
        };
        if self == Question::CountLines && programs.uutils_wc.exists() {
            tools.push(Tool::Uutils);
        }
        if self != Question::CountLines && programs.ripgrep.exists() {
            tools.push(Tool::Ripgrep);
        }
        tools
    }

    /// The task that fills the cache: it reads the whole file.
    pub(super) fn warming(self) -> Task {
        match self {
            Question::CountLines => Task::CountLines,
            Question::AllMatches => Task::Matches(MARK),
            Question::OneMatch => Task::Holds(ABSENT.to_owned()),
            Question::Histogram => Task::Histogram,
            Question::RebinBy4 => Task::Rebin(2),
            Question::RebinBy16 => Task::Rebin(4),
        }
    }
}

impl Tool {
    pub(super) fn name(self) -> &'static str {
        match self {
            Tool::Seekless => "seekless",
            Tool::Gnu => "GNU",
            Tool::Uutils => "uutils",
            Tool::Ripgrep => "ripgrep",
            Tool::DontCache => "linear, RWF_DONTCACHE",
            Tool::SeeklessLinear => "linear, several passes",
            Tool::SeeklessPlainOrder => "plain order, as few passes",
        }
    }

    /// The tool that warms the cache for this one. A tool that reads past the cache would leave it
    /// empty.
    pub(super) fn warmer(self) -> Tool {
        if self == Tool::DontCache { Tool::Gnu } else { self }
    }
}

impl Programs {
    /// The program and its arguments.
    pub(super) fn command(
        &self,
        tool: Tool,
        task: &Task,
        inputs: &[PathBuf],
        output: &Path,
    ) -> Vec<OsString> {
        let (program, verb) = match (tool, task) {
            (Tool::Seekless, Task::CountLines) => (&*self.seekless, &["wc", "-l"][..]),
            (Tool::Gnu, Task::CountLines) => (&*self.wc, &["-l"][..]),
            (Tool::Uutils, _) => (&*self.uutils_wc, &["-l"][..]),
            (Tool::Seekless, Task::Matches(_)) => (&*self.seekless, &["grep"][..]),
            (Tool::Seekless, Task::Holds(_)) => (&*self.seekless, &["grep", "-q"][..]),
            (Tool::Gnu, Task::Holds(_)) => (&*self.grep, &["-q"][..]),
            (Tool::Gnu, _) => (&*self.grep, &[][..]),
            (Tool::Ripgrep, Task::Holds(_)) => (&*self.ripgrep, &["-q"][..]),
            (Tool::Ripgrep, _) => (&*self.ripgrep, &[][..]),
            (Tool::DontCache, Task::CountLines) => (&*self.lab, &[LINEAR, "--count"][..]),
            (Tool::DontCache, Task::Holds(_)) => (&*self.lab, &[LINEAR, "--quiet", "--word"][..]),
            (Tool::DontCache, _) => (&*self.lab, &[LINEAR, "--word"][..]),
            (_, Task::Rebin(_)) => (&*self.seekless, &["fits", "rebin"][..]),
            (_, _) => (&*self.seekless, &["fits", "histogram"][..]),
        };
        let mut words = vec![program.as_os_str().to_owned()];
        words.extend(verb.iter().map(OsString::from));
        match tool {
            Tool::SeeklessLinear => words.push("--linear".into()),
            Tool::SeeklessPlainOrder => words.extend(["--order".into(), "plain".into()]),
            _ => {}
        }
        match task {
            // Lines without the names of the files, of which there may be several.
            Task::Matches(word) if matches!(tool, Tool::Gnu | Tool::Seekless) => {
                words.extend(["-h".into(), word.into()]);
            }
            Task::Matches(word) => words.push(word.into()),
            Task::Holds(word) => words.push(word.into()),
            _ => {}
        }
        words.extend(inputs.iter().map(OsString::from));
        match task {
            // fimhisto's arguments: output, range, width of a bin. It finds the range in a separate
            // pass.
            Task::Histogram => words.extend([output.into(), "INDEF,INDEF".into(), "10".into()]),
            Task::Rebin(side) => words.extend([output.into(), side.to_string().into()]),
            _ => {}
        }
        words
    }
}

/// The lab's own subcommand for [`Tool::DontCache`].
pub(crate) const LINEAR: &str = "vanmeter2000-linear";

#[cfg(test)]
mod tests {
    use super::*;

    fn command(tool: Tool, task: &Task) -> String {
        let programs = Programs::installed("/s".into(), "/lab".into());
        let words = programs.command(tool, task, &["in".into()], Path::new("out"));
        words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_rival_is_asked_in_its_own_words() {
        assert_eq!(command(Tool::Seekless, &Task::CountLines), "/s wc -l in");
        assert_eq!(command(Tool::Gnu, &Task::Holds("x".to_owned())), "/usr/bin/grep -q x in");
        assert_eq!(
            command(Tool::DontCache, &Task::Matches("x")),
            "/lab vanmeter2000-linear --word x in"
        );
        assert_eq!(
            command(Tool::SeeklessLinear, &Task::Histogram),
            "/s fits histogram --linear in out INDEF,INDEF 10"
        );
        assert_eq!(
            command(Tool::SeeklessPlainOrder, &Task::Rebin(2)),
            "/s fits rebin --order plain in out 2"
        );
        assert_eq!(command(Tool::Seekless, &Task::Rebin(2)), "/s fits rebin in out 2");
    }

    #[test]
    fn the_plain_program_is_the_first_of_each() {
        let programs = Programs::installed("/s".into(), "/lab".into());
        for question in [Question::CountLines, Question::AllMatches, Question::OneMatch] {
            assert_eq!(question.tools(&programs, &Level::Disk)[..2], [Tool::Gnu, Tool::Seekless]);
        }
        assert_eq!(
            Question::Histogram.tools(&programs, &Level::Disk),
            [Tool::SeeklessLinear, Tool::Seekless, Tool::SeeklessPlainOrder]
        );
    }
}
