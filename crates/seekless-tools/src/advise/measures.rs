//! What would help, from what is expected of each and what was measured of the plain start.

use super::advice::{Advice, Found, Measure, spread};
use super::expected::Expected;
use super::searches::Search;
use super::shell::{quoted, words};

/// A measure that gains less is not offered: this share of the start, and seconds.
pub(super) const GAIN_MIN: f64 = 0.05;
pub(super) const GAIN_MIN_S: f64 = 0.02;
/// A simulation is off by this share of what it says is gained, where nothing else is known.
const MODEL_ERROR: f64 = 0.15;
/// Measured and simulated wait of the plain start may differ by this factor; beyond it the model is
/// of another device.
const CORRECTION_MAX: f64 = 4.0;

/// The names of measures, which `verify` knows too.
pub(super) const RUN: &str = "run: bring its files in beside it";
pub(super) const PACK: &str = "pack: see its files in one pack (--mount auto)";
pub(super) const WARM: &str = "warm: bring its files in beside it";
const LAYOUT: &str = "layout: lay its files in order, then run";

impl Measure {
    /// Whether it brings files in beside the program, without further work.
    #[must_use]
    pub fn brings_in(&self) -> bool {
        [RUN, WARM].contains(&self.what.as_str())
    }
}

/// Adds what would help, best first, and what would not.
pub(super) fn add(advice: &mut Advice, expected: &Expected) {
    let mut offers = vec![
        offer_run(advice, expected),
        offer_pack(advice, expected),
        offer_layout(advice, expected),
        offer_readahead(advice),
    ];
    offers.extend(advice.searches.iter().map(|search| offer_search(advice, search)));
    let cold_s = advice.starts.cold_median_s;
    let (mut worth, useless): (Vec<Measure>, Vec<Measure>) =
        offers.into_iter().flatten().partition(|it| is_worth(cold_s, it.start_s));
    worth.sort_by(|one, other| one.start_s.total_cmp(&other.start_s));
    advice.useless = useless.into_iter().map(|it| (it.what, it.start_s)).collect();
    // What takes more work has to gain more than what does without.
    let run_s = worth.iter().find(|it| it.what == RUN).map(|it| it.start_s);
    // A shorter search path also helps beside any other.
    let is_search = |it: &Measure| advice.searches.iter().any(|search| search.what() == it.what);
    worth.retain(|it| {
        it.what == RUN
            || is_search(it)
            || run_s.is_none_or(|run_s| run_s - it.start_s >= GAIN_MIN_S)
    });
    advice.measures = worth;
}

/// Whether a start is so much shorter that it is worth a measure.
pub(super) fn is_worth(cold_s: f64, start_s: f64) -> bool {
    cold_s - start_s >= GAIN_MIN_S.max(GAIN_MIN * cold_s)
}

/// `run`, as it is expected, if it is not offered.
pub(super) fn run_not_offered(advice: &Advice) -> Option<Measure> {
    let (what, start_s) = advice.useless.iter().find(|(useless, _)| useless == RUN)?;
    let wait_s = (start_s - advice.starts.cached_median_s).max(0.0);
    Some(Measure {
        what: what.clone(),
        wait_s,
        start_s: *start_s,
        error_s: spread(&advice.starts.cold_s),
        commands: vec![run(advice)],
        found: Found::Simulated,
    })
}

/// By which factor the measured wait differs from the expected one.
pub(super) fn correction(advice: &Advice, expected: &Expected) -> f64 {
    let plain_s = expected.decision.plain.seconds;
    if plain_s <= 0.0 {
        return 1.0;
    }
    (advice.wait_s / plain_s).clamp(1.0 / CORRECTION_MAX, CORRECTION_MAX)
}

fn offer_run(advice: &Advice, expected: &Expected) -> Option<Measure> {
    let decision = &expected.decision;
    if decision.plain.seconds <= 0.0 {
        return None;
    }
    let left_s = if decision.warms { decision.warmed.seconds } else { decision.plain.seconds };
    let wait_s = left_s * correction(advice, expected);
    Some(measure(advice, expected, RUN, wait_s, vec![run(advice)]))
}

fn offer_pack(advice: &Advice, expected: &Expected) -> Option<Measure> {
    let from_device_s = (expected.packed_s? - expected.answers_s).max(0.0);
    let wait_s = from_device_s * correction(advice, expected) + expected.answers_s;
    Some(measure(advice, expected, PACK, wait_s, vec![run_with(advice, "--mount auto ")]))
}

