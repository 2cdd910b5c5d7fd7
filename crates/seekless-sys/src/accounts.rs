//! Names and numbers of users and groups, as the machine is configured. No name service (NSS) is
//! loaded into this process: a statically linked program that does so crashes. The files passwd and
//! group in `/etc` answer first. Where nsswitch.conf names other services, too (systemd, LDAP,
//! SSSD), a separate process `getent` asks those. Each answer is kept for the life of this process,
//! also the answer that an account does not exist. So `getent` runs once for an account, never for
//! a file.

mod kind;
mod line;
mod services;

use crate::getent;
use kind::Kind;
use line::Account;
use services::Services;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

/// A name; its bytes need not be UTF-8.
pub type Name = Arc<[u8]>;

static MACHINE: LazyLock<Accounts> =
    LazyLock::new(|| Accounts::new(Path::new("/etc"), getent::programs()));

/// The name of the user with this number; `None` if the user does not exist or cannot be looked up.
#[must_use]
pub fn user_name(uid: u32) -> Option<Name> {
    MACHINE.users.name(uid)
}

/// The number of the user with this name; `None` as in [`user_name`].
#[must_use]
pub fn user_number(name: &[u8]) -> Option<u32> {
    MACHINE.users.number(name)
}

/// The name of the group with this number; `None` as in [`user_name`].
#[must_use]
pub fn group_name(gid: u32) -> Option<Name> {
    MACHINE.groups.name(gid)
}

/// The number of the group with this name; `None` as in [`user_name`].
#[must_use]
pub fn group_number(name: &[u8]) -> Option<u32> {
    MACHINE.groups.number(name)
}

/// Both databases of one machine.
#[derive(Debug)]
struct Accounts {
    users: Database,
    groups: Database,
}

impl Accounts {
    fn new(folder: &Path, programs: Vec<PathBuf>) -> Self {
        let programs: Arc<[PathBuf]> = programs.into();
        let database = |kind| Database {
            kind,
            folder: folder.to_owned(),
            programs: programs.clone(),
            listed: OnceLock::new(),
            asked: Mutex::default(),
        };
        Accounts { users: database(Kind::Users), groups: database(Kind::Groups) }
    }
}

#[derive(Debug)]
struct Database {
    kind: Kind,
    folder: PathBuf,
    programs: Arc<[PathBuf]>,
    /// The file's accounts, read at the first question.
    listed: OnceLock<Listed>,
    /// The answers of `getent`.
    asked: Mutex<Asked>,
}

/// A file's accounts. Of several lines for one account the first counts, as in the C library.
#[derive(Debug, Default)]
struct Listed {
    names: HashMap<u32, Name>,
    numbers: HashMap<Name, u32>,
    /// Whether services besides the file know accounts.
    others: bool,
}

#[derive(Debug, Default)]
struct Asked {
    names: HashMap<u32, Option<Name>>,
    numbers: HashMap<Name, Option<u32>>,
}

impl Database {
    fn name(&self, number: u32) -> Option<Name> {
        let listed = self.listed();
        if let Some(name) = listed.names.get(&number) {
            return Some(name.clone());
        }
        if !listed.others {
            return None;
        }
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let ask =
            || self.getent(number.to_string().as_ref()).filter(|found| found.number == number);
        asked.names.entry(number).or_insert_with(|| ask().map(|found| found.name.into())).clone()
    }

    fn number(&self, name: &[u8]) -> Option<u32> {
        let listed = self.listed();
        if let Some(number) = listed.numbers.get(name) {
            return Some(*number);
        }
        // `getent` would take these names for options and numbers.
        if !listed.others || name.is_empty() || name[0] == b'-' || line::is_number(name) {
            return None;
        }
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let ask = || self.getent(OsStr::from_bytes(name)).map(|found| found.number);
        *asked.numbers.entry(name.into()).or_insert_with(ask)
    }

    fn listed(&self) -> &Listed {
        self.listed.get_or_init(|| {
            let services = Services::read(&self.folder.join("nsswitch.conf"), self.kind.file());
            let mut listed = Listed { others: services.others, ..Listed::default() };
            if services.files {
                let text = std::fs::read(self.folder.join(self.kind.file())).unwrap_or_default();
                for account in text
                    .split(|&byte| byte == b'\n')
                    .filter_map(|line| Account::parse(line, self.kind))
                {
                    let name: Name = account.name.into();
                    listed.names.entry(account.number).or_insert_with(|| name.clone());
                    listed.numbers.entry(name).or_insert(account.number);
                }
            }
            listed
        })
    }

    /// The answer of `getent DATABASE KEY`. If it fails or is not installed, the account cannot be
    /// looked up.
    fn getent(&self, key: &OsStr) -> Option<Account> {
        let answer = getent::ask(&self.programs, self.kind.file(), key)?;
        Account::parse(answer.split(|&byte| byte == b'\n').next()?, self.kind)
    }
}

#[cfg(test)]
mod tests;
