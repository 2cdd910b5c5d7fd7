//! The names in a profile that machines share: those below the user's home folder begin with `~/`,
//! and a folder that has the user's name is called `~user`. Each machine puts its own in their
//! place. What is other users' or of this machine alone has no such name.

use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, statx};
use rustix::process::geteuid;
use seekless_sys::accounts;
use seekless_trace::{Profile, ProfiledRun, RunInfo, escape_path, unescape_path};
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

const HOME: &str = "~";
const USER: &str = "~user";
/// What lies below is other users', or is made anew on each machine.
const PRIVATE: [&str; 8] = [
    "/home/",
    "/Users/",
    "/root/",
    "/run/user/",
    "/tmp/",
    "/var/tmp/",
    "/dev/shm/",
    "/export/home/",
];

/// How names of this user are hidden and shown.
#[derive(Debug)]
pub(crate) struct Names {
    /// Escaped as names are; `None` if it is unknown, or the whole machine.
    home: Option<String>,
    uid: u32,
    user: OnceCell<Option<String>>,
    /// Whether folders are this user's, as far as that was looked at.
    own: RefCell<HashMap<String, bool>>,
}

impl Names {
    /// Those of the user that this process belongs to.
    pub(crate) fn of_user() -> Self {
        let home = std::env::var_os("HOME").filter(|home| Path::new(home).is_absolute());
        let home = home.map(|home| escape_path(home.into_vec().as_slice()));
        let home = home.map(|home| home.trim_end_matches('/').to_owned());
        Self::new(home.filter(|home| !home.is_empty()), geteuid().as_raw())
    }

    fn new(home: Option<String>, uid: u32) -> Self {
        Self { home, uid, user: OnceCell::new(), own: RefCell::default() }
    }

    /// The user's name, unless it is root's, which is the same everywhere.
    fn user(&self) -> Option<&str> {
        let look_up = || {
            let name = accounts::user_name(self.uid).filter(|_| self.uid != 0)?;
            Some(escape_path(&name)).filter(|name| !name.is_empty() && !name.contains('/'))
        };
        self.user.get_or_init(look_up).as_deref()
    }

    /// What other machines may know a file by; `None` if they must not know it.
    pub(super) fn hide(&self, name: &str) -> Option<String> {
        let in_home = self.home.as_deref().and_then(|home| name.strip_prefix(home));
        let hidden = match in_home {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{HOME}{rest}"),
            // Folders on the way to it would say where it is.
            _ if self.leads_home(name) => return None,
            _ if PRIVATE.iter().any(|private| name.starts_with(private)) => return None,
            _ if !name.starts_with('/') => return None,
            _ => name.to_owned(),
        };
        Some(match self.user() {
            Some(user) => self.without_user(name, hidden, user),
            None => hidden,
        })
    }

    fn leads_home(&self, name: &str) -> bool {
        let rest = self.home.as_deref().and_then(|home| home.strip_prefix(name));
        rest.is_some_and(|rest| rest.starts_with('/')) && name != "/" && !name.is_empty()
    }

    /// Hides folders that have the user's name and are this user's. Others of that name, such as a
    /// program's, are no secret.
    fn without_user(&self, name: &str, hidden: String, user: &str) -> String {
        let parts: Vec<&str> = name.split('/').collect();
        let is_own = |end: usize| parts[end] == user && self.owns(&parts[..=end].join("/"));
        if !(1..parts.len()).any(is_own) {
            return hidden;
        }
        // What stands in place of the home folder has fewer parts.
        let shift = parts.len() - hidden.split('/').count();
        let part = |(at, part): (usize, &str)| match at > 0 && is_own(at + shift) {
            true => USER.to_owned(),
            false => part.to_owned(),
        };
        hidden.split('/').enumerate().map(part).collect::<Vec<_>>().join("/")
    }

