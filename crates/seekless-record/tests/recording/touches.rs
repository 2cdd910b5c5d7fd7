//! Touches of a program that somebody else starts.

use crate::support::{FILE_BYTES, Place, skip};
use seekless_record::Touches;
use seekless_trace::{Access, Op};
use std::io::Write;
use std::process::{Command, Stdio};

/// A program that maps the file and touches every page of it. One touch is not enough: where the
/// kernel puts the mapping across two of its tables of pages, a fault maps one table's pages.
const SCRIPT: &str = "import sys, mmap\nf = open(sys.argv[1], 'rb')\n\
                      m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)\nm[::4096]";

#[test]
fn touches_of_a_program_that_another_starts_are_seen_from_its_exec_on() {
    let place = Place::new();
    // A shell that waits for a line, and then becomes the program.
    let mut child = Command::new("sh")
        .args(["-c", "read go; exec python3 -c \"$0\" \"$1\"", SCRIPT])
        .arg(place.file())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut touches = match Touches::follow(child.id() as i32) {
        Ok(touches) => touches,
        Err(error) => {
            child.kill().unwrap();
            child.wait().unwrap();
            skip!("{error}");
        }
    };
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    if !child.wait().unwrap().success() {
        skip!("no python3");
    }
    let mut rows: Vec<Access> = Vec::new();
    touches.take(&mut rows);
    let (names, lost) = touches.finish(&mut rows);
    assert_eq!(lost, 0);
    let file = place.file().canonicalize().unwrap();
    let number = names.iter().position(|name| name.as_str() == file.to_str().unwrap());
    let number = number.expect("the file was touched") as u32;
    let mut reached = 0;
    for row in rows.iter().filter(|row| row.file == number) {
        assert_eq!((row.op, row.offset as u64), (Op::Fault, reached), "{rows:?}");
        reached += row.bytes;
    }
    assert_eq!(reached, FILE_BYTES);
}
