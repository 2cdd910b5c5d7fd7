//! The names of errors, as C and strace have them.

/// Linux's names, with the numbers that most architectures use.
const ERRORS: [(&[u8], i32); 56] = [
    (b"EPERM", 1),
    (b"ENOENT", 2),
    (b"ESRCH", 3),
    (b"EINTR", 4),
    (b"EIO", 5),
    (b"ENXIO", 6),
    (b"E2BIG", 7),
    (b"ENOEXEC", 8),
    (b"EBADF", 9),
    (b"ECHILD", 10),
    (b"EAGAIN", 11),
    (b"ENOMEM", 12),
    (b"EACCES", 13),
    (b"EFAULT", 14),
    (b"ENOTBLK", 15),
    (b"EBUSY", 16),
    (b"EEXIST", 17),
    (b"EXDEV", 18),
    (b"ENODEV", 19),
    (b"ENOTDIR", 20),
    (b"EISDIR", 21),
    (b"EINVAL", 22),
    (b"ENFILE", 23),
    (b"EMFILE", 24),
    (b"ENOTTY", 25),
    (b"ETXTBSY", 26),
    (b"EFBIG", 27),
    (b"ENOSPC", 28),
    (b"ESPIPE", 29),
    (b"EROFS", 30),
    (b"EMLINK", 31),
    (b"EPIPE", 32),
    (b"EDOM", 33),
    (b"ERANGE", 34),
    (b"EDEADLK", 35),
    (b"ENAMETOOLONG", 36),
    (b"ENOLCK", 37),
    (b"ENOSYS", 38),
    (b"ENOTEMPTY", 39),
    (b"ELOOP", 40),
    (b"ENODATA", 61),
    (b"ETIME", 62),
    (b"EPROTO", 71),
    (b"EBADMSG", 74),
    (b"EOVERFLOW", 75),
    (b"EILSEQ", 84),
    (b"EOPNOTSUPP", 95),
    (b"ENOTSUP", 95),
    (b"ECONNRESET", 104),
    (b"ETIMEDOUT", 110),
    (b"ECONNREFUSED", 111),
    (b"EALREADY", 114),
    (b"EINPROGRESS", 115),
    (b"ESTALE", 116),
    (b"EDQUOT", 122),
    (b"ECANCELED", 125),
];
/// What stands for an error of another name.
const OTHER: i32 = 5;

/// The number of an error; that of EIO for a name that is not known.
pub(crate) fn number_of(name: &[u8]) -> Option<i32> {
    let known = ERRORS.iter().find(|(known, _)| *known == name).map(|(_, number)| *number);
    name.starts_with(b"E").then_some(known.unwrap_or(OTHER))
}

/// The name of an error: `EINVAL`; its number if it has none here.
pub(crate) fn name_of(number: i32) -> String {
    let known = ERRORS.iter().find(|(_, known)| *known == number);
    known.map_or_else(|| number.to_string(), |(name, _)| String::from_utf8_lossy(name).into_owned())
}
