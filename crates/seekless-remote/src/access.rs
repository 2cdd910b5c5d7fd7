//! How a program is let in: what the environment says, and what it says itself.

use std::fmt;

/// Endpoints and credentials that a program gives itself. What it does not give is found where the
/// provider's own tools look.
#[derive(Clone, Default)]
pub struct Access {
    options: Vec<(String, String)>,
}

impl Access {
    /// Also gives an option of `object_store`, such as `aws_endpoint` or `aws_access_key_id`.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.push((name.into(), value.into()));
        self
    }

    /// The options that a provider knows.
    pub(crate) fn known<K: std::str::FromStr>(&self) -> impl Iterator<Item = (K, &String)> {
        self.options.iter().filter_map(|(name, value)| Some((name.parse().ok()?, value)))
    }
}

/// Shows no value: they may be secret.
impl fmt::Debug for Access {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(self.options.iter().map(|(name, _)| name)).finish()
    }
}
