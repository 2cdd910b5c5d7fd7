//! Names that a program looks for in one folder after another before it finds them: search paths,
//! and the settings that make them.

use super::shell::quoted;
use seekless_device::Costs;
use seekless_policy::foresight::start::Wait;
use seekless_trace::summary::{CallKind, Waits};
use seekless_trace::{Access, FileId, Op, Result, Trace};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

/// ENOENT and ENOTDIR.
const NOT_THERE: [i32; 2] = [2, 20];
/// A search in fewer folders in vain is no search path worth a word.
const FOLDERS_MIN: usize = 2;
/// Folders that are listed of each search path.
const FOLDERS_LISTED: usize = 5;

/// What makes a program look in several folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// Programs.
    Path,
    /// Modules of Python.
    PythonPath,
    /// Shared libraries.
    LibraryPath,
    /// Headers of C and C++.
    IncludeFolders,
    /// Modules of Node.js.
    NodeModules,
}

/// Look-ups in vain that a search path makes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Search {
    /// The setting.
    pub setting: Setting,
    /// Names that are found in a later folder.
    pub names: u64,
    /// Look-ups in vain before these are found.
    pub in_vain: u64,
    /// The folders in which they are not, with the look-ups in each, most first.
    pub folders: Vec<(String, u64)>,
    /// Folders in which they are not.
    pub folders_in_vain: u64,
    /// What the look-ups are expected to wait with nothing cached: a request for each folder of
    /// which nothing else is needed, since one block then answers for all of its names.
    pub wait_s: f64,
    /// The requests for these.
    pub requests: u64,
    /// What they waited in a recorded start whose names were cold, beyond what a cached one takes.
    pub measured_s: Option<f64>,
    /// The look-ups by name, for what was measured of them.
    #[serde(skip)]
    pub by_file: BTreeMap<FileId, u64>,
    /// The folders that a request is expected for.
    #[serde(skip)]
    pub asked: Vec<String>,
}

impl Setting {
    /// All of them.
    const ALL: [Self; 5] =
        [Self::NodeModules, Self::PythonPath, Self::LibraryPath, Self::IncludeFolders, Self::Path];

    /// It as users know it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Path => "PATH",
            Self::PythonPath => "PYTHONPATH and sys.path",
            Self::LibraryPath => "LD_LIBRARY_PATH and the rpath",
            Self::IncludeFolders => "the include folders (-I)",
            Self::NodeModules => "NODE_PATH and node_modules",
        }
    }

    /// Which setting finds a file.
    fn of(found: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|setting| setting.finds(found))
    }

    fn finds(self, found: &str) -> bool {
        let (folder, name) = found.rsplit_once('/').unwrap_or(("", found));
        let inside = |wanted: &str| folder.split('/').any(|part| part == wanted);
        let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
        match self {
            Self::NodeModules => inside("node_modules"),
            Self::PythonPath => {
                let is_extension = name.contains(".cpython-") || name.ends_with(".abi3.so");
                let is_packages = inside("site-packages") || inside("dist-packages");
                is_packages || is_extension || ends(&[".py", ".pyc"])
            }
            Self::LibraryPath => name.ends_with(".so") || name.contains(".so."),
            Self::IncludeFolders => inside("include") || ends(&[".h", ".hh", ".hpp", ".hxx"]),
            Self::Path => {
                folder.rsplit('/').next().is_some_and(|last| ["bin", "sbin"].contains(&last))
            }
        }
    }

    /// The folder of the setting that holds a name.
    fn root(self, path: &str) -> &str {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let through = |part: &str| {
            let at = folder.rmatch_indices(part).map(|(at, _)| at + part.len());
            at.into_iter().find(|end| matches!(folder.as_bytes().get(*end), None | Some(b'/')))
        };
        let end = match self {
            Self::Path => None,
            Self::PythonPath => through("/site-packages").or_else(|| through("/dist-packages")),
            Self::LibraryPath => folder.find("/glibc-hwcaps"),
            Self::IncludeFolders => through("/include"),
            Self::NodeModules => through("/node_modules"),
        };
        end.map_or(folder, |end| &folder[..end])
    }
}

/// The search paths of a trace's newest run, the longest wait first.
pub(super) fn of(trace: &Trace, costs: &Costs) -> Result<Vec<Search>> {
    let names = trace.file_names()?;
    let newest = trace.metadata().runs.len().saturating_sub(1) as u32;
    let mut looks = Vec::new();
    for row in trace.accesses()? {
        let row = row?;
        looks.extend(Some(&row).filter(|row| row.run == newest).and_then(Look::of));
    }
    Ok(found(&looks, &names, costs))
}

/// A look at a name.
#[derive(Clone, Copy, Debug)]
struct Look {
    pid: u32,
    file: FileId,
    is_there: bool,
}

