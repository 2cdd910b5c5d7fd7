//! MD5, because the reference names the golden outputs by it.

use md5::{Digest, Md5};

/// The first 16 hexadecimal digits of the MD5 of `bytes`.
pub(crate) fn prefix(bytes: &[u8]) -> String {
    Md5::digest(bytes)[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn md5_is_that_of_the_rfc() {
    assert_eq!(prefix(b""), "d41d8cd98f00b204");
    assert_eq!(prefix(b"message digest"), "f96b697d7cb7938d");
    assert_eq!(prefix(&b"1234567890".repeat(8)), "57edf4a22be3c955");
}
