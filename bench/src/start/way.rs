//! The ways to start a program, by name.

use serde::Serialize;

/// A way to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Way {
    Plain,
    /// As it is, after a plain start: all is cached.
    Cached,
    Run,
    Wrong,
    Vmtouch,
    Preload,
    Mount,
    RunMount,
    Squashfuse,
    Auto,
    LaidPlain,
    LaidRun,
}

impl Way {
    /// The name in tables of results, with the program's.
    pub(super) fn contender(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Cached => "plain, all cached",
            Self::Run => "seekless run",
            Self::Wrong => "seekless run, wrong profile",
            Self::Vmtouch => "vmtouch -t",
            Self::Preload => "preload",
            Self::Mount => "seekless mount",
            Self::RunMount => "seekless run --mount",
            Self::Squashfuse => "squashfuse, zstd",
            Self::Auto => "seekless run --mount auto",
            Self::LaidPlain => "plain, after layout",
            Self::LaidRun => "seekless run, after layout",
        }
    }

    pub(super) fn name(self) -> String {
        let words = match self {
            Self::Plain => "plain",
            Self::Cached => "plain, cached",
            Self::Run => "run",
            Self::Wrong => "run, wrong profile",
            Self::Vmtouch => "vmtouch",
            Self::Preload => "preload",
            Self::Mount => "mount",
            Self::RunMount => "run --mount",
            Self::Squashfuse => "squashfuse",
            Self::Auto => "run --mount auto",
            Self::LaidPlain => "plain, laid",
            Self::LaidRun => "run, laid",
        };
        words.to_owned()
    }
}
