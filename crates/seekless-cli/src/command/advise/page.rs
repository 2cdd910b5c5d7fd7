//! The advice as a page.

use super::words::{costs, seconds, sentence};
use seekless::device::units::format_bytes;
use seekless::report::page::{
    Bar, Bars, Column, Content, Hue, Kind, Leaf, Page, Span, Table, Timeline, Treemap,
};
use seekless::tools::advise::{Advice, Found, When};

/// The kinds of moments, in the order of the legend, and what each is drawn as.
const KINDS: [(When, &str, Hue); 6] = [
    (When::WaitingRead, "read that waited", Hue::Orange),
    (When::WaitingName, "look-up that waited", Hue::Pink),
    (When::Touch, "first touch of a mapped file", Hue::Blue),
    (When::Written, "write", Hue::Yellow),
    (When::CachedRead, "read of what was cached", Hue::Green),
    (When::KnownName, "look-up of what was known", Hue::Grey),
];

/// The page.
pub(super) fn page(advice: &Advice) -> Page {
    let program = advice.command.join(" ");
    let said = sentence(advice);
    let (answer, rest) = said.trim_end().split_once('\n').unwrap_or((&said, ""));
    Page::new(&format!("seekless advise -- {program}"))
        .sentence(answer)
        .sentence(rest)
        .bars(before_and_after(advice))
        .bars(causes(advice))
        .timeline(timeline(advice))
        .treemap(treemap(advice))
        .table(files(advice))
}

/// The start alone and with each measure: its own work, and the wait.
fn before_and_after(advice: &Advice) -> Bars {
    let starts = &advice.starts;
    let row = |label: &str, wait_s: f64, figure: String| Bar {
        label: label.to_owned(),
        values: vec![starts.cached_median_s, wait_s],
        figure,
    };
    let alone = row("alone", advice.wait_s, seconds(starts.cold_median_s));
    let measures = advice.measures.iter().map(|measure| {
        let found = match measure.found {
            Found::Simulated => "simulated",
            Found::Measured => "measured",
        };
        let figure =
            format!("{} ({found}, ±{})", seconds(measure.start_s), seconds(measure.error_s));
        row(&measure.what, measure.wait_s, figure)
    });
    let note = match advice.measures.first() {
        None => "Nothing that Seekless does would make this start noticeably faster.".to_owned(),
        Some(best) => format!("To do the best: {}", best.commands.join("; ")),
    };
    Bars {
        heading: "A cold start, and what would help".to_owned(),
        note,
        parts: vec!["its own work".to_owned(), "waiting for files".to_owned()],
        rows: std::iter::once(alone).chain(measures).collect(),
    }
}

fn causes(advice: &Advice) -> Bars {
    let rows = advice.parts.iter().map(|part| Bar {
        label: part.cause.words().to_owned(),
        values: vec![part.wait_s],
        figure: seconds(part.wait_s),
    });
    Bars {
        heading: "Where the wait goes".to_owned(),
        note: "Time in calls is measured, time in touches of mapped files estimated.".to_owned(),
        parts: vec!["waiting for files".to_owned()],
        rows: rows.collect(),
    }
}

fn timeline(advice: &Advice) -> Timeline {
    let told = &advice.timeline;
    let kind = |what: When| KINDS.iter().position(|(known, ..)| *known == what).unwrap_or(0) as u32;
    let spans = told.moments.iter().map(|moment| Span {
        row: moment.file,
        thread: moment.thread,
        start_s: moment.start_s,
        seconds: moment.seconds,
        bytes: moment.bytes,
        kind: kind(moment.what),
    });
    let note = match told.left_out {
        0 => "The recorded cold start, which took somewhat longer than the others.".to_owned(),
        count => format!("The recorded cold start, without its last {count} moments."),
    };
    Timeline {
        heading: "What it did when".to_owned(),
        note,
        rows: told.files.clone(),
        threads: (1..=told.threads).map(|number| format!("thread {number}")).collect(),
        kinds: KINDS.iter().map(|&(_, name, hue)| Kind { name: name.to_owned(), hue }).collect(),
        spans: spans.collect(),
    }
}

fn treemap(advice: &Advice) -> Treemap {
    let leaf = |file: &seekless::tools::advise::WaitOfFile| Leaf {
        path: file.path.clone(),
        wait_s: file.wait_s,
        bytes: file.needed_bytes,
        requests: file.calls,
    };
    Treemap {
        heading: "Folders".to_owned(),
        note: "By time in calls, bytes needed, or calls.".to_owned(),
        leaves: advice.files.iter().map(leaf).collect(),
    }
}

fn files(advice: &Advice) -> Table {
    let row = |file: &seekless::tools::advise::WaitOfFile| {
        vec![
            file.path.as_str().into(),
            file.wait_s.into(),
            (file.calls as f64).into(),
            (file.needed_bytes as f64).into(),
            file.first_s.into(),
        ]
    };
    Table {
        heading: "Files".to_owned(),
        note: "The longest waits first.".to_owned(),
        columns: vec![
            Column::new("file", Content::Path),
            Column::new("wait in calls", Content::Seconds),
            Column::new("calls", Content::Count),
            Column::new("needed", Content::Bytes),
            Column::new("first used after", Content::Seconds),
        ],
        rows: advice.files.iter().map(row).collect(),
    }
}

/// How it was measured.
pub(super) fn found(advice: &Advice) -> Vec<(&'static str, String)> {
    let starts = &advice.starts;
    let each = |values: &[f64]| values.iter().map(|it| seconds(*it)).collect::<Vec<_>>().join(", ");
    let served = starts.requests.zip(starts.device_bytes);
    let served =
        served.map(|(requests, bytes)| format!("{requests} requests, {}", format_bytes(bytes)));
    vec![
        ("cold starts", each(&starts.cold_s)),
        ("cached starts", each(&starts.cached_s)),
        ("device", format!("{}: {}", advice.device.name, costs(&advice.device))),
        ("before each cold start", starts.coldness.clone()),
        ("recorded by", advice.learned.method.clone()),
        ("the device served", served.unwrap_or_default()),
        ("not seen", advice.learned.blind.clone().unwrap_or_default()),
    ]
}
