//! How a verb ends when its job is interrupted.

pub use seekless_terminal::interrupt::{
    cancel_when_interrupted, end_when_interrupted, exit_code, is_cancelled, remove_when_interrupted,
};

/// The error of a job that can be interrupted.
pub trait Interruptible: std::error::Error + Send + Sync + 'static {
    /// Whether the job stopped because of an interruption.
    fn is_interruption(&self) -> bool;
}

impl Interruptible for seekless::tools::Error {
    fn is_interruption(&self) -> bool {
        self.kind() == seekless::tools::ErrorKind::Interrupted
    }
}

impl Interruptible for seekless::fits::Error {
    fn is_interruption(&self) -> bool {
        self.kind() == seekless::fits::ErrorKind::Interrupted
    }
}

/// The result of a job that can be interrupted. If it was, says so and returns `None`: the verb
/// then ends with [`exit_code`].
///
/// # Errors
/// Any other error of the job.
pub fn finished<T, E: Interruptible>(result: Result<T, E>) -> anyhow::Result<Option<T>> {
    match result {
        Err(error) if error.is_interruption() => {
            crate::output::say(error);
            Ok(None)
        }
        other => Ok(Some(other?)),
    }
}
