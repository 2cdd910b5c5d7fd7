//! The advice in words.

use crate::output::{line, table};
use seekless::device::units::{counted, format_bytes, format_count, format_duration};
use seekless::tools::advise::{
    Advice, Cause, DeviceFigures, Found, Image, Measure, Search, Source,
};
use std::fmt::Write as _;

/// Folders that are listed.
const FOLDERS: usize = 5;
/// Below this a wait is nothing to speak of: this share of the start, and seconds.
const SMALL: f64 = 0.05;
const SMALL_S: f64 = 0.02;
/// With more of the wait for names that are not there, the folders are named.
const SEARCH_SHARE: f64 = 0.1;
/// Folders of a search path that are named.
const SEARCHED: usize = 3;

/// What a user reads.
pub(super) fn report(advice: &Advice) -> String {
    let mut text = heading(advice) + "\n" + &sentence(advice);
    if is_worth_it(advice) {
        text +=
            &(causes(advice) + &folders(advice) + &search(advice) + &searches(&advice.searches));
    }
    text + &helps(advice) + &verdict(advice) + &notes(advice)
}

pub(super) fn seconds(value: f64) -> String {
    format_duration((value.max(0.0) * 1e9) as u64)
}

fn is_worth_it(advice: &Advice) -> bool {
    advice.wait_s >= SMALL_S.max(SMALL * advice.starts.cold_median_s)
}

/// The program, the starts and the device.
fn heading(advice: &Advice) -> String {
    let starts = &advice.starts;
    let device = &advice.device;
    let costs = costs(device);
    let on = if device.name.is_empty() { String::new() } else { format!("{}, ", device.name) };
    format!(
        "\n{}\n{} and {}; {}{costs}\n",
        line(&advice.command.join(" ")),
        counted(starts.cold_s.len() as u64, "cold start"),
        counted(starts.cached_s.len() as u64, "cached start"),
        line(&on),
    )
}

/// What the device costs.
pub(super) fn costs(device: &DeviceFigures) -> String {
    if device.source == Source::Assumed {
        return "costs assumed".to_owned();
    }
    format!(
        "{} a request, {}/s, {} at once{}",
        format_duration(device.request_ns),
        format_bytes(device.bytes_per_second),
        device.at_once,
        if device.source == Source::Given { " (given)" } else { "" },
    )
}

/// The answer in a sentence or two.
pub(super) fn sentence(advice: &Advice) -> String {
    let (starts, learned) = (&advice.starts, &advice.learned);
    let mut text = format!("A cold start takes {}: ", seconds(starts.cold_median_s));
    let waits = advice.wait_s >= SMALL * starts.cold_median_s;
    let _ = match (is_worth_it(advice), waits) {
        (false, false) => {
            writeln!(text, "nearly all of it is its own work, not waiting for files.")
        }
        (is_worth_it, _) => writeln!(
            text,
            "{} of its own work, and {} of waiting for files{}.",
            seconds(starts.cached_median_s),
            seconds(advice.wait_s),
            if is_worth_it { "" } else { ", too little to gain from" },
        ),
    };
    let _ = write!(
        text,
        "It looks up {} and needs {} of {}.",
        counted(learned.names, "name"),
        format_bytes(learned.needed_bytes),
        counted(learned.files, "file"),
    );
    if let Some((requests, bytes)) = starts.requests.zip(starts.device_bytes) {
        let _ = write!(
            text,
            " The device serves {} and {}.",
            counted(requests, "request"),
            format_bytes(bytes),
        );
    }
    text + "\n"
}

/// The wait by cause.
fn causes(advice: &Advice) -> String {
    let shares = advice.parts.iter().map(|part| {
        let what = match part.cause {
            Cause::Unexplained | Cause::Kernel => String::new(),
            Cause::Mapped => counted(part.calls, "page fault"),
            _ if part.bytes > 0 => {
                format!("{}, {}", counted(part.calls, "call"), format_bytes(part.bytes))
            }
            _ => counted(part.calls, "call"),
        };
        vec![
            part.cause.words().to_owned(),
            seconds(part.wait_s),
            percent(part.wait_s, advice.wait_s),
            what,
        ]
    });
    "\n".to_owned() + &table(&["where the wait goes", "wait", "share", "for"], shares.collect())
}

