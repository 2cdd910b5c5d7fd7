use super::*;
use std::sync::mpsc;

/// Hands out one place after another, and reports what it gets back.
struct OneAfterAnother {
    next: usize,
    end: usize,
    freed: mpsc::Sender<(usize, usize)>,
}

impl Placement for OneAfterAnother {
    fn place(&mut self, ask: &Ask) -> Option<usize> {
        let offset = self.next.next_multiple_of(ask.alignment);
        let end = (offset + ask.bytes).next_multiple_of(GRANULE_BYTES);
        (end <= self.end).then(|| {
            self.next = end;
            offset
        })
    }

    fn free(&mut self, offset: usize, bytes: usize) {
        let _ = self.freed.send((offset, bytes));
    }
}

/// Hands out the same place again and again.
struct Stuck;

impl Placement for Stuck {
    fn place(&mut self, _ask: &Ask) -> Option<usize> {
        Some(0)
    }

    fn free(&mut self, _offset: usize, _bytes: usize) {}
}

fn region(bytes: usize, limit: u64) -> (Region, Arc<Budget>, mpsc::Receiver<(usize, usize)>) {
    let (freed, receiver) = mpsc::channel();
    let budget = Budget::new(limit);
    let placement = Box::new(OneAfterAnother { next: 0, end: bytes, freed });
    (Region::new(bytes, placement, budget.clone()).unwrap(), budget, receiver)
}

fn ask(bytes: usize, alignment: usize) -> Ask {
    Ask { bytes, alignment, long_lived: false }
}

/// Bytes of the process that are in memory within the range of a region.
fn resident(region: &Region) -> usize {
    let mut pages = vec![0u8; region.0.bytes / PAGE_BYTES];
    // SAFETY: a look at a mapping that `region` keeps.
    let result = unsafe { libc_mincore(region.0.at(0), region.0.bytes, pages.as_mut_ptr()) };
    assert_eq!(result, 0);
    pages.iter().filter(|&&page| page & 1 == 1).count() * PAGE_BYTES
}

unsafe extern "C" {
    #[link_name = "mincore"]
    fn libc_mincore(start: *mut c_void, bytes: usize, pages: *mut u8) -> i32;
}

#[test]
fn buffers_are_apart_and_come_back_once() {
    let (region, budget, freed) = region(1 << 20, 1 << 20);
    let mut first = region.take(ask(100, 64)).unwrap();
    let mut second = region.take_aligned(5000).unwrap();
    first.fill(1);
    second.whole_mut().fill(2);
    second.set_len(5000);
    assert!(first.iter().all(|&byte| byte == 1) && second.iter().all(|&byte| byte == 2));
    assert_eq!(first.as_ptr() as usize % 64 + second.as_ptr() as usize % 4096, 0);
    assert!(region.contains(first.as_ptr()) && !region.contains([0u8].as_ptr()));
    assert_eq!(budget.held(), 128 + 5056);
    assert_eq!(region.bytes(), RegionBytes { asked: 5100, resident: 3 * 4096 });
    let frozen = first.freeze(false);
    drop(second);
    assert_eq!(freed.try_iter().collect::<Vec<_>>(), [(4096, 5056)]);
    assert_eq!(frozen[99], 1);
    drop(frozen);
    assert_eq!(freed.try_iter().collect::<Vec<_>>(), [(0, 128)]);
    assert_eq!((budget.held(), region.bytes().asked), (0, 0));
}

#[test]
#[should_panic(expected = "handed out twice")]
fn a_place_that_is_in_use_is_not_handed_out() {
    let region = Region::new(4096, Box::new(Stuck), Budget::new(4096)).unwrap();
    let _first = region.take(ask(64, 64)).unwrap();
    let _second = region.take(ask(64, 64));
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let (region, budget, _freed) = region(8192, 5000);
    assert_eq!(region.take(ask(5001, 64)).unwrap_err(), Refusal::Budget { held: 0, limit: 5000 });
    let first = region.take(ask(4096, 4096)).unwrap();
    let refusal = region.take(ask(1000, 64)).unwrap_err();
    assert_eq!(refusal, Refusal::Budget { held: 4096, limit: 5000 });
    drop(first);
    let second = region.take(ask(4096, 4096)).unwrap();
    assert_eq!(region.take(ask(64, 64)).unwrap_err(), Refusal::Room);
    assert_eq!(budget.held(), 4096);
    assert!(region.take(ask(0, 64)).unwrap().is_empty());
    drop(second);
    assert_eq!(budget.held(), 0);
    assert!(Region::new(usize::MAX, Box::new(Stuck), budget).is_err());
}

#[test]
fn memory_that_nothing_uses_goes_back_to_the_system() {
    let (region, _, _freed) = region(64 << 20, u64::MAX);
    for _ in 0..15 {
        let mut piece = region.take(ask(4 << 20, 4096)).unwrap();
        piece.fill(3);
        assert!(resident(&region) >= 4 << 20);
        drop(piece);
        assert!(resident(&region) <= IDLE_BYTES_MAX);
        assert!(region.bytes().resident as usize >= resident(&region));
    }
}