    fn owns(&self, folder: &str) -> bool {
        let look = || {
            let path = unescape_path(folder);
            let wanted = StatxFlags::TYPE | StatxFlags::UID;
            let found = statx(CWD, OsStr::from_bytes(&path), AtFlags::NO_AUTOMOUNT, wanted);
            found.is_ok_and(|it| {
                FileType::from_raw_mode(it.stx_mode.into()).is_dir() && it.stx_uid == self.uid
            })
        };
        *self.own.borrow_mut().entry(folder.to_owned()).or_insert_with(look)
    }

    /// What a file of another machine is called here; `None` if it cannot be here.
    fn show(&self, name: &str) -> Option<String> {
        let whole = match name.strip_prefix(HOME) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                format!("{}{rest}", self.home.as_deref()?)
            }
            _ => name.to_owned(),
        };
        if !whole.split('/').any(|part| part == USER) {
            return Some(whole);
        }
        let user = self.user()?;
        let parts = whole.split('/').map(|part| if part == USER { user } else { part });
        Some(parts.collect::<Vec<_>>().join("/"))
    }

    /// The profile as other machines may see it: without what identifies files, places, the machine
    /// or its user, and without runs that failed.
    pub(super) fn hidden(&self, profile: Profile) -> Profile {
        let key = profile.key.split(' ').next().unwrap_or_default();
        let key = self.hide(key).unwrap_or_else(|| last(key));
        let mut hidden = renamed(profile, |name| self.hide(name));
        hidden.key = key;
        hidden.runs.retain(|run| run.info.exit_status.is_none_or(|status| status == 0));
        for ProfiledRun { info, .. } in &mut hidden.runs {
            let program = info.command.first();
            let program = program.map(|name| self.hide(name).unwrap_or_else(|| last(name)));
            *info = RunInfo {
                command: program.into_iter().collect(),
                kernel: std::mem::take(&mut info.kernel),
                clock: std::mem::take(&mut info.clock),
                started_unix_ns: info.started_unix_ns,
                duration_ns: info.duration_ns,
                exit_status: info.exit_status,
                ..RunInfo::default()
            };
        }
        hidden.files.iter_mut().for_each(|file| (file.identity, file.place) = (None, None));
        // A name that was not there has no inode; one that was keeps none of this machine's.
        hidden.looks.iter_mut().for_each(|look| look.inode = look.inode.map(|_| 0));
        (hidden.written, hidden.between) = (None, Vec::new());
        hidden
    }

    /// The profile with names of this machine.
    pub(crate) fn shown(&self, profile: Profile) -> Profile {
        let is_hidden = |name: &str| name.starts_with(HOME) || name.contains("/~user");
        let files = profile.files.iter().map(|file| &file.name);
        let mut names = files.chain(profile.looks.iter().map(|look| &look.name));
        if !is_hidden(&profile.key) && !names.any(|name| is_hidden(name)) {
            return profile;
        }
        let key = self.show(&profile.key).unwrap_or_else(|| last(&profile.key));
        Profile { key, ..renamed(profile, |name| self.show(name)) }
    }
}

