//! Whether the page cache has room for what is read: judged by how full it is, then by what happens
//! to the bytes that are read.
//!
//! A cache with free memory for all that is absent is filled. A cache that is full of this
//! program's own pages is left as it is: bytes that came in would push out what was kept. If it is
//! full of other programs' pages, only a trial shows which of the two it is.

use crate::growth::Growth;
use crate::headroom::Headroom;

/// If less than this is absent, it is not worth asking how full the cache is.
const ASKED_BYTES: u64 = 4 << 20;
/// A cache of this size does not miss the memory of a few more reads in flight.
const LARGE_BYTES: u64 = 1 << 30;

/// What is believed of the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Belief {
    /// It takes all that is absent without pushing anything out.
    Enough,
    /// It takes this many more bytes.
    Free(u64),
    /// It is unknown. Bytes are read into the cache as long as the count of cached bytes grows.
    Trial,
    /// It is full. Bytes that came in would push out what was kept.
    Full,
}

impl Belief {
    /// What the cache's state says about `absent` bytes that are to come in, while this program has
    /// `ours` bytes in it.
    fn of(now: Option<Headroom>, absent: u64, ours: u64) -> Belief {
        let Some(now) = now else { return Belief::Trial };
        match now.before_full() {
            _ if now.takes(absent) => Belief::Enough,
            0 if now.is_full_of(ours) => Belief::Full,
            0 => Belief::Trial,
            free => Belief::Free(free),
        }
    }
}

/// The room in the page cache for what a program reads.
#[derive(Debug)]
pub(crate) struct Room {
    belief: Belief,
    /// The bytes that were found absent, and their number when the room was judged last.
    absent: u64,
    judged: u64,
    /// Looked up when first needed; `None` inside if the system does not say.
    headroom: Option<Option<Headroom>>,
    /// The growth of the file with this number, which is being read into the cache.
    growth: Option<(usize, Growth)>,
}

impl Room {
    /// A room with this belief.
    pub(crate) fn new(belief: Belief) -> Self {
        Room { belief, absent: 0, judged: 0, headroom: None, growth: None }
    }

    /// The room for a single file, number 0, with `absent` bytes not cached and `cached` bytes
    /// cached.
    pub(crate) fn of_file(absent: u64, cached: u64, ours: u64, now: Option<Headroom>) -> Self {
        let mut room = Room::new(Belief::of(now, absent, ours));
        room.begin(0, || Some(cached));
        room
    }

    pub(crate) fn belief(&self) -> Belief {
        self.belief
    }

    /// Whether it is known what happens to the cache when more is read.
    pub(crate) fn is_known(&self) -> bool {
        matches!(self.belief, Belief::Enough | Belief::Full)
    }

    /// Whether reading what is absent pushes out nothing, or next to nothing.
    pub(crate) fn is_spared(&self) -> bool {
        self.is_known() || self.absent < ASKED_BYTES
    }

    /// How full the cache was when this was first asked; `look` asks the system.
    pub(crate) fn headroom(&mut self, look: impl FnOnce() -> Option<Headroom>) -> Option<Headroom> {
        *self.headroom.get_or_insert_with(look)
    }

    /// Notes that another file has this many absent bytes.
    pub(crate) fn miss(&mut self, bytes: u64) {
        self.absent += bytes;
    }

    /// Judges by what is absent of all files so far, and by how much of the cache is `ours`. A
    /// cache that was seen full stays full. Free memory is not counted down, because more files may
    /// follow.
    pub(crate) fn judge(&mut self, ours: u64, look: impl FnOnce() -> Option<Headroom>) {
        if self.belief == Belief::Full || self.absent < ASKED_BYTES || self.judged == self.absent {
            return;
        }
        self.judged = self.absent;
        self.belief = match Belief::of(self.headroom(look), self.absent, ours) {
            Belief::Free(_) => Belief::Trial,
            other => other,
        };
    }

    /// Whether the room was judged, and the cache is so large that it has memory to spare for a few
    /// more reads in flight.
    pub(crate) fn is_large(&self) -> bool {
        self.judged > 0
            && self.headroom.flatten().is_some_and(|headroom| headroom.bytes() >= LARGE_BYTES)
    }

    /// Begins to read a file into the cache; `cached` gives how many of its bytes are cached
    /// before.
    pub(crate) fn begin(&mut self, file: usize, cached: impl FnOnce() -> Option<u64>) {
        if self.growth.is_none_or(|(of, _)| of != file)
            && let Some(cached) = cached()
        {
            let growth =
                self.growth.map_or(Growth::from(cached), |(_, growth)| growth.with(cached));
            self.growth = Some((file, growth));
        }
    }

