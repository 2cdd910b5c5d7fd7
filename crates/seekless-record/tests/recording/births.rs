//! Processes whose parent's event never comes, and process numbers that are used again.

use crate::support::{Place, helper, recorder, skip};

/// From this kernel on each PID namespace has its own limit. On an older one the test would change
/// the machine's.
const OWN_LIMIT: (u32, u32) = (6, 14);
/// How many numbers there are, and how many parents are killed. Each number is used dozens of
/// times.
const NUMBERS: &str = "400";
const ROUNDS: &str = "300";
/// After this a recording that hangs is killed.
const PATIENCE_S: &str = "120";

#[test]
fn a_number_that_comes_round_again_is_another_process() {
    let Some(helper) = helper("dynamic") else { skip!("no C compiler") };
    if kernel() < OWN_LIMIT {
        skip!("a PID namespace has no pid_max of its own before Linux 6.14");
    }
    let place = Place::new();
    let mut command = place.command("unshare");
    command.args(["--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c"]);
    let script =
        "echo $1 > /proc/sys/kernel/pid_max || exit 77; shift; timeout -s KILL \"$@\"; exit $?";
    command.args([script, "sh", NUMBERS, PATIENCE_S]).arg(recorder()).arg(place.output());
    let output = command.arg(helper).args(["storm", ROUNDS]).output();
    match output {
        Ok(output) if output.status.success() => {}
        Ok(output) if output.status.code() == Some(137) => panic!("it hangs"),
        other => skip!("no PID namespace with a limit of its own: {other:?}"),
    }
    assert!(!place.recording().accesses.is_empty());
}

fn kernel() -> (u32, u32) {
    let name = rustix::system::uname();
    let mut numbers = name
        .release()
        .to_str()
        .unwrap_or_default()
        .split('.')
        .map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}
