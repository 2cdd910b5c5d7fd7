use super::call::{Part, unescape};
use super::*;

fn parsed(text: &str) -> (String, Vec<String>, i64, Option<i32>, Option<u64>) {
    let call = Call::parse(text.as_bytes()).unwrap();
    let words = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
    let arguments = call.arguments.iter().map(|text| words(text)).collect();
    (words(call.name), arguments, call.result, call.error, call.took_ns)
}

#[test]
fn a_call_is_taken_apart() {
    let (name, arguments, result, error, took) = parsed(
        r#"openat(AT_FDCWD</a, b>, "/x, \"y) = 3", O_RDONLY) = -1 ENOENT (No such file) <0.000017>"#,
    );
    assert_eq!((name.as_str(), result, error, took), ("openat", -1, Some(2), Some(17_000)));
    assert_eq!(arguments, ["AT_FDCWD</a, b>", r#""/x, \"y) = 3""#, "O_RDONLY"]);
    let (_, arguments, result, ..) = parsed(
        r#"writev(1</b(1)>, [{iov_base="a,b", iov_len=3}, {iov_base="", iov_len=0}], 2) = 3"#,
    );
    assert_eq!((arguments.len(), result), (3, 3));
    let (_, arguments, result, ..) = parsed("close(3)                                = 0");
    assert_eq!((arguments, result), (vec!["3".to_owned()], 0));
    assert_eq!(
        parsed("mmap(NULL, 9, PROT_READ, MAP_PRIVATE, 3</x>, 0x2000) = 0x7f1d <0.1>").2,
        0x7f1d
    );
    for none in
        ["exit_group(0) = ?", "read(3, ", "+++ exited with 0 +++", "", "(", "x(", "x(\"", ")"]
    {
        assert_eq!(Call::parse(none.as_bytes()), None, "{none}");
    }
}

#[test]
fn lines_have_processes_and_times_of_several_forms() {
    let line = |text: &'static str| Line::parse(text.as_bytes()).map(|line| (line.pid, line.stamp));
    let second = 1_000_000_000;
    assert_eq!(line("read(3) = 0"), Some((0, Stamp::None)));
    assert_eq!(line("17 read(3) = 0"), Some((17, Stamp::None)));
    assert_eq!(line("[pid   17] read(3) = 0"), Some((17, Stamp::None)));
    assert_eq!(
        line("17 1700000000.5 read(3) = 0"),
        Some((17, Stamp::Epoch(1_700_000_000 * second + second / 2)))
    );
    assert_eq!(line("[pid 17] 00:01:02.5 read(3) = 0"), Some((17, Stamp::Day(62_500_000_000))));
    assert_eq!(line("     0.000125 read(3) = 0"), Some((0, Stamp::Step(125_000))));
    for none in ["--- SIGCHLD {si_signo=SIGCHLD} ---", "17 +++ exited with 0 +++", "strace: x", ""]
    {
        assert!(line(none).is_none_or(|_| none == "strace: x"), "{none}");
    }
    let part = |text: &'static str| Line::parse(text.as_bytes()).unwrap().join();
    assert_eq!(part("7 read(3, <unfinished ...>"), Part::Begin(b"read(3,"));
    assert_eq!(part("7 <... read resumed>\"x\", 9) = 1"), Part::End(b"\"x\", 9) = 1"));
}

#[test]
fn backslashes_are_those_of_c() {
    assert_eq!(unescape(br#"a\n\t\"\\\303\274\x41\0z\7"#), b"a\n\t\"\\\xc3\xbcA\0z\x07");
    assert_eq!(unescape(br"\"), b"");
}

#[test]
fn quotes_and_hexadecimal_escapes_in_paths_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let log = r#"7  1.000001 openat(AT_FDCWD</w>, "p\"q", O_RDONLY) = 3</w/p\"q> <0.000010>
7  1.000002 read(3</w/p\"q>, "a\"b,", 4096) = 4 <0.000010>
7  1.000003 pread64(3</w/p"q>, "bc", 2, 1) = 2 <0.000010>
7  1.000004 openat(AT_FDCWD<\x2f\x77>, "\x70\x22\x71", O_RDONLY) = 4<\x2f\x77\x2f\x70\x22\x71>
7  1.000005 read(4<\x2f\x77\x2f\x70\x22\x71>, "\x61", 9) = 1 <0.000010>
7  1.000006 read(5<pipe:[17]>, "x", 9) = 1 <0.000010>
7  1.000007 brk(NULL) = 0x5 <0.000010>
7  1.000008 read(3</w/p\"q>,  <unfinished ...>
8  1.000009 <... read resumed>"x", 9) = 1 <0.000010>
9  1.000010 exit_group(0) = ?
9  1.000011 +++ exited with 0 +++
--- SIGCHLD {si_signo=SIGCHLD} ---
"#;
    std::fs::write(&path, log).unwrap();
    let out = folder.path().join("out");
    let report =
        crate::import::any(&[path], &out, &crate::import::Options::default(), &mut |_, _| {})
            .unwrap();
    let kinds: Vec<_> =
        report.left_out.iter().map(|(kind, &count)| (kind.as_str(), count)).collect();
    assert_eq!(
        kinds,
        [
            ("other call", 1),
            ("pipe or device call", 1),
            ("signal or message", 1),
            ("unbegun call", 1),
            ("unfinished or unknown call", 2),
        ]
    );
    let trace = crate::Trace::open(&out).unwrap();
    assert_eq!(trace.metadata().not_imported(), report.left_out);
    assert_eq!((report.rows, report.files), (5, 1));
}
