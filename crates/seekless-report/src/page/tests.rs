//! Pages of hostile names, of more than fits, and of odd figures.

use super::*;
use crate::chart::{Axis, LineChart, LinePoint, Series, Unit};

const HOSTILE: [&str; 6] = [
    "/a/</script><script>alert(1)</script>",
    "/a/<img src=x onerror=alert(1)>",
    "/a/\"quoted' &amp; <!-- -->",
    "/a/\x1b[2Jescape\u{9b}",
    "/a/line\u{2028}and\u{2029}paragraph\n",
    "/a/turned\u{202e}txt.exe\\xff",
];

fn span(row: u32, start_s: f64, seconds: f64) -> Span {
    Span { row, start_s, seconds, bytes: 4096, ..Span::default() }
}

fn timeline(rows: Vec<String>, spans: Vec<Span>) -> Timeline {
    Timeline {
        heading: "Timeline".into(),
        rows,
        threads: vec!["main".into()],
        kinds: vec![Kind { name: "wait".into(), hue: Hue::Orange }],
        spans,
        ..Timeline::default()
    }
}

fn files(rows: &[(&str, f64)]) -> Table {
    let row = |&(name, seconds): &(&str, f64)| vec![Cell::from(name), Cell::from(seconds)];
    Table {
        heading: "Files".into(),
        columns: vec![Column::new("File", Content::Path), Column::new("Wait", Content::Seconds)],
        rows: rows.iter().map(row).collect(),
        ..Table::default()
    }
}

fn leaf(path: &str, wait_s: f64) -> Leaf {
    Leaf { path: path.into(), wait_s, bytes: 100, requests: 1 }
}

fn treemap(leaves: Vec<Leaf>) -> Treemap {
    Treemap { heading: "Folders".into(), leaves, ..Treemap::default() }
}

/// The data of a page, as its script reads it.
fn data(html: &str) -> Value {
    let (_, after) = html.split_once("id=\"data\">").unwrap();
    serde_json::from_str(after.split_once("</script>").unwrap().0).unwrap()
}

fn part(html: &str, index: usize) -> Value {
    data(html)["parts"][index].clone()
}

fn length(column: &Value) -> usize {
    column.as_array().unwrap().len()
}

/// A page that shows a name in each of its places.
fn page_of(name: &str) -> String {
    let fact = (name.to_owned(), name.to_owned());
    let bar = Bar { label: name.into(), values: vec![1.0, 2.0], figure: name.into() };
    let series = Series { name: name.into(), points: vec![LinePoint::exact(1.0, 1.0)] };
    let chart = LineChart {
        title: name.into(),
        x: Axis::linear(name, Unit::Count),
        y: Axis::linear(name, Unit::Count),
        series: vec![series],
        caption: name.into(),
    };
    let spans = timeline(vec![name.into()], vec![span(0, 0.0, 1.0)]);
    let parts = vec![name.into(), name.into()];
    Page::new(name)
        .sentence(name)
        .bars(Bars { heading: name.into(), note: name.into(), parts, rows: vec![bar] })
        .timeline(Timeline {
            heading: name.into(),
            threads: vec![name.into()],
            kinds: vec![Kind { name: name.into(), hue: Hue::Sky }],
            ..spans
        })
        .treemap(treemap(vec![leaf(name, 1.0)]))
        .table(files(&[(name, 1.0)]))
        .curve(Curve { heading: name.into(), chart })
        .facts(Facts { heading: name.into(), rows: vec![fact] })
        .command(name)
        .html()
}

#[test]
fn a_hostile_name_adds_no_tag_and_no_odd_character() {
    let tags = |html: &str| html.matches('<').count();
    let plain = tags(&page_of("plain"));
    for name in HOSTILE {
        let html = page_of(name);
        assert_eq!(tags(&html), plain, "{name:?}");
        let is_odd = |char: char| {
            char != '\n' && (char.is_control() || "\u{2028}\u{2029}\u{202e}".contains(char))
        };
        assert!(!html.contains(is_odd), "{name:?}");
        assert!(!html.contains("<img") && !html.contains("<script>alert"), "{name:?}");
    }
}

#[test]
fn hostile_names_reach_the_script_readable() {
    let names = |name| data(&page_of(name))["names"][0].as_str().unwrap().to_owned();
    assert_eq!(names(HOSTILE[0]), HOSTILE[0]);
    assert_eq!(names(HOSTILE[1]), HOSTILE[1]);
    assert_eq!(names(HOSTILE[3]), "/a/\\x1b[2Jescape\\xc2\\x9b");
    assert_eq!(names(HOSTILE[5]), "/a/turned\\xe2\\x80\\xaetxt.exe\\xff");
}