#[test]
fn a_part_keeps_only_its_own_pages() {
    let (region, budget, freed) = region(1 << 20, 1 << 20);
    let mut buffer = region.take_aligned(10 * 4096).unwrap();
    buffer.whole_mut().iter_mut().enumerate().for_each(|(at, byte)| *byte = (at / 4096) as u8);
    buffer.set_len(10 * 4096);
    let whole = buffer.into_piece().unwrap().freeze(false);
    let (first, second) = (whole.part(5000..9000), whole.part(8999..12_288));
    assert_eq!((first[0], second[0], second.len()), (1, 2, 3289));
    drop(whole);
    assert_eq!(freed.try_iter().collect::<Vec<_>>(), [(0, 4096), (3 * 4096, 7 * 4096)]);
    drop(first);
    assert_eq!(freed.try_iter().collect::<Vec<_>>(), [(4096, 4096)]);
    assert_eq!((second[1], budget.held()), (2, 4096));
    drop(second);
    assert_eq!((budget.held(), region.bytes().asked), (0, 0));
}

/// A frozen buffer whose bytes are the numbers of their pages.
fn numbered(region: &Region, pages: usize) -> Frozen {
    let mut piece = region.take(ask(pages * 4096, 4096)).unwrap();
    piece.iter_mut().enumerate().for_each(|(at, byte)| *byte = (at / 4096) as u8);
    piece.freeze(false)
}

#[test]
fn pages_in_the_middle_of_a_part_go_before_the_rest() {
    let (region, budget, freed) = region(1 << 20, 1 << 20);
    let whole = numbered(&region, 6);
    let mut first = whole.part(4096..5 * 4096 + 100);
    drop(whole);
    assert_eq!(freed.try_iter().collect::<Vec<_>>(), [(0, 4096)]);
    let mut middle = first.split_off(4096);
    let last = middle.split_off(2 * 4096);
    let inner = middle.part(5000..5001);
    drop(middle);
    assert_eq!(freed.try_iter().collect::<Vec<_>>(), [(2 * 4096, 4096)]);
    assert_eq!((first.len(), first[4095], inner[0]), (4096, 1, 3));
    assert_eq!((last.len(), last[0], last[4195]), (4096 + 100, 4, 5));
    drop(inner);
    assert_eq!(
        (freed.try_iter().collect::<Vec<_>>(), budget.held()),
        (vec![(3 * 4096, 4096)], 3 * 4096)
    );
    let empty = first.split_off(4096);
    assert!(empty.is_empty());
    drop((first, last, empty));
    assert_eq!((budget.held(), region.bytes().asked), (0, 0));
}

#[test]
#[should_panic(expected = "within a page")]
fn a_part_is_not_split_within_a_page() {
    let (region, ..) = region(1 << 20, 1 << 20);
    let _ = numbered(&region, 2).part(0..8192).split_off(100);
}

#[test]
fn a_short_read_and_a_region_that_outlives_its_owner() {
    let (region, budget, _freed) = region(1 << 20, 1 << 20);
    let mut buffer = region.take_aligned(9000).unwrap();
    buffer.set_len(10);
    let piece = buffer.into_piece().unwrap();
    assert_eq!((piece.len(), region.bytes().asked, budget.held()), (10, 10, 9024));
    let weak = region.downgrade();
    drop(region);
    assert!(weak.upgrade().is_some());
    let frozen = piece.freeze(true);
    assert_eq!(&frozen[..], [0; 10]);
    drop(frozen);
    assert!(weak.upgrade().is_none() && budget.held() == 0);
    assert!(AlignedBuf::with_capacity(10).into_piece().is_err(), "it is of no region");
}

#[test]
fn a_buffer_is_split_and_joined_again() {
    let (region, budget, freed) = region(1 << 20, 1 << 20);
    let mut first = region.take(ask(10_000, 4096)).unwrap();
    let mut rest = first.split_off(4096).unwrap();
    let last = rest.split_off(4096).unwrap();
    assert!(rest.split_off(4096).is_none());
    assert_eq!((first.len(), rest.len(), last.len()), (4096, 4096, 1808));
    [(&mut first, 1), (&mut rest, 2)].into_iter().for_each(|(piece, byte)| piece.fill(byte));
    first.append(rest);
    assert_eq!((first.len(), first[4095], first[4096]), (8192, 1, 2));
    drop(last);
    assert_eq!(freed.try_iter().collect::<Vec<_>>(), [(8192, 1856)]);
    drop(first);
    assert_eq!(freed.try_iter().collect::<Vec<_>>(), [(0, 8192)]);
    assert_eq!((budget.held(), region.bytes().asked), (0, 0));
}

#[test]
#[should_panic(expected = "is not behind")]
fn what_lies_elsewhere_is_not_joined() {
    let (region, ..) = region(1 << 20, 1 << 20);
    let mut first = region.take(ask(4096, 4096)).unwrap();
    let _second = region.take(ask(4096, 4096)).unwrap();
    first.append(region.take(ask(4096, 4096)).unwrap());
}

#[test]
fn threads_never_share_what_they_write() {
    let (region, budget, _freed) = region(64 << 20, u64::MAX);
    std::thread::scope(|scope| {
        for number in 0..4u8 {
            let region = &region;
            scope.spawn(move || {
                let mut held = Vec::new();
                for turn in 0..300usize {
                    let mut piece = region.take(ask(1 + turn * 977 % 40_000, 64)).unwrap();
                    piece.fill(number);
                    held.push(piece.freeze(turn % 3 == 0));
                    assert!(held.iter().all(|piece| piece.iter().all(|&byte| byte == number)));
                    held.drain(..held.len() * (turn % 3) / 2);
                }
            });
        }
    });
    assert_eq!((budget.held(), region.bytes().asked), (0, 0));
}
