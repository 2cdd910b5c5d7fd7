use super::*;
use std::process::Command;

const PASSWD: &[u8] = b"root:x:0:0:root:/root:/bin/sh\n\
    # a comment:x:50:50:::\n\
    \n\
    \t indented:x:51:51:::\n\
    +nis:x:52:52:::\n\
    -nis:x:53:53:::\n\
    nothing\n\
    no-group:x:54\n\
    no-number:x::55:::\n\
    word:x:abc:56:::\n\
    huge:x:99999999999999999999:57:::\n\
    root-too:x:0:0:::\n\
    root:x:58:58:::\n\
    nul:x:59:59\0:::\n\
    cut\0:x:60:60:::\n\
    b\xe4r:x:61:61:::\n\
    last:x:62:62";

/// A folder as `/etc`, with a `getent` in it that writes down what it is asked.
struct Machine {
    folder: tempfile::TempDir,
    accounts: Accounts,
}

impl Machine {
    fn new(switch: Option<&str>, getent: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("passwd"), PASSWD).unwrap();
        std::fs::write(folder.path().join("group"), "wheel:x:10:a,b\nbare:x:11\nnumberless:x:\n")
            .unwrap();
        if let Some(switch) = switch {
            std::fs::write(folder.path().join("nsswitch.conf"), switch).unwrap();
        }
        let program = folder.path().join("getent");
        if let Some(script) = getent {
            let log = folder.path().join("asked").display().to_string();
            let script = format!("#!/bin/sh\necho \"$@\" >> '{log}'\n{script}\n");
            // By a process of its own: a file that any thread's new child still holds open for
            // writing cannot be run.
            let write = [r#"printf %s "$1" > "$2"; chmod 755 "$2""#, "write", &script];
            assert!(
                Command::new("sh").arg("-c").args(write).arg(&program).status().unwrap().success()
            );
        }
        let accounts = Accounts::new(folder.path(), vec![folder.path().join("no/getent"), program]);
        Machine { folder, accounts }
    }

    fn user(&self, uid: u32) -> Option<String> {
        self.accounts.users.name(uid).map(|name| String::from_utf8_lossy(&name).into_owned())
    }

    fn asked(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.folder.path().join("asked")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }
}

const OTHERS: Option<&str> =
    Some("# comment\npasswd:  files systemd\ngroup: files sss # and so on\n");
const KNOWS_SEVENTY: &str = r#"case "$1 $2" in
    "passwd 70"|"passwd far") echo far:x:70:70:Far Away:/:/bin/sh;;
    "passwd 71") echo wrong:x:70:70:::;;
    "passwd 72") echo rubbish;;
    "passwd 73") echo killed:x:73:73:::; kill -9 $$;;
    "group 80"|"group away") echo away:x:80:;;
    *) exit 2;;
esac"#;

#[test]
fn lines_are_read_as_the_c_library_reads_them() {
    let machine = Machine::new(None, None);
    let name = |uid| machine.user(uid);
    assert_eq!(name(0).as_deref(), Some("root"), "the first of several");
    assert_eq!(name(51).as_deref(), Some("indented"));
    for skipped in [50, 52, 53, 54, 55, 56, 60] {
        assert_eq!(name(skipped), None, "{skipped}");
    }
    assert_eq!(name(u32::MAX).as_deref(), Some("huge"), "as strtoul has it");
    assert_eq!(name(59).as_deref(), Some("nul"), "what follows a NUL is not there");
    assert_eq!(machine.accounts.users.name(61).as_deref(), Some(&b"b\xe4r"[..]));
    assert_eq!(name(62).as_deref(), Some("last"), "without a newline");
    assert_eq!(machine.accounts.users.number(b"root"), Some(0));
    assert_eq!(machine.accounts.users.number(b"+nis"), None);
    assert_eq!(machine.accounts.groups.name(10).as_deref(), Some(&b"wheel"[..]));
    assert_eq!(machine.accounts.groups.number(b"bare"), Some(11));
    assert_eq!(machine.accounts.groups.number(b"numberless"), None);
}

#[test]
fn getent_does_not_run_where_the_files_are_all_there_is() {
    for switch in [None, Some("passwd: files\ngroup: files\n"), Some("hosts: files dns\n")] {
        let machine = Machine::new(switch, Some(KNOWS_SEVENTY));
        assert_eq!(machine.user(70), None);
        assert_eq!(machine.accounts.users.number(b"far"), None);
        assert_eq!(machine.accounts.groups.name(80), None);
        assert_eq!(machine.asked(), [""; 0], "{switch:?}");
    }
}

#[test]
fn other_services_are_asked_once_for_each_account() {
    let machine = Machine::new(OTHERS, Some(KNOWS_SEVENTY));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                assert_eq!(machine.user(0).as_deref(), Some("root"));
                assert_eq!(machine.user(70).as_deref(), Some("far"));
                assert_eq!(machine.user(99), None);
            });
        }
    });
    assert_eq!(machine.accounts.users.number(b"far"), Some(70));
    assert_eq!(machine.accounts.users.number(b"far"), Some(70));
    assert_eq!(machine.accounts.groups.name(80).as_deref(), Some(&b"away"[..]));
    assert_eq!(machine.accounts.groups.number(b"away"), Some(80));
    let mut asked = machine.asked();
    asked.sort_unstable();
    assert_eq!(asked, ["group 80", "group away", "passwd 70", "passwd 99", "passwd far"]);
}

#[test]
fn an_answer_that_does_not_fit_is_none() {
    let machine = Machine::new(OTHERS, Some(KNOWS_SEVENTY));
    for uid in [71, 72, 73] {
        assert_eq!(machine.user(uid), None, "{uid}");
    }
}

#[test]
fn getent_is_never_asked_for_what_it_would_misread() {
    let machine = Machine::new(OTHERS, Some("echo far:x:70:70:::"));
    for name in ["", "12", " 12", "+12", "-s"] {
        assert_eq!(machine.accounts.users.number(name.as_bytes()), None, "{name:?}");
    }
    assert_eq!(machine.asked(), [""; 0]);
}

#[test]
fn without_getent_the_files_answer_alone() {
    let machine = Machine::new(OTHERS, None);
    assert_eq!(machine.user(0).as_deref(), Some("root"));
    assert_eq!(machine.user(70), None);
}

#[test]
fn a_file_that_the_machine_does_not_list_is_not_read() {
    let machine = Machine::new(Some("passwd: ldap\n"), Some(KNOWS_SEVENTY));
    assert_eq!(machine.user(51), None);
    assert_eq!(machine.user(70).as_deref(), Some("far"));
}

#[test]
fn this_machine_knows_root() {
    assert_eq!(user_name(0).as_deref(), Some(&b"root"[..]));
    assert_eq!(user_number(b"root"), Some(0));
    assert_eq!(group_number(&group_name(0).expect("group 0 has a name")), Some(0));
}