fn offer_layout(advice: &Advice, expected: &Expected) -> Option<Measure> {
    let decision = &expected.decision;
    let saves_s = expected.layout_saves_s.filter(|saves_s| *saves_s > 0.0)?;
    if !decision.warms || expected.out_of_place == 0 {
        return None;
    }
    let left_s = (decision.warmed.seconds - saves_s).max(0.0);
    let wait_s = left_s * correction(advice, expected);
    let layout = format!("seekless layout {}", quoted(&advice.profile));
    Some(measure(advice, expected, LAYOUT, wait_s, vec![run(advice), layout, run(advice)]))
}

/// Another readahead of the device, if one brings more than the present one.
fn offer_readahead(advice: &Advice) -> Option<Measure> {
    let windows = advice.readahead.as_ref()?;
    let factor = match windows.present.wait_s {
        plain_s if plain_s > 0.0 => advice.wait_s / plain_s,
        _ => return None,
    };
    let windows = windows.clone().corrected(factor.clamp(1.0 / CORRECTION_MAX, CORRECTION_MAX));
    let best = windows.best()?;
    let saves_s = windows.present.wait_s - best.wait_s;
    let folder = advice.files.iter().find(|file| file.needed_bytes > 0)?;
    let folder = folder.path.rsplit_once('/').map_or(".", |(folder, _)| folder);
    let command = best.command(&quoted(if folder.is_empty() { "/" } else { folder }));
    Some(setting(advice, best.what(&windows.present), saves_s, vec![command]))
}

/// A search path without the folders in which names are looked for in vain.
fn offer_search(advice: &Advice, search: &Search) -> Option<Measure> {
    Some(setting(advice, search.what(), search.measured_s?, vec![search.remark()]))
}

/// What the user sets. It needs no process of ours beside the program.
fn setting(advice: &Advice, what: String, saves_s: f64, commands: Vec<String>) -> Measure {
    let wait_s = (advice.wait_s - saves_s).max(0.0);
    let start_s = advice.starts.cached_median_s + wait_s;
    let error_s = (MODEL_ERROR * saves_s.abs()).hypot(spread(&advice.starts.cold_s));
    Measure { what, wait_s, start_s, error_s, commands, found: Found::Simulated }
}

fn measure(
    advice: &Advice,
    expected: &Expected,
    what: &str,
    wait_s: f64,
    commands: Vec<String>,
) -> Measure {
    let wait_s = wait_s + advice.own_s;
    let start_s = advice.starts.cached_median_s + wait_s;
    let gain_s = (advice.starts.cold_median_s - start_s).abs();
    let off = (correction(advice, expected).ln().abs() / 2.0).max(MODEL_ERROR);
    let error_s = (off * gain_s).hypot(spread(&advice.starts.cold_s));
    Measure { what: what.to_owned(), wait_s, start_s, error_s, commands, found: Found::Simulated }
}

/// `seekless run -- CMD`, ready to paste.
fn run(advice: &Advice) -> String {
    run_with(advice, "")
}

fn run_with(advice: &Advice, options: &str) -> String {
    format!("seekless run {options}-- {}", words(&advice.command))
}

#[cfg(test)]
mod tests {
    use super::super::advice::{Starts, WaitOfFile};
    use super::super::readahead::{Window, Windows};
    use super::super::searches::Setting;
    use super::*;
    use seekless_start::start::{Decision, Waits};

    fn waits(seconds: f64) -> Waits {
        Waits { seconds, ..Waits::default() }
    }

    fn advice(cold_s: f64, cached_s: f64) -> Advice {
        let starts = Starts {
            cold_s: vec![cold_s],
            cold_median_s: cold_s,
            cached_median_s: cached_s,
            ..Starts::default()
        };
        let command = vec!["/usr/bin/my app".to_owned(), "-x".to_owned()];
        let profile = "my-app-17".to_owned();
        Advice { starts, wait_s: cold_s - cached_s, command, profile, ..Advice::default() }
    }

    fn expected(plain_s: f64, warmed_s: f64, layout_saves_s: Option<f64>) -> Expected {
        let (plain, warmed) = (waits(plain_s), waits(warmed_s));
        let decision = Decision { plain, warmed, warms: true, ..Decision::default() };
        Expected { decision, layout_saves_s, out_of_place: 5, packed_s: None, answers_s: 0.0 }
    }

    #[test]
    fn expected_waits_are_corrected_by_the_measured_one() {
        let mut found = advice(3.0, 1.0);
        add(&mut found, &expected(4.0, 2.0, Some(0.5)));
        let starts: Vec<f64> = found.measures.iter().map(|it| it.start_s).collect();
        assert_eq!(starts, [1.75, 2.0], "the measured wait is half of the expected one");
        assert_eq!(
            found.measures[0].commands,
            [
                "seekless run -- '/usr/bin/my app' -x",
                "seekless layout my-app-17",
                "seekless run -- '/usr/bin/my app' -x",
            ]
        );
        assert!(found.useless.is_empty());
    }

