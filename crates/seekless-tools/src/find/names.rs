//! Names of users and groups, each looked up once.

use rustix::fs::RawMode;
use std::collections::HashMap;

/// The names found so far; `None` for a number without one.
#[derive(Debug, Default)]
pub(super) struct Names {
    users: HashMap<u32, Option<String>>,
    groups: HashMap<u32, Option<String>>,
}

impl Names {
    pub(super) fn user(&mut self, id: u32) -> Option<&str> {
        let look = || nix::unistd::User::from_uid(id.into()).ok().flatten().map(|user| user.name);
        self.users.entry(id).or_insert_with(look).as_deref()
    }

    pub(super) fn group(&mut self, id: u32) -> Option<&str> {
        let look = || nix::unistd::Group::from_gid(id.into()).ok().flatten().map(|group| group.name);
        self.groups.entry(id).or_insert_with(look).as_deref()
    }
}

/// The number of a user named or numbered.
pub(super) fn user_number(name: &str) -> Option<u64> {
    let named = nix::unistd::User::from_name(name).ok().flatten();
    named.map(|user| user.uid.as_raw().into()).or_else(|| super::compare::whole(name))
}

/// The number of a group named or numbered.
pub(super) fn group_number(name: &str) -> Option<u64> {
    let named = nix::unistd::Group::from_name(name).ok().flatten();
    named.map(|group| group.gid.as_raw().into()).or_else(|| super::compare::whole(name))
}

/// The permission bits alone.
pub(super) fn permission_bits(mode: RawMode) -> RawMode {
    mode & 0o7777
}
