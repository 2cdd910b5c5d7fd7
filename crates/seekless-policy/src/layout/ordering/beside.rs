//! New files in an order that exists: each lies beside the file that is most like it.

use super::Kin;
use crate::eviction::Id;
use std::collections::HashMap;

/// `kept`, with all other files of `0..files` put in, each behind its likeliest companion. `kept`
/// keeps its order; ids number the files by name.
///
/// The companion of a file is, of the first class that has any, the nearest by name: files of its
/// folder and kind, files of its folder, all files. Files with one companion lie behind it by name.
/// Without kept files the order is by name.
///
/// - **Cost:** O(n log n).
/// - **Memory:** some 30 bytes a file while it works.
#[must_use]
pub fn beside(kept: &[Id], files: usize, kin: &Kin) -> Vec<Id> {
    let mut known = vec![false; files];
    let mut classes: HashMap<Class, Vec<Id>> = HashMap::new();
    for &id in kept {
        known[id as usize] = true;
        let (folder, kind) = (kin.folder(id), kin.kind(id));
        for class in [Class::Kind(folder, kind), Class::Folder(folder), Class::All] {
            classes.entry(class).or_default().push(id);
        }
    }
    classes.values_mut().for_each(|members| members.sort_unstable());
    let companion = |id: Id| {
        let (folder, kind) = (kin.folder(id), kin.kind(id));
        let wider = [Class::Kind(folder, kind), Class::Folder(folder), Class::All];
        wider.iter().find_map(|class| nearest(classes.get(class)?, id))
    };
    let (mut behind, mut alone) = (HashMap::<Id, Vec<Id>>::new(), Vec::new());
    for id in (0..files as Id).filter(|&id| !known[id as usize]) {
        match companion(id) {
            Some(companion) => behind.entry(companion).or_default().push(id),
            None => alone.push(id),
        }
    }
    let followed = |&id: &Id| {
        let followers = behind.get(&id).map_or(&[][..], Vec::as_slice);
        std::iter::once(id).chain(followers.iter().copied())
    };
    kept.iter().flat_map(followed).chain(alone).collect()
}

/// Files that are alike.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Class {
    Kind(u32, u32),
    Folder(u32),
    All,
}

/// The last member before `id`, else the first.
fn nearest(members: &[Id], id: Id) -> Option<Id> {
    let after = members.partition_point(|&member| member < id);
    members.get(after.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(kept: &[&str], all: &[&str]) -> Vec<String> {
        let place = |name: &&str| all.binary_search(name).expect("it is there") as Id;
        let kept: Vec<Id> = kept.iter().map(place).collect();
        let order = beside(&kept, all.len(), &Kin::new(all.iter().copied()));
        order.into_iter().map(|id| all[id as usize].to_owned()).collect()
    }

    #[test]
    fn a_new_file_lies_behind_its_like() {
        let all = ["art/a.dds", "art/b.dds", "art/b.xml", "maps/m.xml", "snd/s.ogg", "z"];
        let kept = ["maps/m.xml", "art/a.dds", "snd/s.ogg"];
        assert_eq!(
            names(&kept, &all),
            ["maps/m.xml", "art/a.dds", "art/b.dds", "art/b.xml", "snd/s.ogg", "z"]
        );
        // The kind counts before the name: b.xml stands nearest to b.dds.
        let kept = ["art/a.dds", "art/b.xml", "z"];
        let all = ["art/a.dds", "art/b.xml", "art/c.dds", "z"];
        assert_eq!(names(&kept, &all), ["art/a.dds", "art/c.dds", "art/b.xml", "z"]);
    }

    #[test]
    fn what_is_kept_keeps_its_order_and_nothing_is_lost() {
        let all = ["a", "b", "c", "d"];
        assert_eq!(names(&[], &all), all);
        assert_eq!(names(&["d", "c", "b", "a"], &all), ["d", "c", "b", "a"]);
        assert_eq!(names(&["c", "b"], &all), ["c", "d", "b", "a"], "a has none before it");
    }
}
