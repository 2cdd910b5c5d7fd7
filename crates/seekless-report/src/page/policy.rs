//! The Content-Security-Policy: the page's own script and style by their hashes, nothing else.

use sha2::{Digest, Sha256};

/// The policy of a page with this script and style.
pub(super) fn policy(script: &str, style: &str) -> String {
    format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; base-uri 'none'; \
         form-action 'none'",
        source(script),
        source(style)
    )
}

fn source(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text.as_bytes())))
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |index| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= group.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        let texts = ["", "f", "fo", "foo", "foobar"].map(|text| base64(text.as_bytes()));
        assert_eq!(texts, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYmFy"]);
    }

    #[test]
    fn the_hash_is_that_of_the_standard() {
        let empty = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
        assert_eq!(source(""), empty);
    }
}
