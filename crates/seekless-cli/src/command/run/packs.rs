//! Packs that lie over folders for one program: `--mount PACK=DIR`.

use crate::command::mount::{half_of_free, settings};
use crate::output::shown;
use anyhow::{Context, bail};
use seekless::io::Store;
use seekless::mount::{Attached, Options, attach};
use seekless::sys::beside::{self, Beside, Said};
use seekless::sys::namespaces::{leave_mounts, own_mounts};
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A pack, and the folder in whose place the program sees its files. Both are absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Overlay {
    pack: PathBuf,
    pub(super) folder: PathBuf,
}

impl Overlay {
    /// Takes `PACK=DIR` apart, at the last `=`.
    fn parse(words: &OsStr) -> anyhow::Result<Self> {
        let bytes = words.as_bytes();
        let at = bytes.iter().rposition(|&byte| byte == b'=');
        let (pack, folder) = match at {
            Some(at) if at > 0 && at + 1 < bytes.len() => (&bytes[..at], &bytes[at + 1..]),
            _ => bail!("--mount {}: expected PACK=DIR", shown(words)),
        };
        let path = |bytes: &[u8]| PathBuf::from(std::ffi::OsString::from_vec(bytes.to_vec()));
        let (pack, folder) = (std::path::absolute(path(pack))?, path(folder));
        // As the kernel names it, so that the profile's names can be compared with it.
        let folder = folder
            .canonicalize()
            .with_context(|| format!("{}: the folder cannot be found", shown(&folder)))?;
        Ok(Self { pack, folder })
    }
}

/// The overlays that were asked for, with what can be wrong about the words and folders checked.
pub(super) fn overlays(words: &[std::ffi::OsString]) -> anyhow::Result<Vec<Overlay>> {
    words.iter().map(|words| Overlay::parse(words)).collect()
}

/// Opens the packs, for a start that does not happen: else what serves them does.
pub(super) fn check(overlays: &[Overlay]) -> anyhow::Result<()> {
    for overlay in overlays {
        Store::open(&overlay.pack)?;
    }
    Ok(())
}

/// Lays the packs over their folders, for this process and its children alone. A helper serves them
/// until the last of these has ended.
///
/// Call it while this process has one thread.
pub(super) fn lay(overlays: &[Overlay]) -> anyhow::Result<()> {
    own_mounts().context(
        "--mount needs mounts of its own, which the kernel or a container refuses here; as root, \
         or with the package fuse3, `seekless mount PACK DIR --over -- CMD` does the same for all \
         programs",
    )?;
    let help = |beside: &mut Beside| match serve(overlays) {
        Ok(serving) => {
            beside.release();
            serving.into_iter().for_each(seekless::mount::Mounted::wait);
        }
        Err(error) => beside.refuse(&format!("{error:#}")),
    };
    match beside::start(help).context("cannot start a process that serves the packs")?.wait() {
        Said::Released => Ok(()),
        Said::Refused(why) => bail!(why),
        Said::Nothing => bail!("the process that serves the packs has ended early"),
    }
}

/// Mounts, and keeps the mounts only for others: so this process does not outlive them.
fn serve(overlays: &[Overlay]) -> anyhow::Result<Vec<seekless::mount::Mounted>> {
    let attached: Vec<Attached> =
        overlays.iter().map(|overlay| attach(&overlay.folder)).collect::<Result<_, _>>()?;
    // The last that was mounted goes first, if one lies in another.
    leave_mounts(overlays.iter().rev().map(|overlay| Path::new(&overlay.folder)))
        .context("cannot leave the mounted folders to the program")?;
    // Only now: a thread that begins before it has left would keep the mounts.
    let serving = overlays.iter().zip(attached).map(|(overlay, attached)| {
        let store = settings().predict(true).open(&overlay.pack)?;
        let options = Options { ahead_bytes: half_of_free(), ..Options::default() };
        Ok(attached.serve(store, options)?)
    });
    serving.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pack_and_a_folder_are_told_apart_at_the_last_equals_sign() {
        let parsed = Overlay::parse(OsStr::new("/a=b.zip=/")).unwrap();
        assert_eq!(parsed, Overlay { pack: "/a=b.zip".into(), folder: "/".into() });
        for words in ["a.zip", "=/", "a.zip="] {
            assert!(Overlay::parse(OsStr::new(words)).is_err(), "{words}");
        }
        let error = Overlay::parse(OsStr::new("a.zip=/no/such")).unwrap_err();
        assert_eq!(error.to_string(), "/no/such: the folder cannot be found");
    }
}
