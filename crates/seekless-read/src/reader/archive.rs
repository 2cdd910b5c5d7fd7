//! Which archived file is recalled next. Where the archive's positions are known, a volume (a tape)
//! is passed once, from the place of its head upwards; else the file that costs the least a byte
//! comes next.

use super::kernel::Closed;
use super::levels::cost_of;
use super::price::Price;
use super::schedule::Turn;
use crate::Reach;
use seekless_sled::Position;
use std::collections::{BTreeMap, BTreeSet};

/// A file that lies in an archive.
#[derive(Clone, Debug)]
pub(super) struct Stub {
    pub(super) price: Price,
    pub(super) position: Option<Position>,
}

impl Stub {
    /// An archived file; its size, if it is beyond `reach`.
    pub(super) fn within(reach: &Reach, closed: Closed) -> Result<Self, u64> {
        let Closed { sleds, position } = closed;
        let (cost, bytes) = cost_of(&sleds);
        let farthest = sleds.iter().map(|sled| sled.latency).max().unwrap_or_default();
        match reach.leaves_out(farthest, cost) {
            true => Err(bytes),
            false => Ok(Stub { price: Price::of(cost, bytes), position }),
        }
    }
}

/// Files to be recalled.
#[derive(Debug, Default)]
pub(super) struct Archive {
    /// Those without a known position.
    anywhere: BTreeSet<Turn>,
    /// The others, by the name of their volume.
    volumes: BTreeMap<String, Volume>,
    /// Where the last file began that was recalled from a volume: the head is there or beyond.
    head: Option<Position>,
}

/// The files on a volume.
#[derive(Debug, Default)]
struct Volume {
    /// By position.
    files: BTreeSet<(u64, usize)>,
    /// What its cheapest file costs a byte.
    price: Option<Price>,
}

/// The file to recall next.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Next {
    pub(super) file: usize,
    /// Whether it has a position on a volume.
    pub(super) on_volume: bool,
}

impl Archive {
    pub(super) fn push(&mut self, file: usize, stub: Stub) {
        let Stub { price, position } = stub;
        let Some(Position { volume, at }) = position else {
            self.anywhere.insert(Turn { price, file });
            return;
        };
        let volume = self.volumes.entry(volume).or_default();
        volume.files.insert((at, file));
        volume.price = Some(volume.price.map_or(price, |cheapest| cheapest.min(price)));
    }

    /// The next file. While the drive `is_busy`, it is one without a position.
    pub(super) fn pop(&mut self, is_busy: bool) -> Option<Next> {
        let volume = if is_busy { None } else { self.volume() };
        let Some(name) = volume else {
            let Turn { file, .. } = self.anywhere.pop_first()?;
            return Some(Next { file, on_volume: false });
        };
        let file = self.pop_from(name)?;
        Some(Next { file, on_volume: true })
    }

    /// The volume to go on with: the one whose pass has begun, else that with the cheapest file,
    /// unless a file without a position is cheaper.
    fn volume(&self) -> Option<String> {
        let begun = self.head.as_ref().filter(|head| self.volumes.contains_key(&head.volume));
        if let Some(head) = begun {
            return Some(head.volume.clone());
        }
        let (name, volume) = self.volumes.iter().min_by_key(|(_, volume)| volume.price)?;
        let cheaper = self.anywhere.first().is_some_and(|turn| Some(turn.price) < volume.price);
        (!cheaper).then(|| name.clone())
    }

    /// The first file at the head or beyond it. Behind the last one, the pass begins anew with the
    /// files that were added meanwhile.
    fn pop_from(&mut self, name: String) -> Option<usize> {
        let head = self.head.as_ref().filter(|head| head.volume == name).map_or(0, |head| head.at);
        let volume = self.volumes.get_mut(&name)?;
        let ahead = volume.files.range((head, 0)..).next();
        let (at, file) = *ahead.or_else(|| volume.files.first())?;
        volume.files.remove(&(at, file));
        if volume.files.is_empty() {
            self.volumes.remove(&name);
        }
        self.head = Some(Position { volume: name, at });
        Some(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn stub(ns: u64, position: Option<(&str, u64)>) -> Stub {
        let position = position.map(|(volume, at)| Position { volume: volume.to_owned(), at });
        Stub { price: Price::of(Duration::from_nanos(ns), 1 << 20), position }
    }

    fn order(archive: &mut Archive) -> Vec<usize> {
        std::iter::from_fn(|| archive.pop(false)).map(|next| next.file).collect()
    }

    #[test]
    fn a_volume_is_passed_once_upwards_and_its_files_stay_together() {
        let mut archive = Archive::default();
        for (file, ns, position) in [
            (0, 900, Some(("B", 70))),
            (1, 800, Some(("A", 40))),
            (2, 100, Some(("B", 90))),
            (3, 700, Some(("B", 5))),
            (4, 600, Some(("A", 8))),
            (5, 50, None),
            (6, 9999, None),
        ] {
            archive.push(file, stub(ns, position));
        }
        // The cheapest file is on no volume, the next is on B.
        assert_eq!(order(&mut archive), [5, 3, 0, 2, 4, 1, 6]);
    }

    #[test]
    fn what_is_added_during_a_pass_is_taken_on_the_way_or_in_the_next_pass() {
        let mut archive = Archive::default();
        [(0, 10), (1, 50)].iter().for_each(|&(file, at)| {
            archive.push(file, stub(1, Some(("A", at))));
        });
        assert_eq!(archive.pop(false), Some(Next { file: 0, on_volume: true }));
        [(2, 30), (3, 5), (4, 10)].iter().for_each(|&(file, at)| {
            archive.push(file, stub(1, Some(("A", at))));
        });
        assert_eq!(order(&mut archive), [4, 2, 1, 3]);
    }

    #[test]
    fn a_busy_drive_gets_no_second_file() {
        let mut archive = Archive::default();
        archive.push(0, stub(1, Some(("A", 1))));
        assert_eq!(archive.pop(true), None);
        archive.push(1, stub(9, None));
        assert_eq!(archive.pop(true), Some(Next { file: 1, on_volume: false }));
        assert_eq!(archive.pop(false), Some(Next { file: 0, on_volume: true }));
    }
}
