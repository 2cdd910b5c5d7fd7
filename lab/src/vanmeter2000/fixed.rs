//! One match at a place chosen by what is cached: the last match inside, and the last match
//! outside. Inside, nothing should be read. What lies outside must enter the cache, or it would be
//! read again each time.

use super::files::Text;
use super::pass::{Pass, resident};
use super::series::Setting;
use super::task::{Question, Task, Tool};
use serde::Serialize;

/// Both places.
#[derive(Serialize)]
pub(super) struct Fixed {
    pub(super) inside: Option<Place>,
    pub(super) outside: Option<Place>,
}

/// A word that is searched again and again.
#[derive(Serialize)]
pub(super) struct Place {
    pub(super) offset: u64,
    /// All passes since the cache was warmed, including the first.
    pub(super) seekless: Vec<Pass>,
    pub(super) gnu: Vec<Pass>,
}

/// `None` if the text lies in several files.
pub(super) fn measure(
    setting: &Setting<'_>,
    text: &Text,
    passes: usize,
) -> anyhow::Result<Option<Fixed>> {
    // Places are those of one file.
    let [file] = setting.at.files else { return Ok(None) };
    warm(setting, Tool::Seekless)?;
    let kept = resident(file)?.runs;
    let is_kept =
        |place: u64| kept.iter().any(|run| run.contains(&place) && run.contains(&(place + 64)));
    let last =
        |wanted: bool| text.needles.iter().rev().find(|(_, place)| is_kept(*place) == wanted);
    let inside = last(true).map(|needle| place(setting, needle, passes, false)).transpose()?;
    let outside = last(false).map(|needle| place(setting, needle, passes, true)).transpose()?;
    Ok(Some(Fixed { inside, outside }))
}

fn place(
    setting: &Setting<'_>,
    needle: &(String, u64),
    passes: usize,
    warmed: bool,
) -> anyhow::Result<Place> {
    let task = Task::Holds(needle.0.clone());
    let repeat = |tool: Tool| {
        (0..passes).map(|_| setting.pass(tool, &task, None)).collect::<anyhow::Result<Vec<_>>>()
    };
    if warmed {
        warm(setting, Tool::Seekless)?;
    }
    let seekless = repeat(Tool::Seekless)?;
    warm(setting, Tool::Gnu)?;
    Ok(Place { offset: needle.1, seekless, gnu: repeat(Tool::Gnu)? })
}

/// From cold, reads the whole file twice by searching for a word that is not in it.
fn warm(setting: &Setting<'_>, tool: Tool) -> anyhow::Result<()> {
    setting.at.level.forget(setting.at.files)?;
    for _ in 0..2 {
        setting.pass(tool, &Question::OneMatch.warming(), None)?;
    }
    Ok(())
}

impl Place {
    /// Mean seconds from the second pass on, ours and GNU's.
    pub(super) fn steady(&self) -> (f64, f64) {
        let mean = |passes: &[Pass]| {
            let steady = &passes[1.min(passes.len() - 1)..];
            steady.iter().map(|pass| pass.seconds).sum::<f64>() / steady.len() as f64
        };
        (mean(&self.seekless), mean(&self.gnu))
    }
}