#[test]
fn assets_stay_within_their_elements_and_ask_nothing_of_a_network() {
    let end = |text: &str| text.contains("</") || text.contains("<!--");
    assert!(!end(SCRIPT) && !end(&style()));
    for word in ["innerHTML", "eval(", "fetch(", "import(", "XMLHttpRequest", "document.write"] {
        assert!(!SCRIPT.contains(word), "{word}");
    }
    assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
    let html = page_of("plain");
    let links = html.replace("http://www.w3.org/2000/svg", "");
    assert!(!links.contains("http:") && !links.contains("https:"));
    // The policy forbids styles and handlers in attributes.
    assert!(!html.contains(" style=") && !html.contains(" onclick="));
}

#[test]
fn the_same_page_is_the_same_bytes() {
    assert_eq!(page_of("/usr/lib/libc.so.6"), page_of("/usr/lib/libc.so.6"));
}

#[test]
fn any_page_is_below_three_megabytes_and_says_what_it_left_out() {
    let name = |index: u32| format!("/usr/share/{}/{index}<&>é.svg", "long".repeat(20));
    let names: Vec<String> = (0..200_000).map(name).collect();
    let spans =
        (0..200_000).map(|index| span(index, 1e4 - f64::from(index) / 21.0, f64::from(index)));
    let leaves = names.iter().zip(0..).map(|(name, index)| leaf(name, f64::from(index)));
    let rows: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 1.0)).collect();
    let page = Page::new("large")
        .timeline(timeline(names.clone(), spans.collect()))
        .treemap(treemap(leaves.collect()))
        .table(files(&rows))
        .table(files(&rows[..10]));
    let html = page.html();
    assert!(html.len() < 3_000_000, "{}", html.len());
    assert!(html.len() > 2_000_000, "room is used: {}", html.len());
    let (spans, map, rows) = (part(&html, 0), part(&html, 1), part(&html, 2));
    let alone = length(&map["path"]) as u64 - length(&map["others"]) as u64;
    let others = map["others"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap());
    let parts = [
        ("spans", length(&spans["row"]) as u64, spans["left_out"].as_u64().unwrap()),
        ("map", alone, others.sum()),
        ("rows", rows["rows"].as_u64().unwrap(), rows["left_out"].as_u64().unwrap()),
    ];
    for (name, kept, left_out) in parts {
        assert_eq!(kept + left_out, 200_000, "{name}");
        assert!(kept > 2_000, "{name}: {kept}");
    }
    assert_eq!(part(&html, 3)["left_out"], 0, "a small table keeps its rows");
}

#[test]
fn names_of_any_length_and_letters_keep_the_page_small() {
    let name = |index: usize| format!("/{index:06}/{}", "<".repeat(4_096));
    let names: Vec<String> = (0..5_000).map(name).collect();
    let spans = (0..5_000).map(|row| span(row, f64::from(row), 1.0));
    let rows: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 1.0)).collect();
    let html = Page::new(&names[0])
        .sentence(&names[1])
        .timeline(timeline(names.clone(), spans.collect()))
        .treemap(treemap(names.iter().rev().map(|name| leaf(name, 1.0)).collect()))
        .table(files(&rows))
        .command(&names.join(" "))
        .html();
    assert!(html.len() < 3_000_000, "{}", html.len());
}

#[test]
fn a_long_text_loses_its_middle() {
    let html = Page::new("long").sentence(&format!("A{}Z", "é".repeat(5_000))).html();
    let (_, text) = html.split_once("<p id=\"answer\">").unwrap();
    let text = text.split_once("</p>").unwrap().0;
    assert_eq!(text.chars().count(), 1_000);
    assert!(text.starts_with("Aé") && text.ends_with("éZ") && text.contains("é…é"));
}

#[test]
fn a_command_keeps_its_lines() {
    let html = Page::new("command").command("one <two>\n  three\x07").html();
    assert!(html.contains("<code>one &lt;two&gt;\n  three\\x07</code>"), "{html}");
}

