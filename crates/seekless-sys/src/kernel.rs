//! Which Linux this is.

/// Its version; `None` if it does not say.
#[must_use]
pub fn version() -> Option<(u32, u32)> {
    parsed(rustix::system::uname().release().to_str().ok()?)
}

fn parsed(release: &str) -> Option<(u32, u32)> {
    let mut numbers =
        release.split(|letter: char| !letter.is_ascii_digit()).map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_begins_with_its_version() {
        assert_eq!(parsed("6.18.44-fc-v595"), Some((6, 18)));
        assert_eq!(parsed("5.10"), Some((5, 10)));
        assert_eq!(parsed("next"), None);
        assert!(version() > Some((2, 6)));
    }
}
