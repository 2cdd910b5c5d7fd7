//! A page of a start that never was: figures of the size and shape of a real one.

use seekless_report::chart::{Axis, LineChart, LinePoint, Series, Unit};
use seekless_report::page::{
    Bar, Bars, Cell, Column, Content, Curve, Facts, Hue, Kind, Leaf, Page, Span, Table, Timeline,
    Treemap,
};

/// The same numbers every time: xorshift.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 11) % end
    }

    /// Mostly small, seldom large.
    fn skewed(&mut self, middle: f64) -> f64 {
        let share = (self.below(1_000_000) as f64 + 1.0) / 1_000_001.0;
        middle * (-share.ln()).powf(2.2)
    }
}

struct File {
    path: String,
    wait_s: f64,
    bytes: u64,
    calls: u64,
    first_s: f64,
}

/// The page of a start that uses this many files in this many spans.
pub(crate) fn page(files: usize, spans: usize) -> Page {
    let mut numbers = Numbers(42);
    let (timeline, mut files) = timeline(&mut numbers, files, spans);
    let wait_s: f64 = files.iter().map(|file| file.wait_s).sum();
    files.sort_by(|a, b| b.wait_s.total_cmp(&a.wait_s));
    let leaf = |file: &File| Leaf {
        path: file.path.clone(),
        wait_s: file.wait_s,
        bytes: file.bytes,
        requests: file.calls,
    };
    let leaves = files.iter().map(leaf).collect();
    Page::new("seekless advise -- inkscape --export-type=png drawing.svg")
        .sentence(
            "A cold start takes 4.12 s: 870.4 ms of its own work, and 3.25 s of waiting for \
             files. seekless run would bring it to 1.31 s.",
        )
        .sentence(
            "It looks up 5,210 names and needs 141.2 MB of 800 files. The device serves 3,904 \
             requests and 148.0 MB.",
        )
        .bars(starts())
        .timeline(timeline)
        .treemap(Treemap {
            heading: "Where the wait lies".into(),
            note: "Folders and files by waiting in calls.".into(),
            leaves,
        })
        .table(causes())
        .table(table(&files, wait_s))
        .curve(curve())
        .facts(facts())
        .command("seekless advise --html report.html -- inkscape --export-type=png drawing.svg")
}

fn starts() -> Bars {
    let bar = |label: &str, wait: f64, figure: &str| Bar {
        label: label.into(),
        values: vec![0.87, wait],
        figure: figure.into(),
    };
    Bars {
        heading: "Before and after".into(),
        note: "Medians of five cold starts; those with a measure are simulated, ±90.0 ms.".into(),
        parts: vec!["its own work".into(), "waiting for files".into()],
        rows: vec![
            bar("as it is", 3.25, "4.12 s"),
            bar("seekless run", 0.44, "1.31 s"),
            bar("warm at login", 0.05, "920.1 ms"),
            bar("all cached", 0.0, "870.4 ms"),
        ],
    }
}

const FOLDERS: [(&str, &str, f64); 9] = [
    ("/usr/lib/x86_64-linux-gnu", "so.6", 1.0),
    ("/usr/lib/x86_64-linux-gnu/inkscape", "so", 2.6),
    ("/usr/lib/x86_64-linux-gnu/gdk-pixbuf-2.0/2.10.0/loaders", "so", 0.7),
    ("/usr/share/inkscape/extensions", "inx", 0.5),
    ("/usr/share/inkscape/ui", "xml", 0.6),
    ("/usr/share/icons/hicolor/scalable/actions", "svg", 0.4),
    ("/usr/share/fonts/truetype/dejavu", "ttf", 1.6),
    ("/usr/share/locale/de/LC_MESSAGES", "mo", 0.5),
    ("/home/ann/.config/inkscape", "xml", 0.3),
];

