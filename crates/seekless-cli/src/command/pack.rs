//! `seekless pack`: packs a folder into an ordered Zip, or checks an existing Zip.

mod update;

use crate::encoding::Names;
use crate::interrupt;
use crate::next::{self, Found};
use crate::output::{self, Words, line, shown};
use anyhow::{Context, bail};
use clap::ValueEnum;
use seekless::device::DeviceSpec;
use seekless::device::units::{counted, format_bytes, format_count, parse_bytes};
use seekless::job::roots::{Root, Roots};
use seekless::tools::device::named;
use seekless::tools::order::DEVICE;
use seekless::tools::pack::{
    Codec, Differences, Evidence, Level, Links, Options, OrderBy, Summary, check_named,
    differences, links_of, pack, pack_for_runs, repack, repack_for_runs,
};
use seekless::trace::{FileList, unescape_path};
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Build an archive with its files in the order they are read.
///
/// The archive is a plain Zip that any tool opens. Files that the order does not name follow by
/// name, and behind all files lie the folders, with their modes and times. The archive appears
/// whole or not at all, and never in the folder that it is made of.
///
/// A symbolic link is packed as its target, which must lie in the folder too. With --links keep it
/// is packed as a link, as `zip -y` does, wherever it leads; what lies in a linked folder is packed
/// under its own name only. `mount` and `unzip` give such links back; a store loads what a link
/// leads to in the pack, and never follows one out of it. A trace may name files by their links.
///
/// A pack cannot hold pipes, sockets, devices, names that are not UTF-8 or not allowed in an
/// archive, and, unless links are kept, those that lead nowhere or out of the folder. They are left
/// out with a message; with --strict they are an error.
///
/// With --trace the pack also lists the loads of these runs in its last entry,
/// .seekless/prediction: some two bytes a load. Stores read ahead by it; other tools see a small
/// file, and --update keeps it. --no-prediction leaves it out.
///
/// With --trace all files are also searched for names of others: a map names its models, a page its
/// pictures. The runs show how often a named file is loaded. Stores read ahead the files that a
/// loaded file names, unless all runs load them anyway. Files that no run has loaded are also put
/// behind those that name them. --no-references leaves this out.
///
/// With --update the pack is brought up to date with the folder. Only files that have changed are
/// read and coded; all others are copied from the pack as they lie there. Files that stay keep
/// their order; new ones are put beside those of their folder and kind. Give the --exclude that the
/// pack was made with; a pack that has links keeps them. With --verify its entries are checked, and
/// damaged ones are packed again.
///
/// A file has changed if its size has, or its time to 100 ns. Where the times do not prove that it
/// is the same, its content is compared: packs of earlier releases and of most other tools keep
/// whole seconds, and a file as new as the pack may have been written to once more. A folder has
/// changed if its mode or its time has.
///
/// A pack in object storage is updated, too. Of it only the directory is read, and it is replaced
/// only if it is still that version. By S3's protocol the storage itself copies what stays, in
/// parts of 5 MiB or more, so that little more than what has changed is sent. Google's and Azure's
/// copy no parts: there what stays is read and sent once, in pieces, by way of a file in TMPDIR.
/// With --verify all of it is read.
///
/// With --from the entries of another archive are packed, in the same ways: their modes, times,
/// folders and links stay. Entries that are encrypted, coded by a method that is not read, or of a
/// name that no file can have are left out with a message; with --strict they are an error. A
/// prediction that the archive holds is not kept, and the entries are not looked through for names
/// of others.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless pack data -o data.zip --order order.txt
  seekless pack data -o data.zip --trace monday.parquet tuesday.parquet --verify
  seekless pack data -o data.zip --trace runs/*.parquet --device s3
  seekless pack data -o data.zip                 by name
  seekless pack data -o data.zip --trace run.parquet --root /home/me/data=data --exclude '*.tmp'
  seekless pack data -o data.zip --update        pack again what has changed in data
  seekless pack data -o s3://bucket/data.zip --update    send what has changed
  seekless pack data -o data.zip --codec zstd    smaller, and faster to decode
  seekless pack .venv -o venv.zip --links keep   an environment whose bin/python is a link
  seekless pack --from other.zip -o data.zip     what another tool has packed
  seekless pack data -o s3://bucket/data.zip     into object storage
  seekless pack --check data.zip                 is an archive whole?
  seekless pack data --check data.zip            and does it hold data as it is now?

Entries coded with zstd (method 93) can be opened by seekless, 7-Zip 21 and later, libarchive 3.6
and later (bsdtar), and the zipfile of Python 3.14. Info-ZIP (unzip), Explorer, Java and earlier
Pythons cannot. All of them open what the other codecs write.")]
pub struct Args {
    /// The folder to pack.
    #[arg(value_name = "DIR", required_unless_present_any = ["check", "from"], requires = "written_or_checked", group = "source")]
    directory: Option<PathBuf>,
    /// The archive to write; - is standard output, and s3://BUCKET/KEY, gs:// or az:// an object
    #[arg(short, long, value_name = "ZIP", requires = "source", group = "written_or_checked")]
    output: Option<PathBuf>,
    /// Pack what this Zip archive holds, which any tool may have made, in place of a folder
    #[arg(long, value_name = "ZIP", group = "source", requires = "output", conflicts_with_all = ["directory", "update", "check"])]
    from: Option<PathBuf>,
    /// Bring ZIP up to date with DIR: pack again only files that have changed
    #[arg(long, group = "compared", requires = "output", conflicts_with_all = ["order", "trace", "force"])]
    update: bool,
    /// A file has changed if its content has: reads them all, rather than sizes and times
    #[arg(long, requires = "compared")]
    checksum: bool,
    /// The order of the files, one path a line or a CSV with `path`; relative to DIR or as recorded
    #[arg(long, value_name = "FILE", conflicts_with = "trace")]
    order: Option<PathBuf>,
    /// Order them by these runs, the last being the newest
    #[arg(long, num_args = 1.., value_name = "RUN")]
    trace: Vec<PathBuf>,
    /// How the order is made from the runs
    #[arg(long, value_enum, default_value_t, requires = "trace")]
    method: Method,
    /// The device from which the archive will be read: a name that `seekless devices` lists,
    /// iops=N,bandwidth=RATE, or a TOML file [default: iops=500,bandwidth=150MB/s]
    #[arg(long, value_name = "DEVICE", value_parser = named, requires = "trace")]
    device: Option<DeviceSpec>,
    /// For greedy: a cache of this size, emptied at each run's start, absorbs repeated loads
    /// [default: unlimited]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, requires = "trace")]
    cache: Option<u64>,
    /// What becomes of symbolic links
    /// [default: follow; keep with --from, and with --update and --check if the archive has links]
    #[arg(long, value_enum, value_name = "HOW")]
    links: Option<LinkUse>,
    /// Leave out the list of the runs' loads, by which stores read ahead
    #[arg(long)]
    no_prediction: bool,
    /// Do not search the files for names of others
    #[arg(long)]
    no_references: bool,
    /// Leave out files that match: '*.tmp' at any depth, 'art/**/*.psd' from the folder on; may be
    /// given several times
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// Refuse a folder with things that do not fit into a pack, rather than leave them out
    #[arg(long)]
    strict: bool,
    /// Files that the traces name below OLD are now below NEW; may be given several times
    #[arg(long, value_name = "OLD=NEW")]
    root: Vec<Root>,
    /// How files are stored: auto deflates those that shrink by 3 % or more; stored; deflate;
    /// zstd or zstd:LEVEL (1 to 19, usually 9) codes those that shrink by 3 % or more so that they
    /// are smaller and decode faster, but fewer tools can open them (see below)
    /// [default: auto; with --update, zstd if the archive has entries of it]
    #[arg(long, visible_alias = "compression", value_name = "CODEC", value_parser = codec)]
    codec: Option<Codec>,
    /// Read the archive back and check every entry before it appears
    #[arg(long)]
    verify: bool,
    #[command(flatten)]
    force: output::Force,
    /// Check every entry of an existing archive instead; with DIR, also whether it holds the files
    /// of DIR as they are now
    #[arg(long, value_name = "ZIP", groups = ["written_or_checked", "compared"], conflicts_with_all = ["output", "order", "trace", "strict", "root", "verify", "force", "no_prediction", "no_references"])]
    check: Option<PathBuf>,
    #[command(flatten)]
    names: Names,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// The codec that a word of the command line names.