/// The last part of a path.
fn last(path: &str) -> String {
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

/// A profile with other names of files, and without those that have none.
fn renamed(profile: Profile, name: impl Fn(&str) -> Option<String>) -> Profile {
    let mut renamed = Profile { files: Vec::new(), runs: Vec::new(), ..profile };
    let mut numbers = Vec::with_capacity(profile.files.len());
    for mut file in profile.files {
        let new = name(&file.name);
        numbers.push(new.map(|new| {
            file.name = new;
            renamed.files.push(file);
            (renamed.files.len() - 1) as u32
        }));
    }
    for mut run in profile.runs {
        run.needs.retain_mut(|need| {
            let number = numbers.get(need.file as usize).copied().flatten();
            number.inspect(|number| need.file = *number).is_some()
        });
        renamed.runs.push(run);
    }
    renamed.looks.retain_mut(|look| match name(&look.name) {
        Some(new) => {
            look.name = new;
            true
        }
        None => false,
    });
    renamed
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_trace::{Identity, Look, LookKind, Need, ProfiledFile};

    fn names(home: &str) -> Names {
        Names::new(Some(home.to_owned()), 0)
    }

    #[test]
    fn a_home_folder_is_each_machines_own_and_other_users_have_no_name() {
        let (one, other) = (names("/home/ada"), names("/var/lib/eve"));
        let hidden = one.hide("/home/ada/app/a.py").unwrap();
        assert_eq!(hidden, "~/app/a.py");
        assert_eq!(other.show(&hidden).unwrap(), "/var/lib/eve/app/a.py");
        assert_eq!(one.hide("/usr/lib/libm.so").as_deref(), Some("/usr/lib/libm.so"));
        assert_eq!(other.hide("/var/lib"), None, "on the way to the home folder");
        assert_eq!(other.hide("/var/li").as_deref(), Some("/var/li"));
        for private in
            ["/home", "/home/adam/a", "/home/bob/a", "/tmp/x", "/run/user/1000/x", "relative"]
        {
            assert_eq!(one.hide(private), None, "{private}");
        }
    }

    #[test]
    fn a_folder_of_the_users_name_is_hidden_only_if_it_is_the_users() {
        let folder = tempfile::tempdir_in("/var").or_else(|_| tempfile::tempdir()).unwrap();
        std::fs::create_dir(folder.path().join("ada")).unwrap();
        let path = folder.path().join("ada/x").to_str().unwrap().to_owned();
        let names = names("/nowhere");
        names.user.set(Some("ada".to_owned())).unwrap();
        if geteuid().as_raw() == 0 && !path.starts_with("/tmp/") {
            let hidden = names.hide(&path).unwrap();
            assert!(hidden.ends_with("/~user/x") && !hidden.contains("ada"), "{hidden}");
            assert_eq!(names.show(&hidden).unwrap(), path);
        } else {
            println!("skipped: a folder of root's outside of /tmp needs root");
        }
        assert_eq!(names.hide("/usr/ada/x").as_deref(), Some("/usr/ada/x"), "there is none");
    }

    #[test]
    fn what_is_shared_says_nothing_of_the_user() {
        let file = |name: &str| ProfiledFile {
            name: name.to_owned(),
            bytes: Some(8192),
            identity: Some(Identity { inode: 17, modified_ns: 5 }),
            place: Some(9),
        };
        let need = |file| Need { file, offset: 0, bytes: 4096, time_ns: 1, mapped: false };
        let run = |exit_status| ProfiledRun {
            info: RunInfo {
                command: vec!["/home/ada/app".to_owned(), "--token=secret".to_owned()],
                directory: "/home/ada".to_owned(),
                host: "adas-machine".to_owned(),
                started_unix_ns: Some(7),
                exit_status: Some(exit_status),
                ..RunInfo::default()
            },
            needs: vec![need(0), need(1), need(2)],
            ..ProfiledRun::default()
        };
        let look = |name: &str| Look {
            name: name.to_owned(),
            kind: LookKind::Name,
            inode: Some(17),
            bytes: None,
        };
        let profile = Profile {
            key: "/home/ada/app --token=~1234".to_owned(),
            files: vec![file("/home/bob/x"), file("/home/ada/y"), file("/usr/z")],
            runs: vec![run(0), run(1)],
            looks: vec![look("/home/bob"), look("/home/ada/y")],
            written: Some(vec!["/home/ada/log".to_owned()]),
            between: vec![file("/home/ada/between")],
        };
        let hidden = names("/home/ada").hidden(profile);
        let text = format!("{hidden:?}");
        for secret in ["ada", "bob", "token", "17"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
        let [run] = &hidden.runs[..] else { panic!("one run succeeded") };
        assert_eq!(run.needs.iter().map(|need| need.file).collect::<Vec<_>>(), [0, 1]);
        let shown = names("/home/eve").shown(hidden);
        assert_eq!(shown.key, "/home/eve/app");
        assert_eq!(shown.files[0].name, "/home/eve/y");
        assert_eq!(shown.looks[0].name, "/home/eve/y");
    }
}
