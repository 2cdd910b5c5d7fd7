//! The errors of the facade's crates as Python's exceptions, which `python/seekless/errors.py`
//! defines.

use pyo3::prelude::*;
use seekless::{io, pack, page_cache, policy, record, sim, sys, tools, trace};
use std::error::Error;
use std::io::ErrorKind as Io;
use std::path::{Path, PathBuf};

/// Which exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// A file, folder, program or entry is absent.
    NotFound,
    /// The system allows it not.
    Denied,
    /// The output is there already.
    Exists,
    /// Another call of the system failed.
    System,
    /// A file is damaged, or of another kind.
    Corrupt,
    /// A file is whole, and not read here.
    Unsupported,
    /// The call makes no sense.
    Usage,
    /// More memory, ids or bytes than allowed.
    Limit,
    /// A mistake of ours.
    Internal,
}

/// An error on its way to Python.
#[derive(Debug)]
pub(crate) struct Failure {
    class: Class,
    message: String,
    path: Option<PathBuf>,
}

impl Failure {
    pub(crate) fn new(class: Class, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), path: None }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Class::Usage, message)
    }

    pub(crate) fn at(self, path: &Path) -> Self {
        Self { path: Some(path.to_owned()), ..self }
    }

    /// The words of an error and of its causes. `class` is what it is unless the system says more.
    fn of(class: Class, error: &(dyn Error + 'static)) -> Self {
        let mut message = error.to_string();
        let mut class = class;
        let mut cause = Some(error);
        while let Some(at) = cause {
            let words = at.to_string();
            if !message.contains(&words) {
                message = format!("{message}: {words}");
            }
            match at.downcast_ref::<std::io::Error>().map(std::io::Error::kind) {
                Some(Io::NotFound) => class = Class::NotFound,
                Some(Io::PermissionDenied) => class = Class::Denied,
                _ => {}
            }
            cause = at.source();
        }
        Self::new(class, in_words_of_python(message))
    }

    fn exception(&self) -> &'static str {
        match self.class {
            Class::NotFound => "NotFoundError",
            Class::Denied => "DeniedError",
            Class::Exists => "ExistsError",
            Class::System => "SystemFailure",
            Class::Corrupt => "CorruptError",
            Class::Unsupported => "UnsupportedError",
            Class::Usage => "UsageError",
            Class::Limit => "LimitError",
            Class::Internal => "InternalError",
        }
    }
}

/// The facade's advice names the command's flags.
fn in_words_of_python(message: String) -> String {
    const WORDS: [(&str, &str); 6] = [
        ("give --force to", "say force=True to"),
        ("--unit-weights", "unit_weights=True"),
        ("--unit page", "unit=\"page\""),
        ("with --device", "with device="),
        ("`seekless sim --policies` lists all", "seekless.policies() lists all"),
        ("`seekless trace import --columns`", "Trace(path, columns=...)"),
    ];
    WORDS.iter().fold(message, |message, (flag, word)| message.replace(flag, word))
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        let made = |py: Python<'_>| {
            let class = py.import("seekless.errors")?.getattr(failure.exception())?;
            let value = class.call1((failure.message.as_str(),))?;
            value.setattr("path", failure.path.as_ref().map(|path| path.as_os_str()))?;
            PyResult::Ok(PyErr::from_value(value))
        };
        Python::attach(|py| made(py).unwrap_or_else(|error| error))
    }
}

impl From<trace::Error> for Failure {
    fn from(error: trace::Error) -> Self {
        use trace::ErrorKind as Kind;
        let class = match error.kind() {
            Kind::Io => Class::System,
            Kind::Exists => Class::Exists,
            Kind::Limit => Class::Limit,
            Kind::Usage => Class::Usage,
            _ => Class::Corrupt,
        };
        Self::of(class, &error).at(error.path())
    }
}

impl From<sim::Error> for Failure {
    fn from(error: sim::Error) -> Self {
        use sim::ErrorKind as Kind;
        let class = match error.kind() {
            Kind::Trace => Class::Corrupt,
            Kind::Limit => Class::Limit,
            _ => Class::Usage,
        };
        Self::of(class, &error)
    }
}

impl From<policy::Error> for Failure {
    fn from(error: policy::Error) -> Self {
        Self::of(Class::Usage, &error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind as Kind;
        let class = match error.kind() {
            Kind::NotFound => Class::NotFound,
            Kind::TooLarge => Class::Limit,
            Kind::Read | Kind::Record => Class::System,
            Kind::Setting => Class::Usage,
            Kind::Unsupported => Class::Unsupported,
            _ => Class::Corrupt,
        };
        let system = error.io_error().map(std::io::Error::kind);
        let class = match system {
            Some(Io::NotFound) => Class::NotFound,
            Some(Io::PermissionDenied) => Class::Denied,
            _ => class,
        };
        Self::of(class, &error)
    }
}

impl From<page_cache::Error> for Failure {
    fn from(error: page_cache::Error) -> Self {
        let class = match error.kind() {
            page_cache::ErrorKind::Setting => Class::Usage,
            _ => Class::System,
        };
        Self::of(class, &error)
    }
}

impl From<tools::Error> for Failure {
    fn from(error: tools::Error) -> Self {
        use tools::ErrorKind as Kind;
        let class = match error.kind() {
            Kind::Io => Class::System,
            Kind::Trace | Kind::Pack | Kind::Differs => Class::Corrupt,
            Kind::Missing => Class::NotFound,
            _ => Class::Usage,
        };
        Self::of(class, &error)
    }
}

impl From<record::Error> for Failure {
    fn from(error: record::Error) -> Self {
        use record::ErrorKind as Kind;
        let class = match error.kind() {
            Kind::NotFound => Class::NotFound,
            Kind::CannotExecute | Kind::Refused => Class::Denied,
            Kind::Exists => Class::Exists,
            Kind::Usage => Class::Usage,
            _ => Class::System,
        };
        Self::of(class, &error)
    }
}

impl From<pack::Error> for Failure {
    fn from(error: pack::Error) -> Self {
        use pack::ErrorKind as Kind;
        let class = match error.kind() {
            Kind::Encrypted | Kind::Method | Kind::MultiDisk => Class::Unsupported,
            Kind::Limit => Class::Limit,
            _ => Class::Corrupt,
        };
        Self::of(class, &error)
    }
}

impl From<sys::output::Error> for Failure {
    fn from(error: sys::output::Error) -> Self {
        let class = match error.kind() {
            sys::output::ErrorKind::Exists => Class::Exists,
            sys::output::ErrorKind::Io => Class::System,
            _ => Class::Usage,
        };
        Self::of(class, &error)
    }
}
