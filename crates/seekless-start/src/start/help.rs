//! The helper: a process beside the program that brings its files in, watches whether they are what
//! the program needs, and learns from that.

use super::Start;
use super::at_once;
use super::bringing::Bringing;
use super::plan::Plan;
use super::recording::Now;
use super::waves::{self, Waves};
use crate::profiles::{self, Learned};
use seekless_policy::foresight::start::Course;
use seekless_record::Touches;
use seekless_sys::beside::{self, Beside};
use seekless_sys::descriptor::allow_descriptors;
use seekless_trace::{Access, PageSet, RunInfo, escape_path};
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How often the helper looks at the program.
const TICK: Duration = Duration::from_millis(20);
/// What a program needs after this is no longer its start.
const START: Duration = Duration::from_secs(120);
/// A program that has opened nothing by then of what was brought in does something else.
const PROOF: Duration = Duration::from_secs(10);
/// For so long page faults are looked at before that.
const TOUCHES_UNPROVEN: Duration = Duration::from_millis(100);
const PAGE_BYTES: u64 = 4096;
/// Files of a plan stay open until all is brought in.
const DESCRIPTORS: u64 = 64 << 10;

/// Does the helper's work, until the program has ended or nothing is left to do. `keep` gets what
/// was learned.
pub(super) fn help(beside: &mut Beside, start: &Start, keep: impl FnOnce(&Start, Learned)) {
    beside::yield_to_other_reads();
    allow_descriptors(DESCRIPTORS);
    let learns = matches!(start.recording, Now::Touches(_));
    let plan = &start.plan;
    // To bring in without seeing what is used would not notice a program that goes another way.
    let touches = Touches::follow(beside.pid()).ok();
    let bringing = Bringing::new(plan);
    let found = try_device(beside, &bringing);
    let at_once = found.map_or(plan.at_once, |found| plan.at_once.max(found.at_once as usize));
    let watch = std::thread::scope(|scope| {
        if seekless_job::crew::start(scope, 1, || bring(&bringing, at_once)).is_err() {
            bringing.stop();
        }
        if seekless_job::crew::start(scope, 1, || bringing.prove()).is_err() {
            bringing.stop();
        }
        let mut watch = Watch::new(plan, touches);
        watch.hold(beside, &bringing);
        watch.watch(beside, &bringing, learns);
        bringing.stop();
        watch
    });
    if learns && let Some(learned) = watch.learned(start) {
        keep(start, learned);
    }
}

/// Brings all in: by waves where the file system says where files lie, else several reads at once.
/// Names come first if the program is held back, else once it is seen to go by the profile.
fn bring(bringing: &Bringing<'_>, at_once: usize) {
    let plan = bringing.plan;
    let look_up = &|| {
        let threads = at_once.min(plan.names.len());
        side_by_side(bringing, threads, || plan.names.look_up(bringing.stopped()));
    };
    let is_held = plan.first_reads > 0;
    if is_held {
        look_up();
    }
    std::thread::scope(|scope| {
        let names = || {
            if bringing.is_proven() {
                look_up()
            }
        };
        if !is_held && seekless_job::crew::start(scope, 1, names).is_err() {
            bringing.stop();
        }
        match Waves::new(bringing) {
            Some(waves) => side_by_side(bringing, waves::AT_ONCE, || while waves.next() {}),
            None => {
                side_by_side(bringing, at_once.min(plan.reads.len()), || while bringing.next() {});
            }
        }
    });
}

/// Does something on several threads, and waits for them.
fn side_by_side(bringing: &Bringing<'_>, threads: usize, work: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        if seekless_job::crew::start(scope, threads, &work).is_err() {
            bringing.stop();
        }
    });
}

/// Finds out how many requests a device serves at once, if that is to be tried. The program starts
/// while reads are made together, unless it is to be held back for its files.
fn try_device(beside: &mut Beside, bringing: &Bringing<'_>) -> Option<at_once::Found> {
    let trial = bringing.plan.trial.as_ref()?;
    let found = bringing.trial(trial, || {
        if bringing.plan.first_reads == 0 {
            beside.release();
        }
    })?;
    // Without the note it is tried again at the next start.
    let _ = at_once::keep(&trial.device, found);
    Some(found)
}

