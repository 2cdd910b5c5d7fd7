//! The numbers of the header, and calls as C makes them with arguments that mean nothing.

use super::*;
use std::mem::offset_of;
use std::os::fd::AsRawFd;
use std::ptr::null_mut;

fn error() -> String {
    // SAFETY: the text of this thread, copied at once.
    unsafe { CStr::from_ptr(sleds_error()) }.to_str().unwrap().to_owned()
}

/// `tests/calls.c` asserts the same of the header.
#[test]
fn the_structure_is_laid_out_as_the_header_says() {
    assert_eq!(size_of::<CSled>(), 48);
    assert_eq!(
        [offset_of!(CSled, offset), offset_of!(CSled, length), offset_of!(CSled, latency)],
        [0, 8, 16]
    );
    assert_eq!([offset_of!(CSled, bandwidth), offset_of!(CSled, age)], [24, 32]);
    assert_eq!([offset_of!(CSled, level), offset_of!(CSled, confidence)], [40, 44]);
}

#[test]
fn levels_have_the_names_that_they_have_elsewhere() {
    let levels =
        [Level::Hole, Level::Memory, Level::Device, Level::Network, Level::Archive, Level::Unknown];
    for (number, level) in levels.into_iter().enumerate() {
        // SAFETY: a literal.
        let name = unsafe { CStr::from_ptr(sleds_level_name(number as c_int)) };
        assert_eq!(name.to_str(), Ok(level.name()));
    }
    assert!(sleds_level_name(-1).is_null() && sleds_level_name(6).is_null());
}

#[test]
fn what_means_nothing_is_refused_in_words() {
    let file = tempfile::tempfile().unwrap();
    let fd = file.as_raw_fd();
    assert_eq!(sleds_pick_init(-1, 0, -1), -1);
    assert!(error().contains("descriptor -1 is not open"));
    assert_eq!(sleds_pick_init(fd, 0, 256), -1);
    assert!(error().contains("from 0 to 255"));
    assert_eq!(sleds_pick_init_fixed(fd, 0, -1, 8), -1);
    assert!(error().contains("origin"));
    assert_eq!(sleds_pick_init_fixed(fd, 0, 0, 0), -1);
    assert_eq!(ff_sleds_pick_init(fd, i64::MAX, 0, 8, -1), -1);
    assert!(error().contains("more than can be counted"));
    assert!(sleds_total_delivery_time(fd, 2) < 0.0);
    assert_eq!(sleds_pick_finish(fd), -1);
    assert!(error().contains("sleds_pick_init first"));
    let (mut offset, mut length) = (0, 0);
    // SAFETY: null where the call must refuse it, else places of our own.
    unsafe {
        assert_eq!(sleds_get(fd, null_mut(), &mut length), -1);
        assert_eq!(error(), "sleds is NULL");
        assert_eq!(sleds_delivery_time_range(fd, 1, null_mut(), null_mut()), -1);
        assert_eq!(sleds_pick_next_read(fd, 1, 0, null_mut(), &mut length), -1);
        assert_eq!(error(), "offset is NULL");
        assert_eq!(sleds_pick_next_read(fd, 1, 0, &mut offset, &mut length), -1);
        sleds_free(null_mut());
    }
}

#[test]
fn an_empty_file_has_no_sleds_and_nothing_to_read() {
    let file = tempfile::tempfile().unwrap();
    let fd = file.as_raw_fd();
    let (mut sleds, mut count, mut offset, mut length) = (null_mut(), 1, 1, 1);
    // SAFETY: places of our own.
    unsafe {
        assert_eq!(sleds_get(fd, &mut sleds, &mut count), 0);
        assert!(sleds.is_null() && count == 0);
        assert_eq!(sleds_pick_init(fd, 1, -1), 4096);
        assert_eq!(sleds_pick_next_read(fd, 4096, 0, &mut offset, &mut length), 0);
        assert_eq!((offset, length), (0, 0));
    }
    assert_eq!(sleds_pick_finish(fd), 0);
}