#[test]
fn spans_alone_are_thinned_to_the_longest() {
    let spans: Vec<Span> = (0..200_000)
        .map(|index| span(index % 800, f64::from(index) * 1e-5, f64::from(index % 1_000) * 1e-6))
        .collect();
    let names = (0..800).map(|index| format!("/usr/lib/{index}.so")).collect();
    let html = Page::new("spans").timeline(timeline(names, spans)).html();
    assert!(html.len() < 3_000_000, "{}", html.len());
    let part = part(&html, 0);
    let lengths: Vec<u64> =
        part["length"].as_array().unwrap().iter().map(|value| value.as_u64().unwrap()).collect();
    assert_eq!(lengths.len() as u64 + part["left_out"].as_u64().unwrap(), 200_000);
    assert_eq!(lengths.iter().filter(|&&length| length == 9_990).count(), 200);
    // The legend counts what is left out too: 200 times 0 to 999 µs.
    assert_eq!(part["kinds"][0][2], 99_900_000_000_u64);
    let shortest = lengths.iter().min().unwrap();
    assert!(lengths.len() > 50_000 && *shortest >= 10 * (999 - lengths.len() as u64 / 200));
}

#[test]
fn a_page_of_a_start_is_below_a_megabyte() {
    let names: Vec<String> =
        (0..800).map(|index| format!("/usr/lib/x86_64-linux-gnu/part-{index}.so")).collect();
    let spans = (0..5_000).map(|index| span(index % 800, f64::from(index) * 1e-3, 1e-3));
    let rows: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 1.0)).collect();
    let html = Page::new("start")
        .timeline(timeline(names.clone(), spans.collect()))
        .treemap(treemap(names.iter().map(|name| leaf(name, 1.0)).collect()))
        .table(files(&rows))
        .html();
    assert!(html.len() < 1_000_000, "{}", html.len());
    assert_eq!((&part(&html, 0)["left_out"], &part(&html, 2)["left_out"]), (&json!(0), &json!(0)));
    assert_eq!(part(&html, 1)["others"], json!([]));
}

#[test]
fn files_are_in_the_order_of_first_need() {
    let names = ["late", "never", "early"].map(String::from).to_vec();
    let spans = vec![span(0, 2.0, 0.5), span(2, 1.0, 0.25), span(0, 3.0, 0.125)];
    let html = Page::new("order").timeline(timeline(names, spans)).html();
    let part = part(&html, 0);
    assert_eq!(data(&html)["names"], json!(["early", "main", "late"]));
    assert_eq!(part["rows"], json!([0, 2]));
    assert_eq!(part["row"], json!([0, 1, 1]));
    assert_eq!(part["start"], json!([10_000_000, 10_000_000, 10_000_000]));
    assert_eq!(part["length"], json!([2_500_000, 5_000_000, 1_250_000]));
}

#[test]
fn spans_of_no_time_or_place_are_counted() {
    let spans = vec![
        span(0, 0.0, 1.0),
        span(1, 0.0, 1.0),
        span(0, f64::NAN, 1.0),
        span(0, -1.0, 1.0),
        span(0, 0.0, f64::INFINITY),
        Span { kind: 9, ..span(0, 0.0, 1.0) },
        Span { thread: 9, ..span(0, 0.0, 1.0) },
    ];
    let html = Page::new("odd").timeline(timeline(vec!["file".into()], spans)).html();
    assert_eq!(part(&html, 0)["unusable"], 6);
    assert_eq!(part(&html, 0)["start"], json!([0]));
}

#[test]
fn what_a_treemap_leaves_out_is_added_to_its_folder() {
    let mut leaves: Vec<Leaf> =
        (0..20_000).map(|index| leaf(&format!("/a/b{}/{index}", index % 2), 1.0)).collect();
    leaves.push(leaf("/a/b0/long", 500.0));
    leaves.push(leaf("elsewhere", f64::NAN));
    let html = Page::new("map").treemap(treemap(leaves)).html();
    let (part, names) = (part(&html, 0), data(&html)["names"].clone());
    let sum = |column: &str| -> u64 {
        part[column].as_array().unwrap().iter().map(|value| value.as_u64().unwrap()).sum()
    };
    assert_eq!(sum("wait"), 20_500 * 1_000_000_000);
    assert_eq!(sum("requests"), 20_002);
    assert_eq!(names[0], "/a/b0/long");
    let others = |name: &str| names.as_array().unwrap().iter().any(|other| other == name);
    assert!(others("/a/b0/*") && others("/a/b1/*"));
}

