//! Entries in chunks are ordinary entries to every other tool.

use crate::foreign::unzip_tests;
use crate::support::{installed, on_disk, pack, read_all};
use seekless_pack::{Codec, Index, verify};

fn large() -> Vec<u8> {
    (0..600_000u32)
        .flat_map(|number| format!("{} ", number.wrapping_mul(9_973)).into_bytes())
        .collect()
}

#[test]
fn other_tools_read_entries_in_chunks() {
    let content = large();
    let archive = pack(&[("before", b"1"), ("large.txt", &content), ("behind", b"2")], Codec::Auto);
    let index = Index::open(archive.as_slice(), archive.len() as u64).expect("our own");
    assert!(index.chunks(1).is_some_and(|chunks| chunks.len() > 4));
    assert!(read_all(&archive).expect("our own")[1].1 == content);
    verify(archive.as_slice(), archive.len() as u64, &mut |_, _| {}).expect("our own");
    let (_folder, path) = on_disk(&archive);
    unzip_tests(&path);
    let Some(mut python) = installed("python3") else { return };
    let script = "import sys, zipfile, zlib
archive = zipfile.ZipFile(sys.argv[1])
assert archive.testzip() is None
print(zlib.crc32(archive.read('large.txt')))";
    let done = python.args(["-c", script]).arg(&path).output().expect("it runs");
    let said = String::from_utf8_lossy(&done.stdout).trim().to_owned();
    let failed = String::from_utf8_lossy(&done.stderr);
    assert_eq!(said, crc32fast::hash(&content).to_string(), "{failed}");
}
