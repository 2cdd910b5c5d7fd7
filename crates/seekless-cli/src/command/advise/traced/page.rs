//! Advice from traces as a page.

use super::super::words::{costs, seconds};
use super::service::NOTHING;
use super::{cache, files};
use seekless::report::chart::{Axis, LineChart, LinePoint, Series, Unit};
use seekless::report::page::{Bar, Bars, Column, Content, Curve, Leaf, Page, Table, Treemap};
use seekless::tools::advise::traced::TraceAdvice;
use seekless::tools::advise::traced::cache::{CacheAdvice, CacheMeasure};
use seekless::tools::advise::traced::files::FilesAdvice;
use seekless::tools::advise::traced::service::ServiceAdvice;

/// The page, and how its figures were found.
pub(super) fn page(advice: &TraceAdvice, title: &str) -> (Page, Vec<(&'static str, String)>) {
    let page = Page::new(title);
    match advice {
        TraceAdvice::Cache(advice) => (of_cache(page, advice), found_of_cache(advice)),
        TraceAdvice::Files(advice) => {
            let page = of_files(page, advice);
            let page = match &advice.page_cache {
                Some(cache) => of_cache(page, cache),
                None => page,
            };
            (page, found_of_files(advice))
        }
        TraceAdvice::Service(advice) => of_service(page, advice),
    }
}

fn of_service(mut page: Page, advice: &ServiceAdvice) -> (Page, Vec<(&'static str, String)>) {
    let mut found = Vec::new();
    if let Some(files) = &advice.files {
        page = of_files(page, files);
        found.extend(found_of_files(files));
    }
    if let Some(cache) = &advice.cache {
        page = of_cache(page, cache);
        let known = |&(name, _): &(&str, String)| found.iter().all(|(there, _)| *there != name);
        let further: Vec<_> = found_of_cache(cache).into_iter().filter(known).collect();
        found.extend(further);
    }
    match found.is_empty() {
        true => (page.sentence(NOTHING.trim_end()), found),
        false => (page, found),
    }
}

/// The first line is the answer.
fn said(page: Page, said: &str) -> Page {
    let (answer, rest) = said.trim_end().split_once('\n').unwrap_or((said, ""));
    page.sentence(answer).sentence(rest)
}

fn of_cache(page: Page, advice: &CacheAdvice) -> Page {
    said(page, &cache::sentence(advice)).curve(curve(advice)).table(measures(advice))
}

fn found_of_cache(advice: &CacheAdvice) -> Vec<(&'static str, String)> {
    let device = advice.reading_ahead.as_ref().map(|ahead| ahead.device.clone());
    vec![
        ("traces", advice.traces.join(" ")),
        ("requests", advice.requests.to_string()),
        ("device", device.unwrap_or_default()),
        ("policies", "chosen on all requests; held out: on their first half".to_owned()),
    ]
}

fn found_of_files(advice: &FilesAdvice) -> Vec<(&'static str, String)> {
    let made = if advice.held_out { "from the other runs" } else { "from this run" };
    vec![
        ("traces", advice.traces.join(" ")),
        ("how", "estimated: no program was run".to_owned()),
        ("device", format!("{}: {}", advice.device.name, costs(&advice.device))),
        ("what helps was made", made.to_owned()),
    ]
}

fn curve(advice: &CacheAdvice) -> Curve {
    let points = advice.curve.points.iter().map(|point| LinePoint {
        x: point.capacity as f64,
        y: point.miss_ratio,
        low: point.low,
        high: point.high,
    });
    let unit = if advice.in_bytes { Unit::Bytes } else { Unit::Count };
    let chart = LineChart {
        title: "Miss ratio of LRU by cache size".to_owned(),
        x: Axis::log("cache size", unit),
        y: Axis::linear("miss ratio", Unit::Percent),
        series: vec![Series { name: advice.curve.policy.clone(), points: points.collect() }],
        caption: cache::heading(advice).trim_end().replace('\n', ": "),
    };
    Curve { heading: "Misses by size".to_owned(), chart }
}

/// What helps, and the present cache last.
fn measures(advice: &CacheAdvice) -> Table {
    let present = CacheMeasure {
        outcome: advice.present.clone(),
        misses_saved: 0.0,
        held_out: advice.present.clone(),
        held_out_saved: 0.0,
    };
    let row = |it: &CacheMeasure| {
        let outcome = &it.outcome;
        vec![
            outcome.policy.as_str().into(),
            (outcome.capacity as f64).into(),
            (1.0 - outcome.miss_ratio).into(),
            it.held_out.policy.as_str().into(),
            (1.0 - it.held_out.second_miss_ratio).into(),
        ]
    };
    let size = if advice.in_bytes { Content::Bytes } else { Content::Count };
    Table {
        heading: "What helps".to_owned(),
        note: "The present cache comes last. The first half of the requests would have chosen the \
               policy beside it, which is judged on the second half."
            .to_owned(),
        columns: vec![
            Column::new("policy", Content::Text),
            Column::new("size", size),
            Column::new("hits", Content::Share),
            Column::new("by the first half", Content::Text),
            Column::new("its hits in the second", Content::Share),
        ],
        rows: advice.measures.iter().chain([&present]).map(row).collect(),
    }
}

fn of_files(page: Page, advice: &FilesAdvice) -> Page {
    let bar = |label: &str, wait_s: f64| Bar {
        label: label.to_owned(),
        values: vec![wait_s],
        figure: seconds(wait_s),
    };
    let measures = advice.measures.iter().map(|it| bar(&it.what, it.wait_s));
    let bars = |heading: &str, rows: Vec<Bar>| Bars {
        heading: heading.to_owned(),
        note: "Estimated for a device, with nothing cached.".to_owned(),
        parts: vec!["waiting for files".to_owned()],
        rows,
    };
    let causes = advice.parts.iter().map(|part| bar(part.cause.words(), part.wait_s));
    let leaf = |file: &seekless::tools::advise::WaitOfFile| Leaf {
        path: file.path.clone(),
        wait_s: file.wait_s,
        bytes: file.needed_bytes,
        requests: file.calls,
    };
    let folders = Treemap {
        heading: "Folders".to_owned(),
        note: "By wait, bytes needed, or requests.".to_owned(),
        leaves: advice.files.iter().map(leaf).collect(),
    };
    said(page, &files::sentence(advice))
        .bars(bars(
            "What would help",
            std::iter::once(bar("alone", advice.wait_s)).chain(measures).collect(),
        ))
        .bars(bars("Where the wait goes", causes.collect()))
        .treemap(folders)
}
