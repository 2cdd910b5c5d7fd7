//! Families of policies: what they go by.

/// What a policy goes by, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// The order of the last uses, or of arrival.
    Recency,
    /// How often a page was used.
    Frequency,
    /// What came back after it was evicted.
    Ghost,
    /// Size and cost.
    SizeAware,
    /// A few random pages.
    Sampled,
    /// Weights or densities that it learns.
    Learned,
    /// What the device below charges: dirty pages, and places on it.
    Device,
    /// The future.
    Offline,
}

impl Family {
    /// All families, in the order of lists.
    pub const ALL: [Self; 8] = [
        Self::Recency,
        Self::Frequency,
        Self::Ghost,
        Self::SizeAware,
        Self::Sampled,
        Self::Learned,
        Self::Device,
        Self::Offline,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Recency => "recency",
            Self::Frequency => "frequency",
            Self::Ghost => "ghost",
            Self::SizeAware => "size-aware",
            Self::Sampled => "sampled",
            Self::Learned => "learned",
            Self::Device => "device",
            Self::Offline => "offline",
        }
    }

    /// What its policies go by.
    #[must_use]
    pub fn what(self) -> &'static str {
        match self {
            Self::Recency => "the order of last uses, or of arrival",
            Self::Frequency => "how often a page was used",
            Self::Ghost => "what came back after it was evicted",
            Self::SizeAware => "size and cost",
            Self::Sampled => "a few random pages for each victim",
            Self::Learned => "weights or densities that are learned",
            Self::Device => "dirty pages, and places on the device",
            Self::Offline => "the future: bounds, not caches",
        }
    }

    /// The family called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.name() == name)
    }
}
