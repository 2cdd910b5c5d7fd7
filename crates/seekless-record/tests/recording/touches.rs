//! Touches of a program that somebody else starts.

use crate::support::{FILE_BYTES, Place, skip};
use seekless_record::Touches;
use seekless_trace::{Access, Op};
use std::io::Write;
use std::process::{Command, Stdio};

/// A program that waits, then maps the file and touches its first page.
const SCRIPT: &str = "import sys, mmap\nf = open(sys.argv[1], 'rb')\n\
                      m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)\nm[0]";

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
    let touched: Vec<&Access> = rows.iter().filter(|row| row.file == number).collect();
    assert_eq!(touched.len(), 1, "{touched:?}");
    assert_eq!((touched[0].op, touched[0].offset, touched[0].bytes), (Op::Fault, 0, FILE_BYTES));
}
