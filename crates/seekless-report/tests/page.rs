//! The page in a browser: its script runs without an error, under its own policy, and does what a
//! reader asks of it. Skipped where there is no Chromium.

#[path = "page/browser.rs"]
mod browser;
mod sample;

use browser::{browser, open, seen_in};
use seekless_report::page::{
    Cell, Column, Content, Hue, Kind, Leaf, Page, Span, Table, Timeline, Treemap,
};
use serde_json::{Value, json};
use std::path::Path;

/// What a reader of the page saw.
fn seen(browser: &Path, page: &Page) -> Value {
    seen_in(browser, &page.html())
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

#[test]
fn a_reader_sorts_searches_zooms_and_prints() {
    let Some(browser) = browser() else { return };
    let seen = seen(&browser, &sample::page(800, 5_000));
    assert_eq!(seen["errors"], json!([]));
    assert_eq!(seen["ready"], "true");
    assert!(seen["sentence"].as_str().unwrap().starts_with("A cold start takes 4.12 s"));
    assert_eq!(seen["plain"], seen["scripted"], "the script writes rows as the program does");
    assert_eq!(seen["plain"][1].as_array().unwrap().len(), 20);

    let sorted = &seen["sorted"];
    let states: Vec<&str> = (0..4).map(|step| sorted[step][0].as_str().unwrap()).collect();
    assert_eq!(states, ["descending", "ascending", "none", "ascending"]);
    let column = |step: usize, column: usize| -> Vec<&str> {
        let rows = sorted[step][1].as_array().unwrap();
        rows.iter().map(|row| row[column].as_str().unwrap()).collect()
    };
    let calls = |step| column(step, 3).iter().map(|calls| calls.parse().unwrap()).collect();
    let (falling, rising): (Vec<u64>, Vec<u64>) = (calls(0), calls(1));
    assert!(falling.is_sorted_by(|a, b| a >= b) && rising.is_sorted() && falling[0] > rising[0]);
    assert_eq!(sorted[2][1], seen["plain"][1], "the third click brings the first order back");
    assert!(column(3, 0).is_sorted() && column(3, 0)[0].starts_with("/home/ann/.config/"));

    assert!(seen["found"].as_str().unwrap().ends_with(" of 800 rows"));
    let found = seen["foundRows"].as_array().unwrap();
    assert!(found.iter().all(|row| row[0].as_str().unwrap().ends_with(".ttf")));
    assert_eq!(found.len(), 20);
    let printed = seen["printed"].as_u64().unwrap();
    assert!(printed > 20 && seen["afterwards"] == 20, "{printed}, {}", seen["afterwards"]);
    assert!(seen["found"].as_str().unwrap().starts_with(&format!("{printed} of")));
}

#[test]
fn pictures_are_drawn_and_answer_keys() {
    let Some(browser) = browser() else { return };
    let seen = seen(&browser, &sample::page(800, 5_000));
    let colours = texts(&seen["colours"]);
    for (name, colour) in [("orange", "213,94,0"), ("blue", "0,114,178"), ("green", "0,158,115")] {
        assert!(colours.contains(&colour), "{name}: {colours:?}");
    }
    let whole = seen["whole"].as_str().unwrap();
    assert!(whole.starts_with("0 s to ") && whole.ends_with(", 800 files"), "{whole}");
    let hover = texts(&seen["hover"]);
    assert!(hover.len() == 3 && hover[0].starts_with("/usr/lib/"), "{hover:?}");
    assert!(hover[1].contains(": ") && hover[2].starts_with("at "), "{hover:?}");
    assert_eq!(seen["left"], true, "nothing is said where no span is");
    assert_ne!(seen["zoomed"], seen["whole"]);
    assert!(seen["status"].as_str().unwrap().starts_with('/'), "{}", seen["status"]);
    let path = seen["status"].as_str().unwrap().split(';').next().unwrap();
    let rows = seen["enter"][1].as_array().unwrap();
    assert_eq!((&seen["enter"][0], rows.len(), &rows[0][0]), (&json!(path), 1, &json!(path)));
    assert!(seen["areas"].as_u64().unwrap() > 300);
    assert_eq!(seen["untitled"], 0);
    assert_eq!(seen["trail"], json!(["/", "/usr/"]));
}

/// A page of few rows: names that would be code, and figures where their words change.
fn odd() -> Page {
    let names = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\"'&amp;"];
    let names = names.into_iter().chain(["\x1b[2J", "a\u{2028}b", "\u{202e}fdp.exe", "\\xff"]);
    let names: Vec<String> = names.map(|name| format!("/odd/{name}")).collect();
    let figures = [
        0.0,
        0.999,
        1.0,
        999.0,
        1_000.0,
        1_049.0,
        1_050.0,
        999_949.0,
        999_950.0,
        999_999.0,
        1e6,
        1.25e9,
        59.994e9,
        599.995e9,
        600e9,
        3_725e9,
        1e15,
        f64::NAN,
        -1.0,
    ];
    let contents = [Content::Seconds, Content::Bytes, Content::Count, Content::Share];
    let row = |(index, &figure): (usize, &f64)| -> Vec<Cell> {
        let name = names[index % names.len()].as_str().into();
        vec![name, (figure / 1e9).into(), figure.into(), figure.into(), (figure / 1e9).into()]
    };
    let columns = contents.map(|content| Column::new("figure", content));
    let span = Span { seconds: 1.0, ..Span::default() };
    let leaf = |path: &String| Leaf { path: path.clone(), wait_s: 1.0, bytes: 1, requests: 1 };
    Page::new("odd")
        .sentence(&names[0])
        .timeline(Timeline {
            heading: names[1].clone(),
            rows: names.clone(),
            threads: vec![names[2].clone()],
            kinds: vec![Kind { name: names[1].clone(), hue: Hue::Orange }],
            spans: (0..7).map(|row| Span { row, ..span }).collect(),
            ..Timeline::default()
        })
        .treemap(Treemap { leaves: names.iter().map(leaf).collect(), ..Treemap::default() })
        .table(Table {
            columns: [Column::new("name", Content::Path)].into_iter().chain(columns).collect(),
            rows: figures.iter().enumerate().map(row).collect(),
            ..Table::default()
        })
        .command(&names[0])
}

