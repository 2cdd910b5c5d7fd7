//! The options of grep: GNU's, in the order in which it names those that an abbreviation may stand
//! for, and ours.

use super::asked::{self, Draft, Sets, Wrong};
use crate::getopt::{Flag, Value};
use seekless::gnu::grep::{BinaryFiles, Directories, Listing};
use std::os::unix::ffi::OsStrExt;

/// Which lines and how.
const LINES: &str = "Which lines and how";
const PRINTED: &str = "What is printed";
const FILES: &str = "Which files";
const OURS: &str = "Of seekless";
const OTHER: &str = "Other";

type Letters = &'static [u8];
type Names = &'static [&'static str];

const fn gnus(
    group: &'static str,
    short: Letters,
    long: Names,
    doc: &'static str,
    sets: Sets,
) -> Flag<Sets> {
    Flag { short, long, value: Value::No, group, doc, abbreviates: true, sets }
}

const fn with(value: &'static str, flag: Flag<Sets>) -> Flag<Sets> {
    Flag { value: Value::Required(value), ..flag }
}

const fn ours(long: Names, doc: &'static str, sets: Sets) -> Flag<Sets> {
    Flag { abbreviates: false, ..gnus(OURS, b"", long, doc, sets) }
}

pub(super) const FLAGS: &[Flag<Sets>] = &[
    gnus(LINES, b"G", &["basic-regexp"], "Basic patterns (the default)", |draft, _| {
        draft.matcher("grep")
    }),
    gnus(LINES, b"E", &["extended-regexp"], "Extended patterns", |draft, _| draft.matcher("egrep")),
    gnus(LINES, b"F", &["fixed-strings", "fixed-regexp"], "Fixed strings", |draft, _| {
        draft.matcher("fgrep")
    }),
    gnus(LINES, b"P", &["perl-regexp"], "Perl's patterns", |draft, _| draft.matcher("perl")),
    with(
        "NUM",
        gnus(PRINTED, b"A", &["after-context"], "Show NUM lines after each", |draft, given| {
            draft.after = Some(asked::context(given.text())?);
            Ok(())
        }),
    ),
    with(
        "NUM",
        gnus(PRINTED, b"B", &["before-context"], "Show NUM lines before each", |draft, given| {
            draft.before = Some(asked::context(given.text())?);
            Ok(())
        }),
    ),
    with(
        "TYPE",
        gnus(
            FILES,
            b"",
            &["binary-files"],
            "Take files with a NUL for binary, text, without-match",
            |draft, given| {
                draft.options.binary_files = asked::binary_files(given.text())?;
                Ok(())
            },
        ),
    ),
    gnus(PRINTED, b"b", &["byte-offset"], "Show byte offsets", |draft, _| {
        set(&mut draft.options.byte_offset)
    }),
    with(
        "NUM",
        gnus(
            PRINTED,
            b"C",
            &["context"],
            "Show NUM lines before and after each; also -NUM",
            |draft, given| {
                draft.around = Some(asked::context(given.text())?);
                Ok(())
            },
        ),
    ),
    Flag {
        value: Value::Optional("WHEN"),
        ..gnus(
            PRINTED,
            b"",
            &["color", "colour"],
            "Show matches in colour: always, never, auto; colours by GREP_COLORS",
            Draft::color,
        )
    },
    gnus(PRINTED, b"c", &["count"], "Show how many lines a file has of them", |draft, _| {
        set(&mut draft.options.count)
    }),
    with(
        "ACTION",
        gnus(
            FILES,
            b"D",
            &["devices"],
            "Read or skip devices, pipes and sockets",
            |draft, given| {
                draft.search.devices = asked::devices(given.text())?;
                Ok(())
            },
        ),
    ),
    with(
        "ACTION",
        gnus(
            FILES,
            b"d",
            &["directories"],
            "Read, recurse into or skip folders",
            |draft, given| {
                draft.search.directories = asked::directories(given.text(), draft.options.locale)?;
                Ok(())
            },
        ),
    ),
    with(
        "GLOB",
        gnus(FILES, b"", &["exclude"], "Leave out files of such names", |draft, given| {
            draft.search.files.exclude(given.text().as_bytes());
            Ok(())
        }),
    ),
    with(
        "FILE",
        gnus(FILES, b"", &["exclude-from"], "The same, by a list of globs", Draft::exclude_from),
    ),
    with(
        "GLOB",
        gnus(FILES, b"", &["exclude-dir"], "Leave out folders of such names", |draft, given| {
            draft.search.folders.exclude(asked::without_slashes(given.text().as_bytes()));
            Ok(())
        }),
    ),
    with(
        "FILE",
        gnus(LINES, b"f", &["file"], "Patterns, a line each", |draft, given| {
            draft.pattern_file(given.text())
        }),
    ),
    gnus(
        PRINTED,
        b"l",
        &["files-with-matches"],
        "Show only the names of files with such lines",
        |draft, _| {
            draft.options.listing = Listing::Matching;
            Ok(())
        },
    ),
    gnus(
        PRINTED,
        b"L",
        &["files-without-match"],
        "Show only the names of files without them",
        |draft, _| {
            draft.options.listing = Listing::NonMatching;
            Ok(())
        },
    ),
    with(
        "SEP",
        gnus(
            PRINTED,
            b"",
            &["group-separator"],
            "What parts groups of lines, -- if nothing else is said",
            |draft, given| {
                draft.options.group_separator = Some(given.text().as_bytes().to_vec());
                Ok(())
            },
        ),
    ),
    gnus(OTHER, b"", &["help"], "Print help", |draft, _| set(&mut draft.help)),
    with(
        "GLOB",
        gnus(FILES, b"", &["include"], "Only files of such names", |draft, given| {
            draft.search.files.include(given.text().as_bytes());
            Ok(())
        }),
    ),
    gnus(LINES, b"iy", &["ignore-case"], "Without regard to case", |draft, _| {
        set(&mut draft.options.ignore_case)
    }),
    gnus(LINES, b"", &["no-ignore-case"], "With regard to case (the default)", |draft, _| {
        draft.options.ignore_case = false;
        Ok(())
    }),
    gnus(PRINTED, b"T", &["initial-tab"], "A tab before the line", |draft, _| {
        set(&mut draft.options.initial_tab)
    }),
    with(
        "NAME",
        gnus(PRINTED, b"", &["label"], "What standard input is called", |draft, given| {
            draft.options.label = given.text().as_bytes().to_vec();
            Ok(())
        }),
    ),
    gnus(PRINTED, b"", &["line-buffered"], "Write each line at once", |draft, _| {
        set(&mut draft.options.line_buffered)
    }),
    gnus(PRINTED, b"n", &["line-number"], "Show line numbers", |draft, _| {
        set(&mut draft.options.line_number)
    }),
    gnus(LINES, b"x", &["line-regexp"], "Whole lines only", |draft, _| {
        set(&mut draft.options.line_regexp)
    }),
    with(
        "NUM",
        gnus(
            LINES,
            b"m",
            &["max-count"],
            "Stop a file after NUM selected lines",
            |draft, given| {
                draft.max_count = asked::max_count(given.text())?;
                Ok(())
            },
        ),
    ),
    gnus(PRINTED, b"h", &["no-filename"], "No names before lines", |draft, _| {
        draft.options.with_filename = Some(false);
        Ok(())
    }),
    gnus(PRINTED, b"", &["no-group-separator"], "Nothing parts groups of lines", |draft, _| {
        draft.options.group_separator = None;
        Ok(())
    }),
    gnus(
        PRINTED,
        b"s",
        &["no-messages"],
        "No messages about files that cannot be read",
        |draft, _| set(&mut draft.options.no_messages),
    ),
    gnus(PRINTED, b"Z", &["null"], "NUL after names", |draft, _| {
        set(&mut draft.options.null_names)
    }),
    gnus(LINES, b"z", &["null-data"], "Lines end in NUL", |draft, _| {
        set(&mut draft.options.null_data)
    }),
    gnus(PRINTED, b"o", &["only-matching"], "Show the matches only", |draft, _| {
        set(&mut draft.options.only_matching)
    }),
    gnus(
        PRINTED,
        b"q",
        &["quiet", "silent"],
        "Show nothing: the exit code is the answer",
        |draft, _| set(&mut draft.options.quiet),
    ),
    gnus(FILES, b"r", &["recursive"], "All below a folder", |draft, _| {
        draft.search.directories = Directories::Recurse;
        Ok(())
    }),
    gnus(FILES, b"R", &["dereference-recursive"], "The same, following links", |draft, _| {
        (draft.search.directories, draft.search.follow) = (Directories::Recurse, true);
        Ok(())
    }),
    with(
        "PATTERNS",
        gnus(LINES, b"e", &["regexp"], "Patterns; a newline parts several", |draft, given| {
            draft.pattern(given.text().as_bytes(), None);
            Ok(())
        }),
    ),
    gnus(LINES, b"v", &["invert-match"], "Lines that do not match", |draft, _| {
        set(&mut draft.options.invert_match)
    }),
    gnus(FILES, b"a", &["text"], "Take every file for text", |draft, _| {
        draft.options.binary_files = BinaryFiles::Text;
        Ok(())
    }),
    gnus(FILES, b"I", &[], "As if files with a NUL had no match", |draft, _| {
        draft.options.binary_files = BinaryFiles::WithoutMatch;
        Ok(())
    }),
    gnus(OTHER, b"U", &["binary"], "Accepted: it changes nothing here", |_, _| Ok(())),
    gnus(OTHER, b"u", &["unix-byte-offsets"], "", |_, _| {
        eprintln!("grep: warning: --unix-byte-offsets (-u) is obsolete");
        Ok(())
    }),
    gnus(OTHER, b"V", &["version"], "Print version", |draft, _| set(&mut draft.version)),
    gnus(PRINTED, b"H", &["with-filename"], "Names before lines", |draft, _| {
        draft.options.with_filename = Some(true);
        Ok(())
    }),
    gnus(LINES, b"w", &["word-regexp"], "Whole words only", |draft, _| {
        set(&mut draft.options.word_regexp)
    }),
    // GNU's help does not show it, either.
    with(
        "MATCHER",
        gnus(LINES, b"X", &[], "", |draft, given| draft.matcher(&given.text().to_string_lossy())),
    ),
    ours(&["linear"], "File by file, from the first byte to the last", |draft, _| {
        set(&mut draft.options.linear)
    }),
    ours(
        &["cached-only"],
        "Only cached data; skipped data is reported and makes the code 2; not with -n",
        |draft, _| set(&mut draft.options.reach.cached_only),
    ),
    with(
        "TIME",
        ours(
            &["max-latency"],
            "Skip what takes longer than this (100ms, say) to its first byte, as --cached-only does",
            |draft, given| {
                draft.options.reach.max_latency =
                    Some(asked::duration(given.text(), "--max-latency")?);
                Ok(())
            },
        ),
    ),
    with(
        "TIME",
        ours(
            &["max-wait"],
            "Skip what takes longer than this (10s, say) to its last byte, as --cached-only does",
            |draft, given| {
                draft.options.reach.max_wait = Some(asked::duration(given.text(), "--max-wait")?);
                Ok(())
            },
        ),
    ),
    ours(&["recall"], "Recall archived files at once, not after all others", |draft, _| {
        set(&mut draft.options.reach.recall)
    }),
    with(
        "BYTES",
        ours(
            &["hold"],
            "Hold this many cached bytes (64MiB, say) in memory until they are searched",
            |draft, given| {
                draft.options.hold_bytes = asked::held(given.text())?;
                Ok(())
            },
        ),
    ),
    ours(&["stats"], "Say on standard error what was read", |draft, _| set(&mut draft.statistics)),
    gnus(PRINTED, b"0123456789", &[], "", Draft::digit),
];

fn set(what: &mut bool) -> Result<(), Wrong> {
    *what = true;
    Ok(())
}