fn codec(word: &str) -> Result<Codec, String> {
    match word.split_once(':').unwrap_or((word, "")) {
        ("auto", "") => Ok(Codec::Auto),
        ("stored", "") => Ok(Codec::Stored),
        ("deflate", "") => Ok(Codec::Deflate),
        ("zstd", "") => Ok(Codec::Zstd(Level::default())),
        ("zstd", level) => level.parse().map(Codec::Zstd),
        _ => Err("give auto, stored, deflate, zstd or zstd:LEVEL".to_owned()),
    }
}

#[derive(ValueEnum, Clone, Copy, Debug, Default)]
enum Method {
    /// The order that loads fastest from the device, judged on runs that it was not made from
    #[default]
    Best,
    /// By name, not by the runs
    Name,
    /// As the newest run loaded them, then as the run before
    Recent,
    /// Chains of files that followed each other
    Greedy,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum LinkUse {
    /// Pack each as what it leads to, which must lie in the folder
    Follow,
    /// Pack each as a link, wherever it leads
    Keep,
}

impl From<LinkUse> for Links {
    fn from(how: LinkUse) -> Self {
        match how {
            LinkUse::Follow => Self::Follow,
            LinkUse::Keep => Self::Keep,
        }
    }
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Self::Best => "best",
            Self::Name => "name",
            Self::Recent => "recent",
            Self::Greedy => "greedy",
        }
    }
}

