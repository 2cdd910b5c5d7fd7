//! Advice on a program that was running, in words.

use super::{cache, files};
use seekless::tools::advise::traced::service::ServiceAdvice;

/// What is said of a program that did nothing with files.
pub(super) const NOTHING: &str = "While it was recorded it read and wrote no files, so it did not \
                                  wait for them. If it does at other times, record it longer \
                                  (--for), or while it is used.\n";

/// What a user reads. `for_sim` names the trace for `seekless sim`.
pub(super) fn report(advice: &ServiceAdvice, for_sim: &str) -> String {
    let files = advice.files.as_ref().map(|it| files::report(it, for_sim));
    let cache = advice.cache.as_ref().map(|it| cache::report(it, for_sim));
    match files.into_iter().chain(cache).collect::<Vec<_>>() {
        parts if parts.is_empty() => NOTHING.to_owned(),
        parts => parts.join("\nThe page cache:\n"),
    }
}