/// What is seen of the program.
struct Watch {
    touches: Option<Touches>,
    rows: Vec<Access>,
    judged: usize,
    expected: Expected,
    course: Course,
    started: Instant,
    started_unix_ns: Option<u64>,
    duration: Duration,
    cpu_ns: Option<u64>,
}

impl Watch {
    fn new(plan: &Plan, touches: Option<Touches>) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok();
        Self {
            touches,
            rows: Vec::new(),
            judged: 0,
            expected: Expected::new(plan),
            course: Course::default(),
            started: Instant::now(),
            started_unix_ns: now.map(|now| now.as_nanos() as u64),
            duration: Duration::ZERO,
            cpu_ns: None,
        }
    }

    /// Holds the program back until the first reads are done.
    fn hold(&mut self, beside: &mut Beside, bringing: &Bringing<'_>) {
        let first = bringing.plan.first_reads;
        while bringing.done() < first && !bringing.is_done() {
            if beside.has_ended(Duration::from_millis(2)) {
                break;
            }
        }
        self.started = Instant::now();
        beside.release();
    }

    /// Watches the program until it has ended, or there is nothing left to do or to learn.
    fn watch(&mut self, beside: &Beside, bringing: &Bringing<'_>, learns: bool) {
        loop {
            let ended = beside.has_ended(TICK);
            self.cpu_ns = beside.cpu_ns().or(self.cpu_ns);
            if let Some(touches) = &mut self.touches {
                touches.take(&mut self.rows);
            }
            if !learns && bringing.is_unproven() && self.started.elapsed() > TOUCHES_UNPROVEN {
                self.touches = None; // while nothing is brought in, they only cost the program
            }
            let too_late = self.started.elapsed() > PROOF && bringing.is_unproven();
            if too_late || !self.goes_on() {
                bringing.stop();
            }
            let learned = !learns || self.touches.is_none() || self.started.elapsed() > START;
            if ended || (bringing.is_done() && learned) {
                self.duration = self.started.elapsed();
                return;
            }
        }
    }

    /// Whether the program still does what was expected, by its newest touches.
    fn goes_on(&mut self) -> bool {
        let Some(touches) = &self.touches else { return true };
        let names = touches.names();
        let mut goes_on = true;
        for row in &self.rows[self.judged..] {
            let expected = self.expected.holds(names, row);
            goes_on &= self.course.touched(expected).unwrap_or(true);
        }
        self.judged = self.rows.len();
        goes_on
    }

    /// What the start has needed, if anything.
    fn learned(mut self, start: &Start) -> Option<Learned> {
        let touches = self.touches.take()?;
        let (names, _) = touches.finish(&mut self.rows);
        let text = |word: &std::ffi::OsString| escape_path(word.as_bytes());
        let info = RunInfo {
            command: start.words.iter().map(text).collect(),
            clock: "monotonic".to_owned(),
            source: "seekless run: page faults; reads by calls as of an earlier run".to_owned(),
            started_unix_ns: self.started_unix_ns,
            duration_ns: Some(self.duration.as_nanos() as u64),
            ..RunInfo::default()
        };
        let nothing = seekless_trace::Profile::default();
        let before = start.profile.as_ref().unwrap_or(&nothing);
        let learned = profiles::learn(&names, &self.rows, info, self.cpu_ns, before);
        (learned.needs() > 0).then_some(learned)
    }
}

/// What the profile's runs touched.
struct Expected {
    files: HashMap<String, u32>,
    pages: PageSet,
}

impl Expected {
    fn new(plan: &Plan) -> Self {
        let (mut files, mut pages) = (HashMap::new(), PageSet::default());
        for (number, (name, extents)) in (0..).zip(&plan.expected) {
            files.insert(name.clone(), number);
            for extent in extents {
                let first = extent.offset / PAGE_BYTES;
                pages.add(number, first..extent.end().div_ceil(PAGE_BYTES));
            }
        }
        Self { files, pages }
    }

    /// Whether all of a touch was expected.
    fn holds(&mut self, names: &[String], row: &Access) -> bool {
        let name = names.get(row.file as usize);
        let Some(file) = name.and_then(|name| self.files.get(name)) else { return false };
        let first = u64::try_from(row.offset).unwrap_or(0);
        let end = first.saturating_add(row.bytes);
        self.pages.add(*file, first / PAGE_BYTES..end.div_ceil(PAGE_BYTES)).is_none()
    }
}