impl Args {
    fn options(&self) -> anyhow::Result<Options> {
        Ok(Options {
            codec: self.codec.unwrap_or_default(),
            verify: self.verify,
            roots: Roots::new(self.root.clone()),
            exclude: self.exclude.clone(),
            strict: self.strict,
            links: self.links.map(Links::from).unwrap_or_default(),
            no_prediction: self.no_prediction,
            no_references: self.no_references,
            names: self.names.encoding(),
            cancel: interrupt::cancel_when_interrupted()?,
        })
    }

    /// What becomes of links where an archive is compared with its folder.
    fn links_of(&self, archive: &Path) -> anyhow::Result<Links> {
        Ok(match self.links {
            Some(how) => how.into(),
            None => links_of(archive, self.names.encoding())?,
        })
    }

    fn evidence(&self) -> Evidence {
        if self.checksum { Evidence::Content } else { Evidence::SizeAndTime }
    }
}

/// Packs or checks, and prints the result.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    match (&args.check, &args.directory, &args.output) {
        (Some(archive), directory, _) => check_archive(archive, directory.as_deref(), &args),
        (None, Some(directory), Some(output)) if args.update => {
            update::run(directory, output, &args)
        }
        (None, _, Some(output)) => pack_source(output, &args),
        _ => bail!("name the folder to pack and, with -o, the archive to write"),
    }
}

