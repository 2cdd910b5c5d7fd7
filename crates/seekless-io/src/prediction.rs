//! Where a store's knowledge of its program's loads comes from.

use crate::Result;
use crate::error::Error;
use crate::sources::Sources;
use seekless_engine::Engine;
use seekless_pack::PREDICTION;
use seekless_policy::eviction::Id;
use seekless_policy::foresight::prediction::Model;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// What lies around a model in a pack: local header, name, and what another tool may have added.
const AROUND_BYTES: u64 = 64 << 10;

/// What was said of the program's loads before the store is opened.
#[derive(Clone, Debug)]
pub(crate) enum Knows {
    /// What the first pack says that says anything.
    Pack,
    Nothing,
    Model(Box<Model>),
    File(PathBuf),
}

/// What was found.
#[derive(Default)]
pub(crate) struct Known {
    pub(crate) model: Option<Model>,
    /// Why a pack's model is not used.
    pub(crate) note: Option<String>,
}

impl Knows {
    /// Looks into the pack or the file.
    pub(crate) fn look(&self, sources: &Sources, engine: &dyn Engine) -> Result<Known> {
        match self {
            Self::Nothing => Ok(Known::default()),
            Self::Model(model) => {
                let model = given((**model).clone(), sources);
                let model = model.map_err(|why| Error::setting("the prediction", why))?;
                Ok(Known { model: Some(model), note: None })
            }
            Self::File(path) => {
                let bytes = read_file(path).map_err(|error| Error::open_file(path, error))?;
                let model = Model::from_bytes(&bytes).map_err(|error| error.to_string());
                let model = model
                    .and_then(|model| given(model, sources))
                    .map_err(|why| Error::prediction(path, &why))?;
                Ok(Known { model: Some(model), note: None })
            }
            Self::Pack => Ok(of_pack(sources, engine)),
        }
    }
}

/// A model that the program has given, if it can be of these sources.
fn given(model: Model, sources: &Sources) -> std::result::Result<Model, String> {
    let (named, found) = (model.entries() as usize, sources.extents.len());
    match named <= found {
        true => Ok(model),
        false => Err(format!(
            "it is of archives of {named} entries, and these have {found}: record the program again"
        )),
    }
}

fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // What is longer has no valid checksum where it is cut.
    File::open(path)?.take(Model::BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn of_pack(sources: &Sources, engine: &dyn Engine) -> Known {
    for (archive, number_of) in sources.archives() {
        let Some(number) = archive.index.find(PREDICTION) else { continue };
        let entry = archive.index.entry(number);
        let (bytes, within) = (entry.bytes.max(entry.coded_bytes), entry.extent_bytes);
        let model = if bytes > Model::BYTES_MAX || within > bytes + AROUND_BYTES {
            Err(format!("it has {} bytes, too many for a prediction", bytes.max(within)))
        } else {
            let content = archive.content(number, engine).map_err(|error| error.to_string());
            content
                .and_then(|bytes| read(&bytes, archive.index.entries().len(), sources, number_of))
        };
        return match model {
            Ok(model) => Known { model: Some(model), note: None },
            Err(why) => {
                let path = archive.path.display();
                let note = format!("{path}: {PREDICTION} is not used: {why}");
                Known { model: None, note: Some(note) }
            }
        };
    }
    Known::default()
}

/// The model of an archive of `entries` entries, in the store's numbers.
fn read(
    bytes: &[u8],
    entries: usize,
    sources: &Sources,
    number_of: impl Fn(u32) -> Option<Id>,
) -> std::result::Result<Model, String> {
    let model = Model::from_bytes(bytes).map_err(|error| error.to_string())?;
    if model.entries() as usize > entries {
        return Err(format!(
            "it is of an archive of {} entries, and this has {entries}: pack again",
            model.entries()
        ));
    }
    Ok(match sources.is_single_archive() {
        true => model,
        false => model.renumbered(sources.extents.len() as u32, number_of),
    })
}