#[test]
fn a_table_shows_its_first_rows_without_a_script() {
    let html =
        Page::new("table").table(files(&[("/etc/passwd", 0.0123), ("/etc/odd", f64::NAN)])).html();
    let row = "<tr><td class=\"path\">/etc/passwd</td><td class=\"seconds\">12.3 ms</td></tr>";
    assert!(html.contains(row), "{html}");
    assert!(html.contains("<td class=\"seconds\">unknown</td>"));
    assert_eq!(part(&html, 0)["columns"][1]["cells"], json!([12_300_000, -1]));
}

#[test]
fn words_among_figures_and_short_rows_are_no_trouble() {
    let mut table = files(&[]);
    table.rows = vec![vec!["a".into()], vec![1_204_u64.into(), "none".into()], Vec::new()];
    let html = Page::new("table").table(table).html();
    let cells = |column: usize| part(&html, 0)["columns"][column]["cells"].clone();
    assert_eq!(data(&html)["names"], json!(["a", "1,204", "none"]));
    assert_eq!((cells(0), cells(1)), (json!([0, 1, null]), json!([null, [2], null])));
}

#[test]
fn bars_are_in_proportion_and_odd_ones_are_none() {
    let bar = |value: f64| Bar { label: "x".into(), values: vec![value], figure: "y".into() };
    let bars = Bars { rows: vec![bar(8.0), bar(2.0), bar(f64::NAN)], ..Bars::default() };
    let html = Page::new("bars").bars(bars).html();
    for width in ["width=\"100.000%\"", "width=\"25.000%\"", "width=\"0.000%\""] {
        assert!(html.contains(width), "{width}");
    }
    assert!(!html.contains("NaN"));
}

#[test]
fn long_lines_are_drawn_through_a_thousand_points() {
    let points = (0..50_000).map(|x| LinePoint::exact(f64::from(x), 1.0)).collect();
    let chart = LineChart {
        title: "long".into(),
        x: Axis::linear("x", Unit::Count),
        y: Axis::linear("y", Unit::Count),
        series: vec![Series { name: "one".into(), points }],
        caption: String::new(),
    };
    let html = Page::new("curve").curve(Curve { heading: "Curve".into(), chart }).html();
    assert!(html.len() < 120_000 && html.contains("at most 1000 of its points"), "{}", html.len());
}

#[test]
fn an_empty_page_is_whole() {
    let html = Page::new("").html();
    assert!(html.starts_with("<!DOCTYPE html>\n") && html.ends_with("</html>\n"));
    assert_eq!(data(&html), json!({ "names": [], "parts": [] }));
}

#[test]
fn a_distribution_rises_to_all() {
    let counts = vec![(0, 1), (2_000, 2), (5_000_000, 1)];
    let curve = Curve::of_times("Times", "reads", [("cold".to_owned(), counts)], "of one run");
    let points = curve.chart.series[0].points.iter().map(|point| (point.x, point.y));
    let steps = [
        (1_000.0, 0.0),
        (1_000.0, 0.25),
        (2_000.0, 0.25),
        (2_000.0, 0.75),
        (5e6, 0.75),
        (5e6, 1.0),
    ];
    assert_eq!(points.collect::<Vec<_>>(), steps);
    let html = Page::new("times").curve(curve).html();
    assert!(html.contains("<td class=\"count\">5 ms</td><td class=\"count\">100 %</td>"));
}

#[test]
fn a_title_that_is_the_heading_is_not_said_twice() {
    let curve = Curve::of_times("Times", "reads", [], "");
    let drawn = |curve: Curve| {
        let html = Page::new("p").curve(curve).html();
        let is_drawn = |line: &&str| line.contains("<text") && line.contains("took at most");
        let titles = html.matches("<title>The share of reads that took at most").count();
        (html.lines().filter(is_drawn).count(), titles)
    };
    let chart = curve.chart.clone();
    assert_eq!((drawn(Curve::of(chart)), drawn(curve)), ((0, 1), (1, 1)));
}

#[test]
fn bars_of_one_named_part_have_one_colour() {
    let row = || Bar { values: vec![1.0], ..Bar::default() };
    let bars = |parts: Vec<String>| Bars { parts, rows: vec![row(), row()], ..Bars::default() };
    let html = |parts: &[&str]| {
        Page::new("p").bars(bars(parts.iter().map(ToString::to_string).collect())).html()
    };
    let count =
        |html: String, class: &str| html.matches(&format!("<rect class=\"{class}\"")).count();
    assert_eq!((count(html(&[]), "before"), count(html(&[]), "after")), (1, 1));
    assert_eq!(count(html(&["wait"]), "bar-1"), 2);
}