fn timeline(numbers: &mut Numbers, files: usize, spans: usize) -> (Timeline, Vec<File>) {
    let file = |index: usize| {
        let (folder, ending, _) = FOLDERS[folder_of(index, files)];
        let path = format!("{folder}/part-{index:03}.{ending}");
        File { path, wait_s: 0.0, bytes: 0, calls: 0, first_s: f64::MAX }
    };
    let mut used: Vec<File> = (0..files).map(file).collect();
    let mut clocks = [0.02_f64, 0.35, 0.9, 1.4];
    let each = 3.9 / (spans as f64 / 1.05);
    let mut made = Vec::with_capacity(spans);
    for index in 0..spans {
        let row = index * files / spans;
        let row = if numbers.below(9) == 0 { numbers.below(row as u64 + 1) as usize } else { row };
        let thread = if numbers.below(3) == 0 { 1 + numbers.below(3) as usize } else { 0 };
        let kind = [0, 0, 0, 1, 1, 2, 2, 2, 3, 4][numbers.below(10) as usize];
        let middle = [each, each * 0.3, each * 0.01, each * 0.8, each * 0.4][kind];
        let seconds = numbers.skewed(middle) * FOLDERS[folder_of(row, files)].2;
        let bytes = if matches!(kind, 0 | 2 | 3) { 4096 * (1 + numbers.below(32)) } else { 0 };
        let start_s = clocks[thread].max(clocks[0] - 0.2);
        clocks[thread] = start_s + seconds + numbers.skewed(each * 0.2);
        let file = &mut used[row];
        file.first_s = file.first_s.min(start_s);
        file.wait_s += if kind == 2 { 0.0 } else { seconds };
        file.bytes += bytes;
        file.calls += 1;
        made.push(Span {
            row: row as u32,
            thread: thread as u32,
            kind: kind as u32,
            start_s,
            seconds,
            bytes,
        });
    }
    let kind = |name: &str, hue| Kind { name: name.into(), hue };
    let timeline = Timeline {
        heading: "What was needed when".into(),
        note: "Files in the order of first need, from the top; each mark is a call or a touch of \
               a mapped page."
            .into(),
        rows: used.iter().map(|file| file.path.clone()).collect(),
        threads: ["inkscape", "pool-1", "pool-2", "gmain"].map(String::from).into(),
        kinds: vec![
            kind("waiting for a read", Hue::Orange),
            kind("look-up", Hue::Blue),
            kind("cached read", Hue::Grey),
            kind("touch of a mapped page", Hue::Pink),
            kind("write or sync", Hue::Green),
        ],
        spans: made,
    };
    (timeline, used)
}

fn folder_of(index: usize, files: usize) -> usize {
    (index * FOLDERS.len() / files + index % 2).min(FOLDERS.len() - 1)
}

fn causes() -> Table {
    let row = |why: &str, wait: f64, calls: u64, bytes: u64| {
        vec![why.into(), wait.into(), (wait / 3.25).into(), calls.into(), bytes.into()]
    };
    Table {
        heading: "Where the wait goes".into(),
        note: String::new(),
        columns: vec![
            Column::new("Cause", Content::Text),
            Column::new("Wait", Content::Seconds),
            Column::new("Share", Content::Share),
            Column::new("Calls", Content::Count),
            Column::new("Bytes", Content::Bytes),
        ],
        rows: vec![
            row("small files read one by one", 1.42, 1_204, 31_000_000),
            row("touches of mapped files", 0.98, 812, 88_200_000),
            row("names and inodes looked up", 0.51, 3_100, 0),
            row("names looked up that are not there", 0.22, 2_110, 0),
            row("not explained", 0.12, 0, 0),
        ],
    }
}

fn table(files: &[File], wait_s: f64) -> Table {
    let row = |file: &File| -> Vec<Cell> {
        vec![
            file.path.as_str().into(),
            file.wait_s.into(),
            (file.wait_s / wait_s).into(),
            file.calls.into(),
            file.bytes.into(),
            file.first_s.into(),
        ]
    };
    Table {
        heading: "Files".into(),
        note: "By waiting in calls; a column's heading sorts by it.".into(),
        columns: vec![
            Column::new("File", Content::Path),
            Column::new("Wait", Content::Seconds),
            Column::new("Share", Content::Share),
            Column::new("Calls", Content::Count),
            Column::new("Needed", Content::Bytes),
            Column::new("First used", Content::Seconds),
        ],
        rows: files.iter().map(row).collect(),
    }
}

fn curve() -> Curve {
    let point = |step: i32| {
        LinePoint::exact(50_000.0 * 1.3_f64.powi(step), 1.0 - (-f64::from(step) / 9.0).exp())
    };
    let series = |name: &str, by: f64| Series {
        name: name.into(),
        points: (0..30).map(point).map(|p| LinePoint::exact(p.x * by, p.y)).collect(),
    };
    Curve {
        heading: "How long a read takes".into(),
        chart: LineChart {
            title: "Reads that took at most this long".into(),
            x: Axis::log("time of a read", Unit::Duration),
            y: Axis::linear("reads", Unit::Percent),
            series: vec![series("as it is", 1.0), series("seekless run", 0.2)],
            caption: "3,904 requests of the median cold start".into(),
        },
    }
}

fn facts() -> Facts {
    let rows = [
        ("Starts", "5 cold starts and 5 cached starts, in turn"),
        ("Cold", "files, names and inodes dropped; residency checked before each start"),
        ("Device", "ext4 on vda: 812.4 µs a request, 150.2 MB/s, 8 at once (measured)"),
        ("Seen by", "eBPF, no events lost"),
        ("Seekless", "0.1.0"),
    ];
    Facts {
        heading: "How it was measured".into(),
        rows: rows.map(|(name, value)| (name.into(), value.into())).into(),
    }
}