/// The folders with the longest waits in calls.
fn folders(advice: &Advice) -> String {
    let folders = advice.folders.iter().filter(|folder| folder.wait_s > 0.0).take(FOLDERS);
    let rows = folders.map(|folder| {
        vec![
            folder.path.clone(),
            seconds(folder.wait_s),
            format_count(folder.files),
            format_bytes(folder.needed_bytes),
        ]
    });
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        return String::new();
    }
    "\n".to_owned() + &table(&["folder", "in calls", "files", "needed"], rows)
}

/// Where names are looked for in vain, if much of the wait is for that.
fn search(advice: &Advice) -> String {
    let missing = advice.parts.iter().find(|part| part.cause == Cause::MissingNames);
    let much = missing.is_some_and(|part| part.wait_s > SEARCH_SHARE * advice.wait_s);
    let is_known = !advice.searches.is_empty();
    let Some((folder, count)) = advice.searched.first().filter(|_| much && !is_known) else {
        return String::new();
    };
    format!(
        "\n{} are looked up that are not there, most of them in {} ({}): a shorter search path \
         would save these.\n",
        counted(advice.learned.names_missing, "name"),
        line(folder),
        format_count(*count),
    )
}

/// The search paths, and what they cost with nothing cached.
pub(super) fn searches(searches: &[Search]) -> String {
    let mut text = String::new();
    for search in searches {
        let most = search
            .folders
            .iter()
            .take(SEARCHED)
            .map(|(folder, count)| format!("{} ({})", line(folder), format_count(*count)));
        let _ = writeln!(
            text,
            "{}: {} in vain in {} before {} found, most in {}; with nothing cached they take {}.",
            search.setting.words(),
            counted(search.in_vain, "look-up"),
            counted(search.folders_in_vain, "folder"),
            if search.names == 1 {
                "1 name is".to_owned()
            } else {
                format!("{} names are", format_count(search.names))
            },
            most.collect::<Vec<_>>().join(", "),
            seconds(search.measured_s.unwrap_or(search.wait_s)),
        );
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}

/// The table of measures.
fn helps(advice: &Advice) -> String {
    let mut text = "\n".to_owned();
    if !advice.measures.is_empty() {
        let rows = advice.measures.iter().map(|measure| {
            let found = match measure.found {
                Found::Simulated => "simulated",
                Found::Measured => "measured",
            };
            vec![
                measure.what.clone(),
                seconds(measure.wait_s),
                seconds(measure.start_s),
                format!("{found}, ±{}", seconds(measure.error_s)),
            ]
        });
        text += &table(&["what helps", "wait", "start", "found by"], rows.collect());
    }
    if !advice.useless.is_empty() && !advice.measures.is_empty() {
        text.push('\n');
    }
    text + &would_not_help(&advice.useless, "start")
        + &page_cache(advice.learned.needed_bytes, advice.memory_free_bytes)
}

/// The table of what would not help, with what it leaves of the start or the wait.
pub(super) fn would_not_help(useless: &[(String, f64)], of: &str) -> String {
    if useless.is_empty() {
        return String::new();
    }
    let rows = useless.iter().map(|(what, left_s)| vec![what.clone(), seconds(*left_s)]);
    table(&["what would not help", of], rows.collect()) + "\n"
}

/// Whether a larger page cache, or another policy of it, could help.
pub(super) fn page_cache(needed_bytes: u64, free_bytes: Option<u64>) -> String {
    let Some(free_bytes) = free_bytes else { return String::new() };
    let (needed, free) = (format_bytes(needed_bytes), format_bytes(free_bytes));
    match needed_bytes <= free_bytes {
        true => format!(
            "A larger page cache or another policy would not help: all fits ({needed} in {free} \
             free).\n"
        ),
        false => format!(
            "It needs {needed}, and memory has {free} free: what it reads again comes from the \
             device again. A trace of it shows which size and policy would help.\n"
        ),
    }
}

/// What to do.
fn verdict(advice: &Advice) -> String {
    let Some(best) = advice.measures.first() else {
        return "\nNothing that Seekless does would make this start noticeably faster.\n"
            .to_owned();
    };
    let mut text = "\nDo this:\n".to_owned();
    for command in &best.commands {
        let _ = writeln!(text, "  {}", line(command));
    }
    if let Some(simple) = simpler(advice, best) {
        let _ = writeln!(text, "Or only, for a start of {}:", seconds(simple.start_s));
        for command in &simple.commands {
            let _ = writeln!(text, "  {}", line(command));
        }
    }
    text + &checked(advice) + &image(advice.image.as_ref())
}

/// A measure with fewer commands than the best.
fn simpler<'a>(advice: &'a Advice, best: &Measure) -> Option<&'a Measure> {
    advice.measures.iter().find(|measure| measure.commands.len() < best.commands.len())
}

