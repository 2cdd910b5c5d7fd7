//! The calls of 32-bit x86 programs, which 64-bit programs can make too, by `int 0x80`. The kernel
//! reports their arguments in the order ebx, ecx, edx, esi, edi, ebp, so most calls are read like
//! the 64-bit call of that name. A 64-bit offset takes two arguments.

use super::when::{
    CONTROLS, FSTATAT_OF_A_PATH, MAPS_A_FILE, MOVES, STATX_OF_A_PATH, UNSHARES, UNTRACED,
};
use super::{Convention, Row};
use crate::call::{Call, Flags, Offset, Path};
use seekless_watch::seccomp::When::Always;

pub(crate) const CONVENTION: Convention = Convention {
    audit: 3 | 0x4000_0000, // AUDIT_ARCH_I386: EM_386, 32 bits, little-endian
    calls: CALLS,
    vectors: &[145, 146, 333, 334, 378, 379],
    clone: 120,
    clone3: 435,
    fork: Some(2),
    vfork: Some(190),
    x32: 0..0,
};

/// mmap2 counts its offset in units of this size, whatever the size of a page.
const MAP_OFFSET_BYTES: u64 = 4096;

const CALLS: &[Row] = &[
    (3, Always, Call::Read(Offset::Position)),
    (4, Always, Call::Write(Offset::Position)),
    (6, Always, Call::Close),
    (295, Always, Call::Open(Path::AT, Flags::Argument(2))),
    (5, Always, Call::Open(Path::HERE, Flags::Argument(1))),
    (195, Always, Call::Stat(Path::HERE)),
    (196, Always, Call::Stat(Path::HERE)),
    (300, FSTATAT_OF_A_PATH, Call::Stat(Path::AT)),
    (383, STATX_OF_A_PATH, Call::Stat(Path::AT)),
    (140, Always, Call::SeekFar),
    (19, MOVES, Call::Seek),
    (192, MAPS_A_FILE, Call::Map(MAP_OFFSET_BYTES)),
    (91, Always, Call::Unmap),
    (180, Always, Call::Read(Offset::Halves(3))),
    (181, Always, Call::Write(Offset::Halves(3))),
    (8, Always, Call::Open(Path::HERE, Flags::Absent)),
    (12, Always, Call::ChangeDirectory),
    (18, Always, Call::Stat(Path::HERE)),
    (33, Always, Call::Stat(Path::HERE)),
    (41, Always, Call::Duplicate),
    (55, CONTROLS, Call::Control),
    (63, Always, Call::DuplicateTo),
    (84, Always, Call::Stat(Path::HERE)),
    (85, Always, Call::Stat(Path::HERE)),
    (90, Always, Call::Unread("old 32-bit mmap")), // its arguments lie in memory that may have to be fetched first
    (106, Always, Call::Stat(Path::HERE)),
    (107, Always, Call::Stat(Path::HERE)),
    (120, UNTRACED, Call::CloneUntraced),
    (118, Always, Call::Sync),
    (133, Always, Call::ChangeDirectory),
    (61, Always, Call::ChangeRoot),
    (217, Always, Call::ChangeRoot),
    (346, Always, Call::ChangeRoot),
    (141, Always, Call::List),
    (144, Always, Call::SyncMapped),
    (145, Always, Call::Read(Offset::Position)),
    (146, Always, Call::Write(Offset::Position)),
    (148, Always, Call::Sync),
    (187, Always, Call::Unread("old 32-bit sendfile")), // its offset has 32 bits
    (220, Always, Call::List),
    (221, CONTROLS, Call::Control),
    (239, Always, Call::SendFile),
    (248, Always, Call::Blind("io_submit")),
    (305, Always, Call::Stat(Path::AT)),
    (307, Always, Call::Stat(Path::AT)),
    (310, UNSHARES, Call::Unshare),
    (313, Always, Call::Splice),
    (314, Always, Call::Sync),
    (330, Always, Call::DuplicateTo),
    (333, Always, Call::Read(Offset::Halves(3))),
    (334, Always, Call::Write(Offset::Halves(3))),
    (342, Always, Call::OpenHandle),
    (377, Always, Call::CopyRange),
    (378, Always, Call::Read(Offset::HalvesOrPosition(3))),
    (379, Always, Call::Write(Offset::HalvesOrPosition(3))),
    (425, Always, Call::Blind("io_uring_setup")),
    (426, Always, Call::Blind("io_uring_enter")),
    (435, Always, Call::CloneBySize),
    (436, Always, Call::CloseRange),
    (437, Always, Call::Open(Path::AT, Flags::Pointed(2))),
    (439, Always, Call::Stat(Path::AT)),
];
