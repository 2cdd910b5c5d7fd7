//! `./run` with a fake cargo that only prints its folder: it builds in the checkout and runs in the
//! caller's folder.

use super::{workplace, write_script};
use std::fs;
use std::path::Path;
use std::process::Command;

const CARGO: &str = r#"#!/bin/sh
echo "cargo in $PWD: $*" >&2
mkdir -p "$CARGO_TARGET_DIR/release"
printf '#!/bin/sh\necho "ran in $PWD: $*"\n' >"$CARGO_TARGET_DIR/release/seekless"
chmod +x "$CARGO_TARGET_DIR/release/seekless"
"#;

#[test]
fn run_builds_in_the_checkout_and_runs_where_the_caller_is() {
    let folder = workplace();
    let (tools, caller) = (folder.path().join("tools"), folder.path().join("a caller's"));
    fs::create_dir(&tools).expect("a new folder");
    fs::create_dir(&caller).expect("a new folder");
    write_script(&tools.join("cargo"), CARGO);
    write_script(&tools.join("cc"), "#!/bin/sh\n");
    let checkout =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("it is here");
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").expect("set"));
    let output = Command::new(checkout.join("run"))
        .args(["sim", "a trace"])
        .env_clear()
        .envs([("PATH", path.as_str()), ("CARGO_TARGET_DIR", "target")])
        .current_dir(&caller)
        .output()
        .expect("it starts");
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(said(&output.stdout), format!("ran in {}: sim a trace\n", caller.display()));
    assert!(
        said(&output.stderr).contains(&format!("cargo in {}: build --release", checkout.display()))
    );
    assert!(
        caller.join("target/release/seekless").exists(),
        "a relative target folder is the caller's"
    );
}
