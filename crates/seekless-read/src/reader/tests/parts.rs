//! The parts of the reader that need a page cache, over one that is made up.

use super::*;
use crate::reader::block::Block;
use crate::reader::device::Device;
use crate::reader::planned::Planned;
use crate::reader::source::{Source, State};
use crate::reader::survey::Survey;
use crate::reader::window::{Outcome, Windows};
use std::sync::atomic::Ordering;

/// A file of 10 pages, as the survey finds it.
fn surveyed(made: &Made, options: &Options) -> (NamedTempFile, Source) {
    let file = written(40_960);
    let mut source = Source::new(file.path(), None);
    source.state = Survey { kernel: made, options }.first(&source).unwrap();
    (file, source)
}

fn planned(source: &mut Source) -> (&mut Planned, Arc<File>) {
    let planned = source.planned_mut().unwrap();
    let open = planned.opened.as_ref().unwrap().buffered.clone();
    (planned, open)
}

#[test]
fn a_survey_sorts_what_is_cached_from_what_is_not_and_sorts_it_anew_when_asked_again() {
    let (made, options) = (Made::new(&[true, false]), options(Records::None, 4096));
    let (_file, mut source) = surveyed(&made, &options);
    let path = source.path.clone();
    let (planned, open) = planned(&mut source);
    assert!(planned.answer.known && !planned.answer.once);
    assert_eq!((planned.left.cached.bytes(), planned.left.absent_bytes()), (5 * PAGE, 5 * PAGE));
    planned.left.cached.take(PAGE);
    made.warm.store(true, Ordering::Relaxed);
    planned.answer.surprised = true;
    Survey { kernel: &made, options: &options }.again(&path, planned, &open);
    assert_eq!((planned.left.cached.bytes(), planned.left.absent_bytes()), (9 * PAGE, 0));
    assert!(planned.answer.just_looked && !planned.answer.surprised);
}

#[test]
fn streams_empty_files_and_the_linear_plan_are_not_planned() {
    let made = Made::new(&[true]);
    let first = |path: &Path, plan| {
        let options = Options { plan, ..Options::default() };
        Survey { kernel: &made, options: &options }.first(&Source::new(path, None))
    };
    let (empty, full) = (written(0), written(10));
    for (path, plan) in [(empty.path(), Plan::Best), (full.path(), Plan::Linear)] {
        assert!(matches!(first(path, plan), Ok(State::Linear(Some(_)))));
    }
    assert!(matches!(first(full.path(), Plan::Best), Ok(State::Planned(_))));
    assert_eq!(first(Path::new("/nowhere"), Plan::Best).unwrap_err().kind(), ErrorKind::Open);
}

#[test]
fn a_window_that_has_left_the_cache_is_asked_about_again_or_left_out() {
    for cached_only in [false, true] {
        let reach = Reach { cached_only, ..Reach::default() };
        let options = Options { reach, ..options(Records::None, 4096) };
        let (_file, mut source) = surveyed(&Made::new(&[true]), &options);
        let (planned, open) = planned(&mut source);
        let gone = Made::new(&[false]);
        let mut device = Device::new(Arc::new(Linux::default()), &options);
        let mut read = |planned: &mut Planned, kernel: &Made| {
            Windows { kernel, options: &options, open: &open }.next(planned, &mut device)
        };
        if cached_only {
            assert!(matches!(read(planned, &gone), Outcome::Gone));
            assert_eq!(planned.left.absent.bytes(), PAGE, "it is not read from the device");
        } else {
            assert!(
                matches!(read(planned, &gone), Outcome::Block(0, Block::Read(..))),
                "just looked at"
            );
            assert!(matches!(read(planned, &gone), Outcome::Stale));
        }
    }
}

#[test]
fn a_window_of_a_file_that_was_cut_is_short() {
    let (made, options) = (Made::new(&[true]), options(Records::None, 4096));
    let (file, mut source) = surveyed(&made, &options);
    let (planned, open) = planned(&mut source);
    let mut device = Device::new(Arc::new(Linux::default()), &options);
    let windows = Windows { kernel: &made, options: &options, open: &open };
    let mut read = |planned: &mut Planned| windows.next(planned, &mut device);
    let Outcome::Block(0, block) = read(planned) else { panic!("the first window") };
    assert_eq!(block.bytes(), &text(40_960)[..4096]);
    file.as_file().set_len(5_000).unwrap();
    assert!(matches!(read(planned), Outcome::Short));
    assert_eq!(planned.left.cached.first(), Some(8_192..40_960));
}
