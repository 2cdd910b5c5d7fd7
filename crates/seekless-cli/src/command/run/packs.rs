//! Packs that lie over folders for one program: `--mount PACK=DIR`.

use crate::command::mount::{half_of_free, settings, usual_cache_bytes, without_place};
use crate::output::{self, shown};
use anyhow::{Context, bail};
use seekless::io::{NameEncoding, Store};
use seekless::mount::{Detached, Options};
use seekless::sys::beside::{self, Beside, Said};
use seekless::sys::namespaces::{leave_mounts, may_mount, own_mounts};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

/// A pack, and the folder in whose place the program sees its files. Both are absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Overlay {
    pack: PathBuf,
    pub(super) folder: PathBuf,
}

impl Overlay {
    /// Takes `PACK=DIR` apart, at the last `=`. DIR may lie in one of the folders `laid`, over
    /// which other packs will lie by then.
    fn parse(words: &OsStr, laid: &[Self]) -> anyhow::Result<Self> {
        let bytes = words.as_bytes();
        let at = bytes.iter().rposition(|&byte| byte == b'=');
        let (pack, folder) = match at {
            Some(at) if at > 0 && at + 1 < bytes.len() => (&bytes[..at], &bytes[at + 1..]),
            _ => bail!("--mount {}: expected PACK=DIR or auto", shown(words)),
        };
        let path = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
        let (pack, folder) = (std::path::absolute(path(pack))?, path(folder));
        // As the kernel names it, so that the profile's names can be compared with it.
        let folder = match folder.canonicalize() {
            Ok(found) if found.is_dir() => found,
            Ok(_) => bail!("{} is not a folder", shown(&folder)),
            Err(error) => in_laid(&folder, laid)
                .ok_or(error)
                .with_context(|| format!("{}: the folder cannot be found", shown(&folder)))?,
        };
        Ok(Self { pack, folder })
    }

    /// Where the folder of another overlay lies in this one's.
    fn place_of(&self, other: &Self) -> Option<String> {
        let within = other.folder.strip_prefix(&self.folder).ok()?.to_str()?;
        (!within.is_empty()).then(|| within.to_owned())
    }
}

/// The name of a folder that is not there, if it lies in one of the folders `laid`: the pack that
/// will lie there may have it.
fn in_laid(folder: &Path, laid: &[Overlay]) -> Option<PathBuf> {
    let folder = std::path::absolute(folder).ok()?;
    let there = folder.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    let (above, real) = there?;
    let rest = folder.strip_prefix(above).ok()?;
    let is_plain = rest.components().all(|part| matches!(part, Component::Normal(_)));
    let lies_in_one = laid.iter().any(|overlay| real.starts_with(&overlay.folder));
    (is_plain && lies_in_one).then(|| real.join(rest))
}

/// The overlays that were asked for, with what can be wrong about the words and folders checked.
pub(super) fn overlays<'a>(words: impl Iterator<Item = &'a OsStr>) -> anyhow::Result<Vec<Overlay>> {
    let mut overlays = Vec::new();
    for words in words {
        overlays.push(Overlay::parse(words, &overlays)?);
    }
    Ok(overlays)
}

/// Opens the packs, to say what is wrong with them.
pub(super) fn check(overlays: &[Overlay], names: NameEncoding) -> anyhow::Result<()> {
    for overlay in overlays {
        Store::builder().names(names).open(&overlay.pack)?;
    }
    Ok(())
}

/// Lays the packs over their folders, for this process and its children alone: the later over the
/// earlier, if they have one folder. A helper serves them until the last of these has ended.
///
/// No folder is looked at, and nothing attached, before the helper serves all packs: the way to a
/// folder may lead through another pack. If this process ends before, the helper does too.
///
/// Call it while this process has one thread.
pub(super) fn lay(overlays: &[Overlay], names: NameEncoding) -> anyhow::Result<()> {
    if !may_mount() {
        // A pack that cannot be read shall not put the program into a user namespace for nothing.
        check(overlays, names)?;
    }
    own_mounts().context(
        "--mount needs mounts of its own, which the kernel or a container refuses here; as root, \
         or with the package fuse3, `seekless mount PACK DIR --over -- CMD` does the same for all \
         programs",
    )?;
    let mut mounts: Vec<Detached> =
        overlays.iter().map(|_| Detached::new()).collect::<Result<_, _>>()?;
    let kept: Vec<_> = mounts.iter().flat_map(Detached::descriptors).collect();
    // The helper has its own copy of the list.
    let help =
        |beside: &mut Beside| match serve(beside, overlays, names, std::mem::take(&mut mounts)) {
            Ok((serving, left_out)) => {
                beside.release_saying(&left_out.join("\n"));
                serving.into_iter().for_each(seekless::mount::Mounted::wait);
            }
            Err(error) => beside.refuse(&format!("{error:#}")),
        };
    let helper = beside::start_with(&kept, help);
    match helper.context("cannot start a process that serves the packs")?.wait() {
        Said::Released => {}
        Said::ReleasedSaying(words) => words.lines().for_each(output::say),
        Said::Refused(why) => bail!(why),
        Said::Nothing => bail!("the process that serves the packs has ended early"),
    }
    for (mount, overlay) in mounts.into_iter().zip(overlays) {
        mount.attach(&overlay.folder)?;
    }
    Ok(())
}

