//! The crate's one error: some text that should name a size, a rate, a duration or a device does
//! not.

/// Text that could not be understood; its message shows the forms that can.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

/// What was wrong with the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// It does not start with a number.
    NotANumber,
    /// The number is followed by something that is no known unit.
    UnknownUnit,
    /// The value does not fit.
    TooLarge,
    /// A device setting with a name that no device has, or without a value.
    UnknownSetting,
    /// A setting that the device needs is absent, or is given twice.
    Missing,
    /// Numbers of a device that do not go together: zones that are not in order, say.
    Order,
    /// Text that is no description of a device.
    Syntax,
    /// A rate of nothing: the device would never finish.
    Zero,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: String) -> Self {
        Error { kind, message }
    }

    /// What was wrong, for code that decides by it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}
