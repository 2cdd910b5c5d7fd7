//! `seekless grep` with what only it knows.

use super::{seekless, workplace};

#[test]
fn what_is_cached_can_be_held_within_a_bound() {
    let place = workplace();
    std::fs::write(place.path().join("a"), "yes\n".repeat(1 << 18)).expect("written");
    let grep = |words: &[&str]| seekless(place.path()).arg("grep").args(words).output().expect("it starts");
    let output = grep(&["-c", "--hold", "512KiB", "--stats", "e", "a"]);
    assert_eq!(output.stdout, b"262144\n");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let resident = !told.contains(" 0 B resident at the start");
    assert_eq!(told.contains("524288 B of them held"), resident, "{told}");
    let output = grep(&["--hold=much", "e", "a"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&output.stderr).starts_with("grep: invalid argument 'much' for '--hold': ")
    );
}
