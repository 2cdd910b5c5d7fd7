//! A file system that the recorded program serves itself. A recorder that asked it for anything
//! would wait forever.

use crate::support::{Place, program, recorder, skip};
use seekless_trace::Op;

/// After this a recording that hangs is killed.
const PATIENCE_S: &str = "60";
const FILE_BYTES: u64 = 5000;
const ROUNDS: usize = 20;

#[test]
fn a_file_server_within_the_program_is_not_waited_for() {
    let Some(fuse) = program("fuse", &[]) else { skip!("no C compiler, or no linux/fuse.h") };
    let place = Place::new();
    let mount = place.root.join("mount");
    std::fs::create_dir(&mount).unwrap();
    // Run in new namespaces. When they end, a server and a recorder that wait for each other are
    // killed too.
    let mut command = place.command("timeout");
    command.args([
        "-s",
        "KILL",
        PATIENCE_S,
        "unshare",
        "--mount",
        "--propagation",
        "private",
        "--pid",
        "--fork",
    ]);
    command
        .args(["--mount-proc", "--kill-child", "sh", "-c", "\"$@\"; exit $?", "sh"])
        .arg(recorder());
    let output =
        command.arg(place.output()).arg(fuse).args([&mount, &place.file()]).output().unwrap();
    match output.status.code() {
        Some(0) => {}
        Some(77 | 1) => skip!("no namespace with a FUSE mount: {output:?}"),
        _ => panic!("it hangs, or fails: {output:?}"),
    }
    assert_eq!(output.stdout, format!("{}\n", FILE_BYTES * ROUNDS as u64).as_bytes());
    let recording = place.recording();
    let served = mount.join("file");
    assert_eq!(recording.count(&served, Op::Open), ROUNDS);
    assert_eq!(recording.ranges(&served, Op::Load), [(0, FILE_BYTES); ROUNDS]);
    for name in ["gone", "none"] {
        assert_eq!(recording.of(&mount.join(name)).len(), ROUNDS, "{name}");
    }
    assert_eq!(recording.trace.metadata().lost, 0);
}