/// Serves the packs, and leaves their folders to the program: so this process does not keep them.
/// Also says what is left out of each pack.
fn serve(
    beside: &Beside,
    overlays: &[Overlay],
    names: NameEncoding,
    mounts: Vec<Detached>,
) -> anyhow::Result<(Vec<seekless::mount::Mounted>, Vec<String>)> {
    // Before the first thread begins, which else would see what the program attaches.
    leave_mounts().context("cannot leave the mounted folders to the program")?;
    beside.end_with_program().context("cannot start a thread")?;
    let (mut serving, mut left_out) = (Vec::new(), Vec::new());
    for (place, (mount, overlay)) in mounts.into_iter().zip(overlays).enumerate() {
        let cache_bytes = usual_cache_bytes(&overlay.pack);
        let store = settings(cache_bytes).predict(true).names(names).open(&overlay.pack)?;
        left_out.extend(store.left_out());
        let options = Options {
            ahead_bytes: half_of_free(),
            open_bytes: cache_bytes / 2,
            folders: folders_in(overlay, &overlays[place + 1..]),
            ..Options::default()
        };
        let mounted = mount.serve(store, options)?;
        left_out.extend(without_place(&mounted));
        serving.push(mounted);
    }
    Ok((serving, left_out))
}

/// The folders in an overlay over which later packs are to lie, as far as folders were there: so
/// they are found also if the pack has none of these names.
fn folders_in(overlay: &Overlay, later: &[Overlay]) -> Vec<String> {
    let there = later.iter().filter(|later| later.folder.is_dir());
    there.filter_map(|later| overlay.place_of(later)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pack_and_a_folder_are_told_apart_at_the_last_equals_sign() {
        let parsed = Overlay::parse(OsStr::new("/a=b.zip=/"), &[]).unwrap();
        assert_eq!(parsed, Overlay { pack: "/a=b.zip".into(), folder: "/".into() });
        for words in ["a.zip", "=/", "a.zip="] {
            assert!(Overlay::parse(OsStr::new(words), &[]).is_err(), "{words}");
        }
        let error = Overlay::parse(OsStr::new("a.zip=/no/such"), &[]).unwrap_err();
        assert_eq!(error.to_string(), "/no/such: the folder cannot be found");
    }

    #[test]
    fn a_folder_that_only_an_earlier_pack_may_have_is_taken() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let overlay = |folder: &str| Overlay { pack: "/a.zip".into(), folder: root.join(folder) };
        std::fs::create_dir_all(root.join("m/real")).unwrap();
        std::fs::write(root.join("m/file"), "").unwrap();
        let laid = [overlay("m")];
        let parse = |folder: &str, laid: &[Overlay]| {
            let mut words = OsString::from("/a.zip=");
            words.push(root.join(folder));
            Overlay::parse(&words, laid)
        };
        assert_eq!(parse("m/new/./deep", &laid).unwrap(), overlay("m/new/deep"));
        assert_eq!(parse("m/real/new", &laid).unwrap(), overlay("m/real/new"));
        for (folder, laid) in [("m/new", &[][..]), ("n", &laid), ("m/new/../x", &laid)] {
            assert!(parse(folder, laid).is_err(), "{folder}");
        }
        let error = parse("m/file", &laid).unwrap_err().to_string();
        assert!(error.ends_with("is not a folder"), "{error}");
        assert_eq!(laid[0].place_of(&overlay("m/new/deep")), Some("new/deep".to_owned()));
        assert_eq!((laid[0].place_of(&laid[0]), laid[0].place_of(&overlay("mm"))), (None, None));
        let later = [overlay("m/real"), overlay("m/new"), overlay("n")];
        assert_eq!(folders_in(&laid[0], &later), ["real"]);
    }
}