impl Look {
    fn of(row: &Access) -> Option<Self> {
        let is_there = match row.error {
            None => true,
            Some(error) if NOT_THERE.contains(&error) => false,
            Some(_) => return None,
        };
        let looks = matches!(row.op, Op::Open | Op::Stat);
        // The kernel opens a program itself: a map or read of it shows that it was found.
        let is_look = looks || is_there && matches!(row.op, Op::Map | Op::Read | Op::Fault);
        is_look.then_some(Self { pid: row.pid, file: row.file, is_there })
    }
}

/// What one setting makes.
#[derive(Default)]
struct Sum {
    names: BTreeSet<FileId>,
    by_file: BTreeMap<FileId, u64>,
    /// By the folder of the setting.
    folders: BTreeMap<String, u64>,
}

fn found(looks: &[Look], names: &[String], costs: &Costs) -> Vec<Search> {
    let path = |file: FileId| names.get(file as usize).map_or("", String::as_str);
    let last = |file: FileId| path(file).rsplit('/').next().unwrap_or("");
    let mut sums: BTreeMap<Setting, Sum> = BTreeMap::new();
    let mut pending: HashMap<(u32, &str), Vec<FileId>> = HashMap::new();
    for look in looks {
        let key = (look.pid, last(look.file));
        if !look.is_there {
            pending.entry(key).or_default().push(look.file);
            continue;
        }
        let Some(in_vain) = pending.remove(&key) else { continue };
        let Some(setting) = Setting::of(path(look.file)) else { continue };
        let sum = sums.entry(setting).or_default();
        let home = setting.root(path(look.file));
        for file in in_vain.into_iter().filter(|file| setting.root(path(*file)) != home) {
            sum.names.insert(look.file);
            *sum.by_file.entry(file).or_default() += 1;
            *sum.folders.entry(setting.root(path(file)).to_owned()).or_default() += 1;
        }
    }
    let needed = needed(looks, names);
    let mut searches: Vec<Search> = sums
        .into_iter()
        .filter(|(_, sum)| sum.folders.len() >= FOLDERS_MIN)
        .map(|(setting, sum)| {
            let asked: BTreeSet<&str> =
                sum.by_file.keys().map(|file| parent(path(*file))).collect();
            let asked = asked.into_iter().filter(|folder| !needed.contains(folder));
            let asked: Vec<String> = asked.map(str::to_owned).collect();
            let wait = Wait::of(asked.len() as u64, 0, 1, costs);
            Search { asked, ..search(setting, sum, &wait) }
        })
        .collect();
    let order = |one: &Search, other: &Search| {
        other.wait_s.total_cmp(&one.wait_s).then(other.in_vain.cmp(&one.in_vain))
    };
    searches.sort_by(order);
    searches
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Folders of which something else is needed: a name is found there, or below.
fn needed<'a>(looks: &[Look], names: &'a [String]) -> BTreeSet<&'a str> {
    let mut needed = BTreeSet::new();
    for look in looks.iter().filter(|look| look.is_there) {
        let mut path = names.get(look.file as usize).map_or("", String::as_str);
        while let Some((folder, _)) = path.rsplit_once('/')
            && needed.insert(folder)
        {
            path = folder;
        }
    }
    needed
}

fn search(setting: Setting, sum: Sum, wait: &Wait) -> Search {
    let mut folders: Vec<(String, u64)> = sum.folders.into_iter().collect();
    folders.sort_by(|(one, first), (other, second)| (second, one).cmp(&(first, other)));
    let folders_in_vain = folders.len() as u64;
    folders.truncate(FOLDERS_LISTED);
    Search {
        setting,
        names: sum.names.len() as u64,
        in_vain: sum.by_file.values().sum(),
        folders,
        folders_in_vain,
        wait_s: wait.seconds,
        requests: wait.requests,
        measured_s: None,
        by_file: sum.by_file,
        asked: Vec::new(),
    }
}

impl Search {
    /// Adds what was measured of the look-ups; `share` of that time made the start longer.
    pub(super) fn measured(&mut self, waits: &Waits, share: f64) {
        let of = |(file, count): (&FileId, &u64)| {
            let spent = waits.files.get(file)?.kinds.get(&CallKind::MissingNames)?;
            Some(spent.seconds * (*count as f64 / spent.calls.max(1) as f64).min(1.0))
        };
        self.measured_s = Some(share * self.by_file.iter().filter_map(of).sum::<f64>());
    }

    /// The requests that are expected for folders outside of this one.
    pub(super) fn requests_outside(&self, folder: &Path) -> u64 {
        self.asked.iter().filter(|asked| !Path::new(asked).starts_with(folder)).count() as u64
    }

    /// It as a measure.
    pub(super) fn what(&self) -> String {
        format!("shorter search path: {}", self.setting.words())
    }