#[test]
fn odd_names_are_text_and_odd_figures_are_written_as_the_program_does() {
    let Some(browser) = browser() else { return };
    let seen = seen(&browser, &odd());
    assert_eq!(seen["errors"], json!([]));
    assert_eq!((&seen["ready"], &seen["images"]), (&json!("true"), &json!(0)));
    assert_eq!(seen["sentence"], "/odd/</script><script>alert(1)</script>");
    assert_eq!(seen["plain"], seen["scripted"]);
    let rows = seen["scripted"][0].as_array().unwrap();
    assert_eq!(rows.len(), 19);
    assert_eq!(rows[3][0], "/odd/\\x1b[2J");
    assert_eq!(rows[17][1], "unknown");
}

#[test]
fn what_the_policy_does_not_name_does_not_run() {
    let Some(browser) = browser() else { return };
    let foreign = "<script>window.seen.foreign = true</script>\
                   <img src=\"http://192.0.2.1/x.png\" onerror=\"window.seen.foreign = true\">\
                   <b style=\"color: red\">b</b></main>";
    let html = odd().html().replacen("</main>", foreign, 1);
    let seen = seen_in(&browser, &html);
    assert_eq!((&seen["foreign"], &seen["ready"]), (&Value::Null, &json!("true")));
    let errors = texts(&seen["errors"]);
    for directive in ["script-src-elem", "script-src-attr", "img-src", "style-src-attr"] {
        let error = format!("securitypolicyviolation: {directive}");
        assert!(errors.contains(&error.as_str()), "{directive}: {errors:?}");
    }
}

#[test]
fn a_page_without_rows_spans_or_files_starts() {
    let Some(browser) = browser() else { return };
    let column = || Column::new("name", Content::Count);
    let table = Table { columns: (0..4).map(|_| column()).collect(), ..Table::default() };
    let page = Page::new("empty").sentence("Nothing.").timeline(Timeline::default());
    let seen = seen(&browser, &page.treemap(Treemap::default()).table(table));
    assert_eq!((&seen["errors"], &seen["ready"]), (&json!([]), &json!("true")));
}

/// For eyes: `page.png` and `page-dark.png` in the folder of tests' files below `target`.
#[test]
fn a_screenshot_is_taken() {
    let Some(browser) = browser() else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join("page.html");
    std::fs::write(&path, sample::page(800, 5_000).html()).unwrap();
    for (name, scheme) in [("page.png", "1"), ("page-dark.png", "0")] {
        let picture = folder.join(name);
        let _ = std::fs::remove_file(&picture);
        let screenshot = format!("--screenshot={}", picture.display());
        let scheme = format!("--blink-settings=preferredColorScheme={scheme}");
        open(&browser, &path, &[&screenshot, &scheme, "--window-size=1180,4500"]);
        assert!(picture.metadata().unwrap().len() > 50_000, "{}", picture.display());
    }
}
