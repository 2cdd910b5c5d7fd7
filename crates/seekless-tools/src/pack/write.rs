//! Writes a pack, which appears whole or not at all. Each step packs a file, or copies entries of
//! the pack as it was.

use super::fill::{self, Ready};
use super::folders;
use super::old::Old;
use super::step::Step;
use super::tree::{Node, Tree};
use super::{Options, OrderUse, Summary, check};
use crate::remote::Travelled;
use seekless_job::{Error, ErrorKind, Result};
use seekless_pack::{About, Codec, NameEncoding, PREDICTION, PackWriter, Written, prepare};
use seekless_policy::foresight::prediction::Model;
use seekless_sys::output::{Content, Destination, Output};
use std::fs::File;
use std::io::{BufWriter, Read};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};

/// Headers and small entries are gathered into writes of this size.
const WRITE_BYTES: usize = 1 << 20;
/// Of a file too large to be tried whole, three samples of this size decide whether coding is worth
/// it; of an entry of an archive, which is not read twice, the first.
const SAMPLE_BYTES: usize = 4 << 20;

/// Writes a pack of `steps`, which appears whole or not at all. `old` is the pack to copy from, and
/// `model` what the pack is to say of its program's loads.
pub(super) fn make(
    tree: &Tree,
    out: &Destination,
    steps: &[Step],
    old: Option<&Old>,
    model: Option<Model>,
    options: &Options,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(Summary, Option<Travelled>)> {
    let output = out.create(Content::Binary)?;
    let mut progress = Progress::new(&tree.nodes, options.verify, progress);
    let model = model.filter(|model| model.loads() > 0);
    let references = model.as_ref().map_or(0, |model| model.references().len() as u64);
    let model = model.map(|model| model.to_bytes());
    let (written, archive_bytes) =
        write(&output, tree, steps, old, model.as_deref(), options, &mut progress)?;
    if options.verify {
        let mut tell = |done, total| progress.verified(done, total);
        let (file, names) = (output.file(), NameEncoding::default());
        let checked = check::check_file(file, out.path(), names, &options.cancel, &mut tell);
        stop_if_cancelled(options)?;
        checked?;
    }
    let renewed = old.and_then(|old| old.source.renew(output.file()));
    let travelled = match renewed {
        Some(renewed) => renewed.map(Some).map_err(|error| {
            let what = format!("cannot write {}", out.path().display());
            Error::because(ErrorKind::Io, what, error)
        }),
        None => output.publish().map(|()| None).map_err(Error::from),
    };
    if travelled.is_err() {
        stop_if_cancelled(options)?;
    }
    let travelled = travelled?;
    let directories = tree.empty_folders();
    let summary = Summary {
        entries: written.entries + directories,
        directories,
        folders: tree.folders.len() as u64,
        links: tree.link_count(),
        stored: written.stored,
        deflated: written.deflated,
        zstd: written.zstd,
        bytes: written.bytes,
        coded_bytes: written.coded_bytes,
        archive_bytes,
        order: OrderUse::default(),
        left_out: tree.left_out.clone(),
        excluded: tree.excluded,
        prediction_bytes: model.map_or(0, |bytes| bytes.len() as u64),
        references,
        verified: options.verify,
    };
    Ok((summary, travelled))
}

pub(super) fn stop_if_cancelled(options: &Options) -> Result<()> {
    if options.cancel.load(Ordering::Relaxed) {
        return Err(Error::new(
            ErrorKind::Interrupted,
            "packing was interrupted; nothing was left behind",
        ));
    }
    Ok(())
}

type Writer<'a> = PackWriter<BufWriter<&'a File>>;

/// Returns what was written of the folder's files, and the bytes of the whole archive.
fn write(
    output: &Output,
    tree: &Tree,
    steps: &[Step],
    old: Option<&Old>,
    model: Option<&[u8]>,
    options: &Options,
    progress: &mut Progress<'_>,
) -> Result<(Written, u64)> {
    let said = |error| {
        Error::because(ErrorKind::Pack, format!("cannot write {}", output.path().display()), error)
    };
    let packed = |step: &Step| match step {
        Step::Pack(file) => Some(&tree.nodes[*file as usize]),
        Step::Copy(_) | Step::Retime(_) => None,
    };
    let nodes: Vec<&Node> = steps.iter().filter_map(packed).collect();
    let mut writer = PackWriter::new(BufWriter::with_capacity(WRITE_BYTES, output.file()));
    let mut steps = steps.iter();
    let mut copy = |writer: &mut Writer<'_>, progress: &mut Progress<'_>| -> Result<()> {
        for step in steps.by_ref() {
            stop_if_cancelled(options)?;
            // Steps that copy come with the pack to copy from.
            let Some(old) = old else { return Ok(()) };
            let copy =
                |sink: &mut BufWriter<&File>, range| old.source.copy(range, sink, &options.cancel);
            let (added, entries) = match step {
                Step::Pack(_) => return Ok(()),
                Step::Copy(run) => {
                    let about = |entry| {
                        let (mode, modified) = old.about(entry);
                        (mode, modified.ns)
                    };
                    (writer.add_copied(&old.index, run.clone(), about, copy), run.clone())
                }
                &Step::Retime(entry) => {
                    let (about, head) = (old.about(entry), old.head(entry)?);
                    (writer.add_retimed(&old.index, entry, about, &head, copy), entry..entry + 1)
                }
            };
            added.map_err(said)?;
            progress.add(entries.map(|number| old.index.bytes(number)).sum());
        }
        Ok(())
    };
    let result = fill::in_order(&nodes, options.codec, &options.cancel, |node, ready| {
        // Ends at the step that packs this node.
        copy(&mut writer, progress)?;
        match ready {
            Ready::Entry(entry) => writer.add(entry).map_err(said)?,
            Ready::Large(file) => {
                let codec = codec_of(options, || samples(&file, node))?;
                add_large(&mut writer, output, node, &mut &file, codec, options, progress)?;
                node.check_unchanged(&file)?;
            }
            Ready::LargeEntry(mut entry) => {
                let codec =
                    codec_of(options, || Ok(node.begin(SAMPLE_BYTES as u64).unwrap_or_default()))?;
                add_large(&mut writer, output, node, &mut entry, codec, options, progress)?;
            }
        }
        progress.add(node.stamp.bytes);
        Ok(())
    });
    stop_if_cancelled(options)?;
    result?;
    copy(&mut writer, progress)?;
    if let Some(old) = old {
        writer.comment(old.index.comment()).map_err(said)?;
    }
    let written = writer.written();
    folders::add(&mut writer, tree).map_err(said)?;
    if let Some(model) = model {
        // Next to the directory, and behind all that its numbers name.
        let about = About::named(PREDICTION);
        let entry = prepare(about, model.to_vec(), Codec::Stored).map_err(said)?;
        writer.add(entry).map_err(said)?;
    }
    let (sink, Written { archive_bytes, .. }) = writer.finish().map_err(said)?;
    drop(sink);
    Ok((written, archive_bytes))
}

/// How a file too large to be tried whole is coded, by a sample of it.
fn codec_of(options: &Options, sample: impl FnOnce() -> Result<Vec<u8>>) -> Result<Codec> {
    Ok(match options.codec {
        codec @ (Codec::Stored | Codec::Deflate) => codec,
        codec => codec.for_sample(&sample()?),
    })
}

/// Streams a file that would not fit beside the others in memory.
fn add_large(
    writer: &mut Writer<'_>,
    output: &Output,
    node: &Node,
    content: &mut dyn Read,
    codec: Codec,
    options: &Options,
    progress: &mut Progress<'_>,
) -> Result<()> {
    let mut source = Watched { content, cancel: &options.cancel, progress, done: 0 };
    let added = writer.add_stream(&node.about(), &mut source, node.stamp.bytes, codec);
    added.map_err(|error| {
        let what = format!("cannot pack {} into {}", node.path.display(), output.path().display());
        Error::because(ErrorKind::Pack, what, error)
    })
}

/// Samples of the file's start, middle and end, taken together: by them it is coded or not.
fn samples(file: &File, node: &Node) -> Result<Vec<u8>> {
    let last = node.stamp.bytes.saturating_sub(SAMPLE_BYTES as u64);
    let mut samples = vec![0; 3 * SAMPLE_BYTES];
    for (sample, offset) in samples.chunks_mut(SAMPLE_BYTES).zip([0, last / 2, last]) {
        file.read_exact_at(sample, offset).map_err(|error| Error::unreadable(&node.path, error))?;
    }
    Ok(samples)
}

/// A large file on its way: says how far it is, and stops when asked to.
struct Watched<'a, 'b> {
    content: &'a mut dyn Read,
    cancel: &'a AtomicBool,
    progress: &'a mut Progress<'b>,
    done: u64,
}

impl Read for Watched<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(std::io::Error::other("interrupted"));
        }
        let length = self.content.read(buffer)?;
        self.done += length as u64;
        self.progress.within(self.done);
        Ok(length)
    }
}

/// Content bytes packed, and as many again for reading them back.
pub(super) struct Progress<'a> {
    done: u64,
    bytes: u64,
    pub(super) total: u64,
    hear: &'a mut dyn FnMut(u64, u64),
}

impl<'a> Progress<'a> {
    pub(super) fn new(nodes: &[Node], verify: bool, hear: &'a mut dyn FnMut(u64, u64)) -> Self {
        let bytes = nodes.iter().map(|node| node.stamp.bytes).sum();
        Self { done: 0, bytes, total: if verify { 2 * bytes } else { bytes }, hear }
    }

    fn add(&mut self, bytes: u64) {
        self.done += bytes;
        (self.hear)(self.done, self.total);
    }

    fn within(&mut self, bytes: u64) {
        (self.hear)(self.done + bytes, self.total);
    }

    fn verified(&mut self, done: u64, total: u64) {
        let share = u128::from(self.bytes) * u128::from(done) / u128::from(total.max(1));
        (self.hear)(self.bytes + share as u64, self.total);
    }
}
