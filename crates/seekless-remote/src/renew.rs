//! Writes a new version of an object. What it has of the old one is copied where it lies, by S3's
//! UploadPartCopy, so that only what has changed travels.

use crate::plan::Plan;
use crate::put::{Condition, Version, put};
use crate::{Access, Settings};
use seekless_engine::ObjectName;
use std::fs::File;
use std::io;
use std::sync::Arc;

/// Makes `content` the new version of the object `name`, by a plan whose parts are copied, if some
/// are. `content` has the bytes of all other parts; the rest may be holes. It must still be the
/// version `old`. Calls `progress` with the bytes that are there; if it returns false, the upload
/// is given up.
///
/// # Errors
/// As [`put`] with [`Condition::Same`]; or the provider does not copy parts.
pub fn renew(
    name: &ObjectName,
    content: Arc<File>,
    plan: &Plan,
    old: Version,
    access: &Access,
    settings: &Settings,
    progress: impl FnMut(u64) -> bool + Send + 'static,
) -> io::Result<()> {
    #[cfg(feature = "aws")]
    if plan.copied_bytes() > 0 {
        let copying = s3::Copying::new(name, content, plan.clone(), old, access, settings)?;
        return crate::runtime::Runtime::start()?.wait(copying.run(progress));
    }
    put(name, content, Condition::Same(old), access, settings, progress)
}

#[cfg(feature = "aws")]
mod s3;
