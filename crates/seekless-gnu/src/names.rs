//! Lists of names with a NUL behind each (`--files0-from`).

use rustix::io::Errno;
use std::io::{self, BufRead, Read};

/// Linux has no name over 4,096 bytes. A list without a NUL, such as a disk image, is not read on.
const NAME_BYTES_MAX: u64 = 1 << 20;

/// Reads the next name and the NUL behind it, which the last one may lack. Returns the bytes read:
/// 0 at the end.
///
/// # Errors
/// The list cannot be read; or the name has over a million bytes, which is `ENAMETOOLONG`.
pub fn read_name(list: &mut impl BufRead, name: &mut Vec<u8>) -> io::Result<usize> {
    let read = list.take(NAME_BYTES_MAX).read_until(0, name)?;
    if read as u64 == NAME_BYTES_MAX && name.last() != Some(&0) {
        return Err(Errno::NAMETOOLONG.into());
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    #[test]
    fn names_end_at_a_nul_and_a_list_without_one_is_not_read_on() {
        let mut list = &b"a\0b c\0last"[..];
        let mut next = || {
            let mut name = Vec::new();
            read_name(&mut list, &mut name).map(|read| (read, name)).unwrap()
        };
        assert_eq!(next(), (2, b"a\0".to_vec()));
        assert_eq!(next(), (4, b"b c\0".to_vec()));
        assert_eq!(next(), (4, b"last".to_vec()));
        assert_eq!(next(), (0, Vec::new()));
        let mut endless = BufReader::new(io::repeat(b'x'));
        let error = read_name(&mut endless, &mut Vec::new()).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(Errno::NAMETOOLONG.raw_os_error()));
    }
}