/// Packs the folder or the archive.
fn pack_source(out: &Path, args: &Args) -> anyhow::Result<ExitCode> {
    if args.from.is_some() && args.links == Some(LinkUse::Follow) {
        bail!("--from keeps the links of the archive: leave out --links follow");
    }
    let options = args.options()?;
    let out = args.force.destination(out);
    let mut progress = output::progress("Packing");
    let how = OrderBy {
        method: args.method.name().to_owned(),
        cache: args.cache,
        device: args.device.clone().unwrap_or(DEVICE),
    };
    let (order, traces) = (order(args)?, &args.trace);
    let packed = match (&args.directory, &args.from, traces.is_empty()) {
        (Some(dir), _, true) => pack(dir, &out, &order, &options, &mut progress),
        (Some(dir), _, false) => pack_for_runs(dir, &out, traces, &how, &options, &mut progress),
        (None, Some(from), true) => repack(from, &out, &order, &options, &mut progress),
        (None, Some(from), false) => {
            repack_for_runs(from, &out, traces, &how, &options, &mut progress)
        }
        (None, None, _) => bail!("name the folder to pack, or with --from the archive"),
    };
    drop(progress);
    let Some(summary) = interrupt::finished(packed)? else { return Ok(interrupt::exit_code()) };
    warn(&summary, args);
    let words = Words::beside([&out]);
    if args.json {
        words.json(&summary)?;
    } else {
        words.text(&report(out.path(), &summary))?;
        if let Some(directory) = &args.directory {
            let found = Found::Packed { directory, archive: out.path(), traces };
            next::say(words, &found)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The paths of `--order`. If there are none, files lie by name. Bytes that are not UTF-8 are
/// replaced: no name in a pack matches such a path.
fn order(args: &Args) -> anyhow::Result<Vec<String>> {
    let Some(file) = &args.order else { return Ok(Vec::new()) };
    let list = FileList::read_first(file);
    let list = list.with_context(|| format!("cannot read the order {}", shown(file)))?;
    let plain = |path: &String| String::from_utf8_lossy(&unescape_path(path)).into_owned();
    Ok(list.paths.iter().map(plain).collect())
}

/// Warns of things in the archive that the user may not expect.
fn warn(summary: &Summary, args: &Args) {
    if summary.order.given == 0 && !args.trace.is_empty() {
        output::say("the runs load no file, so the files lie by name (see `seekless trace info`)");
    }
    let left_out = &summary.left_out;
    if let Some(from) = &args.from {
        for words in &left_out.examples {
            output::say(format_args!("{}: {words}", shown(from)));
        }
    } else if left_out.count > 0 {
        output::say(format_args!(
            "left out {} that a pack cannot hold:",
            counted(left_out.count, "thing")
        ));
        for example in &left_out.examples {
            output::note(&format!("  {}\n", line(&example.to_string())));
        }
        if left_out.count > left_out.examples.len() as u64 {
            output::note("  ... (--strict stops at the first)\n");
        }
    }
}

/// How many files, links and empty folders there are, in words.
fn entries(summary: &Summary) -> String {
    let Summary { stored, deflated, zstd, links, directories, .. } = *summary;
    let files = counted((stored + deflated + zstd).saturating_sub(links), "file");
    let (links_too, folders_too) = (counted(links, "link"), counted(directories, "empty folder"));
    match (links, directories) {
        (0, 0) => files,
        (0, _) => format!("{files} and {folders_too}"),
        (_, 0) => format!("{files} and {links_too}"),
        (_, _) => format!("{files}, {links_too} and {folders_too}"),
    }
}

fn report(out: &Path, summary: &Summary) -> String {
    let mut text = String::new();
    let zstd = match summary.zstd {
        0 => String::new(),
        files => format!("{} zstd, ", format_count(files)),
    };
    let _ = writeln!(
        text,
        "{}: {}, {} in {} ({}{} deflated, {} stored){}",
        shown(out),
        entries(summary),
        format_bytes(summary.bytes),
        format_bytes(summary.archive_bytes),
        zstd,
        format_count(summary.deflated),
        format_count(summary.stored.saturating_sub(summary.links)),
        if summary.verified { ", read back and whole" } else { "" }
    );
    if summary.excluded > 0 {
        let _ = writeln!(text, "{} excluded", format_count(summary.excluded));
    }
    let order = &summary.order;
    text += &order.moved.as_ref().map(output::moved).unwrap_or_default();
    if order.given > 0 {
        let _ = writeln!(text, "{} of them are placed by the order", format_count(order.placed));
    }
    if summary.prediction_bytes > 0 {
        let bytes = format_bytes(summary.prediction_bytes);
        let _ = writeln!(text, "{bytes} of it list the runs' loads, for stores that read ahead");
    }
    if summary.references > 0 {
        let count = counted(summary.references, "name");
        let _ = writeln!(text, "{count} of files stand in other files and help to predict them");
    }
    if let Some(example) = &order.missing_example {
        let _ = writeln!(
            text,
            "{} that the order gives: not in the folder, such as {}",
            counted(order.missing, "path"),
            line(example)
        );
    }
    text
}

/// The output of `--check --json`.
#[derive(Serialize)]
struct Checked {
    /// But for folders.
    entries: u64,
    folders: u64,
    bytes: u64,
    coded_bytes: u64,
    /// Where the archive differs from the folder, if one was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    differences: Option<Differences>,
}

/// The exit code says whether the archive holds the folder as it is.
fn check_archive(
    archive: &Path,
    directory: Option<&Path>,
    args: &Args,
) -> anyhow::Result<ExitCode> {
    let mut progress = output::progress("Checking");
    let names = args.names.encoding();
    let found = check_named(archive, names, &mut progress);
    drop(progress);
    let found = found?;
    let compared = |directory| -> anyhow::Result<Differences> {
        let (exclude, links) = (args.exclude.clone(), args.links_of(archive)?);
        let options = Options { exclude, links, names, ..Options::default() };
        Ok(differences(directory, archive, args.evidence(), &options)?)
    };
    let differences = directory.map(compared).transpose()?;
    let entries = found.entries - found.directories;
    let differs = differences.as_ref().is_some_and(|found| !found.is_empty());
    if args.json {
        output::json(&Checked {
            entries,
            folders: found.directories,
            bytes: found.bytes,
            coded_bytes: found.coded_bytes,
            differences,
        })?;
    } else {
        let (entries, bytes) = (counted(entries, "entry"), format_bytes(found.bytes));
        let mut text = format!("{}: {entries} with {bytes}, all whole\n", shown(archive));
        if let (Some(differences), Some(directory)) = (&differences, directory) {
            text += &compared_words(directory, differences);
        }
        output::text(&text)?;
    }
    Ok(if differs { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn compared_words(directory: &Path, found: &Differences) -> String {
    if found.is_empty() {
        return format!("{} is as it was packed\n", shown(directory));
    }
    let mut text = format!(
        "{} is no longer as it was packed; bring the pack up to date with --update:\n",
        shown(directory)
    );
    let lists = [("changed", &found.changed), ("new", &found.added), ("removed", &found.removed)];
    for (what, names) in lists {
        names.iter().for_each(|name| text += &format!("  {what}: {}\n", shown(name)));
    }
    text
}