/// What a container image would bring.
pub(super) fn image(image: Option<&Image>) -> String {
    let Some(image) = image else { return String::new() };
    let mut text = format!(
        "\nIf a container image holds its files: {} of waiting with a layer in the order of need, \
         {} with a list for lazy pulling.\n",
        seconds(image.layer_wait_s),
        seconds(image.listed_wait_s),
    );
    for command in &image.commands {
        let _ = writeln!(text, "  {}", line(command));
    }
    text
}

/// What `--verify` measured beside what was expected.
fn checked(advice: &Advice) -> String {
    let Some(first) = advice.verified.first() else { return String::new() };
    let starts =
        |values: &[f64]| values.iter().map(|value| seconds(*value)).collect::<Vec<_>>().join(", ");
    let mut text = format!("\nMeasured in turn: alone {}", starts(&first.plain_s));
    for verified in &advice.verified {
        let what = line(verified.what.split(':').next().unwrap_or(&verified.what)).into_owned();
        let expected = seconds(verified.expected_start_s);
        let _ = write!(text, "; {what} {} (expected {expected})", starts(&verified.with_s));
    }
    text + ".\n"
}

/// What a reader should know of the figures.
fn notes(advice: &Advice) -> String {
    let starts = &advice.starts;
    let mut notes = Vec::new();
    if starts.exit_status != 0 {
        notes.push(format!("The program ends with status {}.", starts.exit_status));
    }
    if !starts.names_cold {
        notes.push(
            "Names and inodes stayed cached, so waiting for them is not seen: as root they are \
             dropped too."
                .to_owned(),
        );
    }
    if advice.device.source == Source::Assumed {
        notes.push(
            "The device could not be measured: --device gives its costs, `seekless probe` \
             measures them."
                .to_owned(),
        );
    }
    notes.extend(starts.cut_short.as_ref().map(|why| format!("Fewer starts: {why}.")));
    notes.extend(advice.learned.blind.as_ref().map(|what| format!("Not seen: {what}.")));
    let lines: String = notes.iter().map(|note| format!("{}\n", line(note))).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

fn percent(part: f64, whole: f64) -> String {
    format!("{:.0} %", if whole > 0.0 { 100.0 * part / whole } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless::tools::advise::{Folder, Learned, Part, Setting, Starts, Verified};

    fn advice() -> Advice {
        Advice {
            command: vec!["app".to_owned(), "-x".to_owned()],
            starts: Starts {
                cold_s: vec![3.0; 3],
                cached_s: vec![1.0; 3],
                cold_median_s: 3.0,
                cached_median_s: 1.0,
                requests: Some(900),
                device_bytes: Some(50_000_000),
                names_cold: true,
                ..Starts::default()
            },
            wait_s: 2.0,
            learned: Learned {
                names: 1200,
                names_missing: 800,
                files: 300,
                needed_bytes: 20_000_000,
                ..Learned::default()
            },
            device: DeviceFigures {
                name: "ext4 on sda".to_owned(),
                request_ns: 2_000_000,
                bytes_per_second: 150_000_000,
                at_once: 1,
                source: Source::Measured,
            },
            parts: vec![
                Part { cause: Cause::SmallFiles, wait_s: 1.5, calls: 300, bytes: 5_000_000 },
                Part { cause: Cause::MissingNames, wait_s: 0.3, calls: 800, bytes: 0 },
                Part { cause: Cause::Unexplained, wait_s: 0.2, calls: 0, bytes: 0 },
            ],
            folders: vec![Folder {
                path: "/opt/app".to_owned(),
                wait_s: 1.8,
                files: 300,
                needed_bytes: 20_000_000,
            }],
            searched: vec![("/opt/app/lib".to_owned(), 700)],
            measures: vec![Measure {
                what: "run: bring its files in beside it".to_owned(),
                wait_s: 1.0,
                start_s: 2.0,
                error_s: 0.25,
                commands: vec!["seekless run -- app -x".to_owned()],
                found: Found::Simulated,
            }],
            ..Advice::default()
        }
    }

    #[test]
    fn the_answer_comes_first_and_the_commands_last() {
        assert_eq!(
            report(&advice()),
            "\napp -x\n3 cold starts and 3 cached starts; ext4 on sda, 2.0 ms a request, \
             150.0 MB/s, 1 at once\n\n\
             A cold start takes 3.00 s: 1.00 s of its own work, and 2.00 s of waiting for files.\n\
             It looks up 1,200 names and needs 20.0 MB of 300 files. \
             The device serves 900 requests and 50.0 MB.\n\n\
             where the wait goes                     wait  share                for\n\
             ──────────────────────────────────────────────────────────────────────\n\
             small files read one by one           1.50 s   75 %  300 calls, 5.0 MB\n\
             names looked up that are not there  300.0 ms   15 %          800 calls\n\
             not explained                       200.0 ms   10 %\n\n\
             folder    in calls  files   needed\n\
             ──────────────────────────────────\n\
             /opt/app    1.80 s    300  20.0 MB\n\n\
             800 names are looked up that are not there, most of them in /opt/app/lib (700): \
             a shorter search path would save these.\n\n\
             what helps                           wait   start  found by\n\
             ───────────────────────────────────────────────────────────────────────\n\
             run: bring its files in beside it  1.00 s  2.00 s  simulated, ±250.0 ms\n\n\
             Do this:\n  seekless run -- app -x\n"
        );
    }

    #[test]
    fn a_search_path_is_named_with_its_folders_and_what_it_costs() {
        let search = Search {
            setting: Setting::LibraryPath,
            names: 20,
            in_vain: 240,
            folders: (1..=4).map(|number| (format!("/opt/{number}"), 60)).collect(),
            folders_in_vain: 4,
            wait_s: 0.5,
            requests: 4,
            measured_s: None,
            by_file: std::collections::BTreeMap::new(),
            asked: Vec::new(),
        };
        let measured = Search { measured_s: Some(0.25), ..search.clone() };
        let start = "LD_LIBRARY_PATH and the rpath: 240 look-ups in vain in 4 folders before \
                     20 names are found, most in /opt/1 (60), /opt/2 (60), /opt/3 (60); \
                     with nothing cached they take";
        assert_eq!(searches(&[search]), format!("\n{start} 500.0 ms.\n"));
        let text = report(&Advice { searches: vec![measured], ..advice() });
        assert!(text.contains(&format!("{start} 250.0 ms.\n")), "{text}");
        assert!(!text.contains("a shorter search path would save"), "it is said once: {text}");
    }

    #[test]
    fn a_start_that_does_not_wait_is_said_to_be_its_own_work() {
        let starts = Starts { cached_median_s: 2.99, ..advice().starts };
        let idle = Advice { starts, wait_s: 0.01, measures: vec![], ..advice() };
        let text = report(&idle);
        assert!(text.contains("nearly all of it is its own work"), "{text}");
        assert!(text.contains("Nothing that Seekless does"), "{text}");
        assert!(!text.contains("where the wait goes"), "{text}");
        let starts = Starts { cold_median_s: 0.1, cached_median_s: 0.085, ..advice().starts };
        let useless = vec![("run: bring its files in beside it".to_owned(), 0.125)];
        let short = Advice { starts, wait_s: 0.015, measures: vec![], useless, ..advice() };
        let text = report(&short);
        assert!(text.contains("15.0 ms of waiting for files, too little to gain from."), "{text}");
        assert!(text.contains("what would not help"), "{text}");
        assert!(text.contains("run: bring its files in beside it  125.0 ms\n"), "{text}");
    }

    #[test]
    fn what_an_image_would_bring_stands_below_with_its_commands() {
        let image = Image {
            layer_wait_s: 0.5,
            listed_wait_s: 0.25,
            commands: vec!["seekless export a --format tar -o layer.tar".to_owned()],
        };
        let text = report(&Advice { image: Some(image), ..advice() });
        let said = "If a container image holds its files: 500.0 ms of waiting with a layer in the \
                    order of need, 250.0 ms with a list for lazy pulling.\n  seekless export a";
        assert!(text.contains(said), "{text}");
        assert!(!report(&advice()).contains("container image"));
    }

    #[test]
    fn what_was_measured_stands_beside_what_was_expected() {
        let verified = Verified {
            what: "run: bring its files in beside it".to_owned(),
            plain_s: vec![3.0, 3.5],
            with_s: vec![2.0, 2.5],
            expected_start_s: 2.25,
            wait_s: 1.25,
        };
        let text = report(&Advice { verified: vec![verified], ..advice() });
        let line = "Measured in turn: alone 3.00 s, 3.50 s; run 2.00 s, 2.50 s (expected 2.25 s).";
        assert!(text.contains(line), "{text}");
    }
}
