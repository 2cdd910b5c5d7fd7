//! Words for a shell.

/// A word as a shell reads it.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:,@%+".contains(&byte);
    match !word.is_empty() && word.bytes().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// All words of a command line, each as the shell needs it.
#[must_use]
pub fn words(all: &[String]) -> String {
    all.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}
