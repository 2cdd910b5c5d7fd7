//! The two databases of accounts.

/// Which database. They differ in the file's name and in the fields of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Users,
    Groups,
}

impl Kind {
    /// The file's name in `/etc`, and the database's for `getent`.
    pub(super) fn file(self) -> &'static str {
        match self {
            Kind::Users => "passwd",
            Kind::Groups => "group",
        }
    }
}