    #[test]
    fn what_our_own_command_takes_counts() {
        let mut found = Advice { own_s: 0.5, ..advice(3.0, 1.0) };
        add(&mut found, &expected(2.0, 1.0, None));
        assert_eq!((found.measures[0].wait_s, found.measures[0].start_s), (1.5, 2.5));
        let mut found = Advice { own_s: 1.5, ..advice(3.0, 1.0) };
        add(&mut found, &expected(2.0, 1.0, None));
        assert!(found.measures.is_empty(), "it takes more than it saves");
    }

    #[test]
    fn another_readahead_and_a_shorter_search_path_are_judged_by_the_same_rule() {
        let windows = |best_s: f64| Windows {
            present: Window { readahead_bytes: 128 << 10, wait_s: 4.0, ..Window::default() },
            tried: vec![Window { readahead_bytes: 256 << 10, wait_s: best_s, ..Window::default() }],
        };
        let file =
            WaitOfFile { path: "/srv/a b/data".to_owned(), needed_bytes: 9, ..Default::default() };
        let readahead = |best_s| Advice {
            readahead: Some(windows(best_s)),
            files: vec![file.clone()],
            ..advice(3.0, 1.0)
        };
        let mut found = readahead(2.0);
        add(&mut found, &expected(0.0, 0.0, None));
        let [larger] = &found.measures[..] else { panic!("{found:?}") };
        assert_eq!((larger.wait_s, larger.start_s), (1.0, 2.0), "half of the measured wait");
        assert!(
            larger.commands[0].contains("--setra 512") && larger.commands[0].contains("'/srv/a b'")
        );
        let mut found = readahead(3.9);
        add(&mut found, &expected(0.0, 0.0, None));
        assert!(found.measures.is_empty());
        let [(useless, start_s)] = &found.useless[..] else { panic!("{found:?}") };
        assert!(useless.starts_with("a larger readahead") && (start_s - 2.95).abs() < 1e-9);
        let search = |measured_s| Search {
            setting: Setting::Path,
            names: 20,
            in_vain: 200,
            folders: vec![("/opt/a".to_owned(), 20)],
            folders_in_vain: 10,
            wait_s: 0.1,
            requests: 10,
            measured_s,
            by_file: Default::default(),
            asked: Vec::new(),
        };
        for (measured_s, offered) in [(Some(0.5), 1), (Some(0.1), 0), (None, 0)] {
            let mut found = Advice { searches: vec![search(measured_s)], ..advice(3.0, 1.0) };
            add(&mut found, &expected(0.0, 0.0, None));
            assert_eq!(found.measures.len(), offered, "{measured_s:?}");
        }
    }

    #[test]
    fn what_gains_little_is_not_offered() {
        let mut found = advice(3.0, 1.0);
        add(&mut found, &expected(4.0, 3.9, Some(0.0)));
        assert_eq!((found.measures.len(), found.useless.len()), (0, 1));
        let mut found = advice(0.03, 0.01);
        add(&mut found, &expected(0.02, 0.005, None));
        assert!(found.measures.is_empty(), "15 ms of 30 are not worth a measure");
    }

    #[test]
    fn a_pack_is_offered_where_it_is_expected_to_be_used() {
        let mut found = advice(3.0, 1.0);
        let packed_s = Some(1.0);
        add(&mut found, &Expected { packed_s, ..expected(4.0, 2.0, None) });
        assert_eq!((found.measures[0].what.as_str(), found.measures[0].start_s), (PACK, 1.5));
        let command = "seekless run --mount auto -- '/usr/bin/my app' -x";
        assert_eq!(found.measures[0].commands, [command]);
        // The measured wait is half of the expected one, but not that for answers.
        let (packed_s, answers_s) = (Some(1.0), 0.5);
        let mut found = advice(3.0, 1.0);
        add(&mut found, &Expected { packed_s, answers_s, ..expected(4.0, 2.0, None) });
        assert_eq!(found.measures[0].start_s, 1.75);
    }

    #[test]
    fn a_layout_that_gains_hardly_more_than_run_is_not_offered() {
        let mut found = advice(3.0, 1.0);
        add(&mut found, &expected(2.0, 1.0, Some(0.01)));
        let offered: Vec<&str> = found.measures.iter().map(|it| it.what.as_str()).collect();
        assert_eq!(offered, [RUN]);
    }
}
