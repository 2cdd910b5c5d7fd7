//! nsswitch.conf: which services know the accounts of this machine.

use std::path::Path;

/// The services that are asked for a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Services {
    /// The file in `/etc`.
    pub(super) files: bool,
    /// Any other service, which is asked where the file has no answer.
    pub(super) others: bool,
}

impl Services {
    /// Reads the line of one database. Without the line, or without the file, only the file in
    /// `/etc` is asked.
    pub(super) fn read(file: &Path, database: &str) -> Self {
        let text = std::fs::read(file).unwrap_or_default();
        String::from_utf8_lossy(&text)
            .lines()
            .filter_map(|line| {
                line.split('#')
                    .next()?
                    .trim()
                    .strip_prefix(database)?
                    .trim_start()
                    .strip_prefix(':')
            })
            .next()
            .map_or(Services { files: true, others: false }, Services::parse)
    }

    fn parse(list: &str) -> Self {
        let mut services = Services { files: false, others: false };
        let mut rest = list.trim();
        while !rest.is_empty() {
            if let Some(actions) = rest.strip_prefix('[') {
                let (actions, after) = actions.split_once(']').unwrap_or((actions, ""));
                if services == (Services { files: true, others: false })
                    && ends_where_not_found(actions)
                {
                    break;
                }
                rest = after.trim_start();
                continue;
            }
            let end = rest
                .find(|letter: char| letter.is_whitespace() || letter == '[')
                .unwrap_or(rest.len());
            match &rest[..end] {
                "files" => services.files = true,
                // The file, in which some lines stand for other services.
                "compat" => services = Services { files: true, others: true },
                _ => services.others = true,
            }
            rest = rest[end..].trim_start();
        }
        services
    }
}

/// `NOTFOUND=return`, `!SUCCESS=return`: no later service is asked for what the earlier ones do not
/// know.
fn ends_where_not_found(actions: &str) -> bool {
    actions.split_whitespace().filter_map(|item| item.split_once('=')).any(|(status, action)| {
        let (status, negated) =
            status.strip_prefix('!').map_or((status, false), |status| (status, true));
        action.eq_ignore_ascii_case("return") && status.eq_ignore_ascii_case("notfound") != negated
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_whether_others_are_asked() {
        for (list, files, others) in [
            ("files", true, false),
            ("files systemd", true, true),
            ("files [NOTFOUND=return] sss", true, false),
            ("files [!UNAVAIL=return] sss", true, false),
            ("files [SUCCESS=merge] sss", true, true),
            ("sss [NOTFOUND=return] files", true, true),
            ("sss files", true, true),
            ("compat", true, true),
            ("", false, false),
        ] {
            assert_eq!(Services::parse(list), Services { files, others }, "{list:?}");
        }
    }
}
