//! What the stand-ins for GNU's tools say alike.

/// An error of the system in GNU's words: without its number.
pub(crate) fn words(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}