    /// Counts bytes of a file that were read into the cache. After each `step_bytes`, `cached`
    /// gives how many of its bytes are cached.
    pub(crate) fn kept(
        &mut self,
        file: usize,
        bytes: u64,
        step_bytes: u64,
        cached: impl FnOnce() -> Option<u64>,
    ) {
        match (self.belief, &mut self.growth) {
            (Belief::Enough | Belief::Full, _) => {}
            (Belief::Free(left), _) if left > bytes => self.belief = Belief::Free(left - bytes),
            (Belief::Free(_), _) => {
                let now = cached();
                self.belief = if now.is_some() { Belief::Trial } else { Belief::Full };
                self.growth = now.map(|now| (file, Growth::from(now)));
            }
            (Belief::Trial, Some((of, growth))) if *of == file => {
                if growth.is_over(bytes, step_bytes, cached) {
                    self.belief = Belief::Full;
                }
            }
            (Belief::Trial, _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn judged(absent: u64, ours: u64, free: u64, cached: u64) -> Belief {
        Belief::of(Some(Headroom { free, cached }), absent, ours)
    }

    #[test]
    fn room_is_judged_by_what_is_free_and_by_whose_the_rest_is() {
        assert_eq!(judged(100 * MIB, 0, 132 * MIB, 0), Belief::Enough);
        assert_eq!(judged(100 * MIB, 0, 116 * MIB, 0), Belief::Free(100 * MIB));
        assert_eq!(judged(100 * MIB, 90 * MIB, MIB, 100 * MIB), Belief::Full);
        assert_eq!(judged(100 * MIB, 50 * MIB, MIB, 100 * MIB), Belief::Trial);
        assert_eq!(Belief::of(None, MIB, 7), Belief::Trial);
    }

    #[test]
    fn a_full_cache_stays_full_and_the_system_is_asked_once() {
        let now = Some(Headroom { free: 0, cached: 90 * MIB });
        let mut room = Room::new(Belief::Trial);
        room.miss(MIB);
        room.judge(90 * MIB, || unreachable!("not for so little"));
        assert!(room.is_spared() && !room.is_known());
        room.miss(100 * MIB);
        room.judge(0, || now);
        assert_eq!(room.belief(), Belief::Trial, "full of others' pages");
        room.judge(90 * MIB, || unreachable!("nothing was added"));
        room.miss(MIB);
        room.judge(90 * MIB, || unreachable!("asked once"));
        assert_eq!((room.belief(), room.is_known()), (Belief::Full, true));
        room.miss(MIB);
        room.judge(0, || unreachable!());
        assert_eq!(room.belief(), Belief::Full);
        assert_eq!(room.headroom(|| unreachable!()), now);
        assert!(!room.is_large());
    }

    #[test]
    fn files_that_follow_may_take_what_is_free() {
        let now = Some(Headroom { free: 2 << 30, cached: 0 });
        let mut room = Room::new(Belief::Trial);
        room.miss(1 << 30);
        room.judge(0, || now);
        assert_eq!(room.belief(), Belief::Enough);
        assert!(room.is_large());
        room.miss(1 << 30);
        room.judge(0, || unreachable!());
        assert_eq!(room.belief(), Belief::Trial);
        assert_eq!(
            Room::of_file(2 << 30, 0, 0, now).belief(),
            Belief::Free((2 << 30) - (16 << 20))
        );
    }

    #[test]
    fn what_is_free_is_counted_down_and_then_tried_until_nothing_grows() {
        let mut room = Room::new(Belief::Free(5 * MIB));
        let step = 4 * MIB;
        room.kept(0, 2 * MIB, step, || unreachable!());
        room.kept(0, 2 * MIB, step, || unreachable!());
        assert_eq!(room.belief(), Belief::Free(MIB));
        room.kept(0, 2 * MIB, step, || Some(6 * MIB));
        for cached in [10 * MIB, 11 * MIB, 14 * MIB] {
            room.kept(0, 2 * MIB, step, || unreachable!());
            room.kept(0, 2 * MIB, step, || Some(cached));
        }
        assert_eq!(
            room.belief(),
            Belief::Trial,
            "a strike is forgotten when the count grows again"
        );
        room.kept(0, 4 * MIB, step, || Some(15 * MIB));
        room.kept(0, 4 * MIB, step, || Some(15 * MIB));
        assert_eq!(room.belief(), Belief::Full);
        room.kept(0, 4 * MIB, step, || unreachable!());
        let mut untold = Room::new(Belief::Free(0));
        untold.kept(0, MIB, step, || None);
        assert_eq!(untold.belief(), Belief::Full);
    }

    #[test]
    fn a_trial_goes_on_from_file_to_file() {
        let mut room = Room::new(Belief::Trial);
        room.kept(1, 8 * MIB, MIB, || unreachable!("nothing was begun"));
        room.begin(1, || Some(MIB));
        room.begin(1, || unreachable!("it was begun"));
        room.kept(1, 2 * MIB, 2 * MIB, || Some(MIB));
        room.begin(2, || Some(0));
        room.kept(1, 2 * MIB, 2 * MIB, || unreachable!("of another file"));
        assert_eq!(room.belief(), Belief::Trial);
        room.kept(2, 2 * MIB, 2 * MIB, || Some(0));
        assert_eq!(room.belief(), Belief::Full, "the second strike");
    }
}