    /// What to do, as a remark in a shell: only the user knows which folders are wanted.
    pub(super) fn remark(&self) -> String {
        let folders: Vec<String> = self.folders.iter().map(|(folder, _)| quoted(folder)).collect();
        let more = if self.folders_in_vain > self.folders.len() as u64 { " ..." } else { "" };
        let setting = self.setting.words();
        format!("# {setting}: leave these out, or put them last: {}{more}", folders.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs() -> Costs {
        Costs { request_ns: 10_000_000, bytes_per_second: 100_000_000, depth: 1 }
    }

    /// Of looks, each a process, a path, and whether it is there.
    fn searched(given: &[(u32, &str, bool)]) -> Vec<Search> {
        let mut names: Vec<String> = Vec::new();
        let mut looks = Vec::new();
        for (pid, path, is_there) in given {
            let known = names.iter().position(|name| name == path);
            let file = known.unwrap_or_else(|| {
                names.push((*path).to_owned());
                names.len() - 1
            });
            looks.push(Look { pid: *pid, file: file as u32, is_there: *is_there });
        }
        found(&looks, &names, &costs())
    }

    #[test]
    fn a_program_that_is_found_in_a_later_folder_of_path() {
        let found = searched(&[
            (1, "/opt/a/tool", false),
            (1, "/opt/b/tool", false),
            (1, "/usr/bin/tool", true),
            (1, "/opt/a/other", false),
            (1, "/opt/b/gone", false),
            (1, "/usr/bin/other", true),
            (2, "/opt/c/other", false),
        ]);
        let [path] = &found[..] else { panic!("{found:?}") };
        assert_eq!((path.setting, path.names, path.in_vain), (Setting::Path, 2, 3));
        assert_eq!(path.folders, [("/opt/a".to_owned(), 2), ("/opt/b".to_owned(), 1)]);
        assert_eq!((path.wait_s, path.requests), (0.02, 2), "a block of each folder");
        let outside = |folder: &str| path.requests_outside(Path::new(folder));
        assert_eq!((outside("/opt/a"), outside("/opt"), outside("/srv")), (1, 0, 2));
        assert_eq!(path.remark(), "# PATH: leave these out, or put them last: /opt/a /opt/b");
    }

    #[test]
    fn each_setting_is_known_by_what_is_found_and_its_folders_by_their_roots() {
        let found = searched(&[
            (1, "/p/include/sys/types.h", false),
            (1, "/q/include/sys/types.h", false),
            (1, "/usr/include/sys/types.h", true),
            (1, "/home/me/x/y/node_modules/lib/index.js", false),
            (1, "/home/me/x/node_modules/lib/index.js", false),
            (1, "/home/me/node_modules/lib/index.js", true),
            (1, "/l/glibc-hwcaps/x86-64-v3/libz.so.1", false),
            (1, "/l/libz.so.1", false),
            (1, "/m/libz.so.1", false),
            (1, "/usr/lib/libz.so.1", true),
            (1, "/w/json.py", false),
            (1, "/v/json.py", false),
            (1, "/usr/lib/python3.11/json.py", true),
        ]);
        let of = |setting: Setting| {
            let search = found.iter().find(|it| it.setting == setting).expect("it is found");
            let folders: Vec<&str> = search.folders.iter().map(|it| it.0.as_str()).collect();
            (search.in_vain, folders)
        };
        assert_eq!(of(Setting::IncludeFolders), (2, vec!["/p/include", "/q/include"]));
        let node = vec!["/home/me/x/node_modules", "/home/me/x/y/node_modules"];
        assert_eq!(of(Setting::NodeModules), (2, node));
        assert_eq!(of(Setting::LibraryPath), (3, vec!["/l", "/m"]));
        assert_eq!(of(Setting::PythonPath), (2, vec!["/v", "/w"]));
    }

    #[test]
    fn what_is_never_found_or_only_beside_it_is_no_search_path() {
        assert!(searched(&[(1, "/a/tool", false), (1, "/b/tool", false)]).is_empty());
        let beside = [(1, "/usr/bin/tool", false), (1, "/usr/bin/tool", true)];
        assert!(searched(&beside).is_empty());
        let other = [(1, "/a/rc", false), (1, "/b/rc", false), (1, "/etc/rc", true)];
        assert!(searched(&other).is_empty(), "no setting makes this search");
        let one = [(1, "/a/tool", false), (1, "/usr/bin/tool", true)];
        assert!(searched(&one).is_empty(), "one folder alone");
    }

    #[test]
    fn a_folder_that_is_needed_anyway_costs_nothing_more() {
        let found = searched(&[
            (1, "/a/bin/tool", false),
            (1, "/b/tool", false),
            (1, "/usr/bin/tool", true),
            (1, "/a/bin/more", true),
        ]);
        assert_eq!((found[0].in_vain, found[0].wait_s), (2, 0.01));
    }
}
