//! What a folder would cost to read now: the bytes of its files by level, and the time to deliver
//! them all. And what an object in object storage would.

mod object;

pub use object::object;

use seekless_device::Origin;
use seekless_sled::{Delivery, DeliveryTime, Level, Plan, Surveyor};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A folder summed up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sum {
    /// Regular files, however many names they have.
    pub files: u64,
    /// Their sizes together; the greatest number if they are more than that.
    pub bytes: u64,
    /// Of those, the bytes that each level would deliver.
    pub levels: BTreeMap<Level, u64>,
    /// The time to deliver every file from its first byte to its last, by name.
    pub linear: DeliveryTime,
    /// The time if the cached parts of every file are read first.
    pub best: DeliveryTime,
    /// Devices whose costs are assumed, because they have not been measured.
    pub assumed: BTreeSet<String>,
    /// Entries that could not be examined.
    pub unreadable: u64,
}

/// Sums up all regular files below a folder, by name, without following links. `room` is how many
/// more bytes can be cached before something is evicted. `complain` is called for each entry that
/// cannot be examined; the other entries still count. `progress` is called with the number of files
/// done and of files found so far.
pub fn sum_up(
    folder: &Path,
    surveyor: &mut Surveyor,
    room: Option<u64>,
    complain: &mut dyn FnMut(String),
    progress: &mut dyn FnMut(u64, u64),
) -> Sum {
    let (linear, best) = (Delivery::new(Plan::Linear, room), Delivery::new(Plan::Best, room));
    let (sum, seen) = (Sum::default(), HashSet::new());
    let mut summing = Summing { surveyor, complain, sum, linear, best, seen };
    let mut folders = vec![folder.to_owned()];
    let (mut done, mut found) = (0, 0);
    while let Some(folder) = folders.pop() {
        let (files, mut below) = summing.listed(&folder);
        found += files.len() as u64;
        for (path, about) in files {
            summing.add(&path, &about);
            done += 1;
            progress(done, found);
        }
        below.reverse(); // the last is taken first
        folders.append(&mut below);
    }
    Sum { linear: summing.linear.time(), best: summing.best.time(), ..summing.sum }
}

struct Summing<'a> {
    surveyor: &'a mut Surveyor,
    complain: &'a mut dyn FnMut(String),
    sum: Sum,
    linear: Delivery,
    best: Delivery,
    /// Files with several names that were counted.
    seen: HashSet<(u64, u64)>,
}

impl Summing<'_> {
    /// The regular files of a folder and the folders in it, by name.
    fn listed(&mut self, folder: &Path) -> (Vec<(PathBuf, Metadata)>, Vec<PathBuf>) {
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                self.unreadable(format!("{}: {error}", folder.display()));
                return (files, folders);
            }
        };
        for entry in entries {
            match entry.and_then(|entry| Ok((entry.path(), entry.metadata()?))) {
                Ok((path, about)) if about.is_dir() => folders.push(path),
                Ok((path, about)) if about.is_file() => files.push((path, about)),
                Ok(_) => {} // links, devices and pipes have no bytes to read
                Err(error) => self.unreadable(format!("{}: {error}", folder.display())),
            }
        }
        files.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        folders.sort_unstable();
        (files, folders)
    }

    fn add(&mut self, path: &Path, about: &Metadata) {
        if about.nlink() > 1 && !self.seen.insert((about.dev(), about.ino())) {
            return;
        }
        if about.len() == 0 {
            self.sum.files += 1; // an empty file has no SLEDs
            return;
        }
        let survey = match self.surveyor.path(path) {
            Ok(survey) => survey,
            Err(error) => return self.unreadable(error.to_string()),
        };
        self.sum.files += 1;
        self.sum.bytes = self.sum.bytes.saturating_add(survey.bytes);
        for sled in &survey.sleds {
            let level = self.sum.levels.entry(sled.level).or_default();
            *level = level.saturating_add(sled.bytes);
        }
        self.linear.add(&survey.sleds);
        self.best.add(&survey.sleds);
        if survey.origin == Origin::Assumed {
            self.sum.assumed.insert(survey.device);
        }
    }

    fn unreadable(&mut self, why: String) {
        self.sum.unreadable += 1;
        (self.complain)(why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_sled::{Config, Devices};
    use std::os::unix::fs::symlink;

    #[test]
    fn a_folder_is_the_sum_of_its_files_and_a_file_with_two_names_counts_once() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("deep")).expect("made");
        fs::write(at("one"), vec![1; 100_000]).expect("written");
        fs::write(at("deep/two"), vec![2; 50_000]).expect("written");
        fs::write(at("empty"), "").expect("written");
        fs::hard_link(at("one"), at("deep/same")).expect("linked");
        symlink("one", at("link")).expect("linked");
        symlink("missing", at("dangling")).expect("linked");
        let mut surveyor = Surveyor::with(Config::default(), Devices::default());
        let (mut complaints, mut told) = (Vec::new(), (0, 0));
        let sum = sum_up(
            folder.path(),
            &mut surveyor,
            None,
            &mut |why| complaints.push(why),
            &mut |done, found| told = (done, found),
        );
        assert_eq!((sum.files, sum.bytes, sum.unreadable), (3, 150_000, 0), "{complaints:?}");
        assert_eq!(sum.levels.values().sum::<u64>(), 150_000);
        assert_eq!(told, (4, 4));
        assert!(sum.best.high <= sum.linear.high && sum.best.low > std::time::Duration::ZERO);
    }

    #[test]
    fn a_folder_that_is_not_there_is_said() {
        let mut surveyor = Surveyor::with(Config::default(), Devices::default());
        let mut complaints = Vec::new();
        let missing = Path::new("no/such/folder");
        let sum = sum_up(
            missing,
            &mut surveyor,
            None,
            &mut |why| complaints.push(why),
            &mut |_, _| unreachable!(),
        );
        assert_eq!((sum.files, sum.unreadable), (0, 1));
        assert!(complaints[0].starts_with("no/such/folder: "), "{complaints:?}");
    }
}
