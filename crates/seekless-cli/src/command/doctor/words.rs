//! The findings as text: a line for each facility, and below one that is missing what that means.

use super::about::{About, Group, about};
use crate::output::{line, shown};
use seekless::device::units::{counted, format_bytes};
use seekless::tools::doctor::{Examined, Finding};
use seekless::tools::leftovers::{Kind, Leftover};
use std::fmt::Write as _;

const COLUMNS: usize = 100;
/// Where the words stand that explain a missing facility.
const INDENT: usize = 18;

pub(super) fn report(examined: &Examined, left: &[Leftover], colour: bool) -> String {
    let mut text = heading(examined);
    let paint = Paint { colour };
    let widths = Widths::of(&examined.findings);
    for group in Group::ALL {
        let _ = write!(text, "\n{}\n", paint.bold(group.heading()));
        let of_group = |finding: &&Finding| about(finding.facility).group == group;
        for finding in examined.findings.iter().filter(of_group) {
            text += &row(finding, &widths, &paint);
        }
    }
    text + &sum(examined) + &left_behind(left)
}

fn heading(examined: &Examined) -> String {
    let Examined { kernel, root, folder, file_system, device, .. } = examined;
    let user = if *root { "as root" } else { "not as root" };
    let mut text = format!("Linux {kernel} on {}, {user}\n", std::env::consts::ARCH);
    let on = match (file_system, device) {
        (Some(kind), Some(device)) if kind != device => format!(" ({kind} on {})", line(device)),
        (Some(kind), _) => format!(" ({kind})"),
        (None, _) => String::new(),
    };
    let _ = writeln!(text, "files tried in {}{on}", shown(folder));
    text
}

/// What killed verbs have left, and what to do about it.
fn left_behind(left: &[Leftover]) -> String {
    let mut text = String::new();
    for (kind, what, instead) in [
        (Kind::Spool, "spool", ": `seekless trace recover` makes traces of them"),
        (Kind::Folder, "temporary folder", ""),
    ] {
        let of_kind = left.iter().filter(|left| left.kind == kind);
        let (count, bytes) =
            of_kind.fold((0, 0), |(count, bytes), left| (count + 1, bytes + left.bytes));
        if count > 0 {
            let (count, bytes) = (counted(count, what), format_bytes(bytes));
            let _ =
                writeln!(text, "Left by verbs that were killed: {count} with {bytes}{instead}.");
        }
    }
    if !text.is_empty() {
        text.insert(0, '\n');
        text += "`seekless profiles` lists them; `seekless profiles prune --older-than 30d` removes \
                 old ones.\n";
    }
    text
}

fn sum(examined: &Examined) -> String {
    let all = examined.findings.len();
    match examined.findings.iter().filter(|finding| !finding.usable).count() {
        0 => format!("\nAll {all} are usable.\n"),
        missing => {
            let usable = all - missing;
            format!("\n{usable} of {all} are usable.\n")
        }
    }
}

/// The widths of columns.
struct Widths {
    name: usize,
    what: usize,
}

impl Widths {
    fn of(findings: &[Finding]) -> Self {
        let widest = |cell: fn(About) -> &'static str| {
            findings.iter().map(|it| cell(about(it.facility)).chars().count()).max().unwrap_or(0)
        };
        Self { name: widest(|it| it.name), what: widest(|it| it.what) }
    }
}

fn row(finding: &Finding, widths: &Widths, paint: &Paint) -> String {
    let about = about(finding.facility);
    let mark = if finding.usable { paint.green("✓") } else { paint.red("✗") };
    let (name, what) = (about.name, about.what);
    let verbs = paint.dim(&about.verbs.join(" "));
    let mut text = format!("  {mark} {name:0$}  {what:1$}  {verbs}\n", widths.name, widths.what);
    match (&finding.why, finding.usable) {
        (None, _) => {}
        (Some(limit), true) => text += &paint.dim(&explained("note", limit)),
        (Some(why), false) => {
            text += &explained("why", why);
            text += &explained("instead", about.instead);
            text += &explained("cost", about.cost);
            text += &explained("to get it", about.get);
        }
    }
    text
}

/// A word and its explanation, which is broken into lines.
fn explained(word: &str, text: &str) -> String {
    let mut lines = vec![String::new()];
    for piece in text.split_whitespace() {
        let last = lines.last().map_or(0, |line| line.chars().count());
        if last > 0 && INDENT + last + 1 + piece.chars().count() > COLUMNS {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(piece);
        }
    }
    let word_at = |at: usize| if at == 0 { word } else { "" };
    let line =
        |(at, line): (usize, &String)| format!("      {:1$}{line}\n", word_at(at), INDENT - 6);
    lines.iter().enumerate().map(line).collect()
}

/// Colours, if the terminal has them.
struct Paint {
    colour: bool,
}

impl Paint {
    fn with(&self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn green(&self, text: &str) -> String {
        self.with("32", text)
    }

    fn red(&self, text: &str) -> String {
        self.with("31", text)
    }

    fn dim(&self, text: &str) -> String {
        self.with("2", text)
    }

    fn bold(&self, text: &str) -> String {
        self.with("1", text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless::tools::doctor::Facility;

    fn examined(findings: Vec<Finding>) -> Examined {
        Examined {
            kernel: "6.18.0".to_owned(),
            root: false,
            folder: "/data".into(),
            file_system: Some("ext4".to_owned()),
            device: Some("/dev/sda1".to_owned()),
            findings,
        }
    }

    #[test]
    fn a_missing_facility_is_explained_and_a_usable_one_is_a_line() {
        let usable = Finding { facility: Facility::IoUring, usable: true, why: None };
        let why = Some("Operation not permitted".to_owned());
        let missing = Finding { facility: Facility::Fuse, usable: false, why };
        let said = report(&examined(vec![usable, missing]), &[], false);
        assert!(said.contains("files tried in /data (ext4 on /dev/sda1)\n"), "{said}");
        assert!(said.contains("  ✓ io_uring"), "{said}");
        assert!(said.contains("  ✗ FUSE"), "{said}");
        assert!(said.contains("      why         Operation not permitted\n"), "{said}");
        assert!(said.contains("      to get it   `apt install fuse3`"), "{said}");
        assert!(said.ends_with("\n1 of 2 are usable.\n"), "{said}");
        assert!(!said.contains('\x1b'), "no colours were asked for");
    }

    #[test]
    fn no_line_is_longer_than_a_hundred_columns() {
        let facilities = [
            Facility::IoUring,
            Facility::Direct,
            Facility::DontCache,
            Facility::LargeFolios,
            Facility::Cachestat,
            Facility::Mincore,
            Facility::Fiemap,
            Facility::Handles,
            Facility::DropCaches,
            Facility::Locked,
            Facility::Ptrace,
            Facility::Filter,
            Facility::Notification,
            Facility::PageFaults,
            Facility::Ebpf,
            Facility::Fetches,
            Facility::BlockEvents,
            Facility::Groups,
            Facility::Fuse,
            Facility::OwnMounts,
        ];
        let why = || Some("word ".repeat(60));
        let finding = |facility| Finding { facility, usable: false, why: why() };
        let said = report(&examined(facilities.map(finding).into()), &[], false);
        for line in said.lines() {
            assert!(line.chars().count() <= COLUMNS, "{line}");
            assert_eq!(line.trim_end(), line);
        }
    }
}
