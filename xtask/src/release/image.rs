//! The container image: the programs and nothing else, for all architectures, as a tar of the OCI's
//! layout. `skopeo` and `umoci` must take it.

use super::build::Target;
use super::{Release, archive};
use crate::dist::{self, PROGRAMS};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// Writes `seekless-VERSION-oci.tar`.
pub(super) fn write(release: &mut Release, targets: &[&Target]) -> anyhow::Result<()> {
    let layout = release.stage("oci")?;
    fs::create_dir_all(layout.join("blobs/sha256"))?;
    let mut manifests = Vec::new();
    for target in targets {
        manifests.push(image(release, target, &layout)?);
    }
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": manifests,
    });
    fs::write(layout.join("index.json"), serde_json::to_vec(&index)?)?;
    fs::write(layout.join("oci-layout"), br#"{"imageLayoutVersion":"1.0.0"}"#)?;
    check(release, targets, &layout)?;
    let tar = archive::tar(&layout, "", release.commit.seconds)?;
    release.write(&format!("seekless-{}-oci.tar", release.version), &tar)
}

/// One architecture's image; its entry in the index.
fn image(release: &Release, target: &Target, layout: &Path) -> anyhow::Result<Value> {
    let root = release.stage(&format!("oci-{}", target.debian))?;
    let doc = root.join("usr/share/doc/seekless");
    let (bin, tmp) = (root.join("usr/bin"), root.join("tmp"));
    for folder in [&doc, &bin, &tmp] {
        fs::create_dir_all(folder)?;
    }
    fs::set_permissions(&tmp, fs::Permissions::from_mode(0o1777))?;
    for program in PROGRAMS {
        fs::copy(target.built(release).join(program), bin.join(program))?;
    }
    for name in ["LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY.txt"] {
        fs::copy(release.stage("pages")?.join(name), doc.join(name))?;
    }
    let tar = archive::tar(&root, "", release.commit.seconds)?;
    let layer = blob(layout, &archive::gzip(&tar)?, LAYER)?;
    let config = json!({
        "created": release.commit.iso,
        "architecture": target.debian,
        "os": "linux",
        "config": {
            "Entrypoint": ["/usr/bin/seekless"],
            "Env": ["PATH=/usr/bin"],
            "WorkingDir": "/",
            "Labels": {
                "org.opencontainers.image.title": "seekless",
                "org.opencontainers.image.version": release.version,
                "org.opencontainers.image.revision": release.commit.id,
                "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
            },
        },
        "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{}", super::sum(&tar))] },
        "history": [{ "created": release.commit.iso, "created_by": "cargo xtask release" }],
    });
    let config = blob(layout, &serde_json::to_vec(&config)?, CONFIG)?;
    let manifest = json!({
        "schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [layer],
    });
    let mut entry = blob(layout, &serde_json::to_vec(&manifest)?, MANIFEST)?;
    entry["platform"] = json!({ "architecture": target.debian, "os": "linux" });
    entry["annotations"] = json!({ "org.opencontainers.image.ref.name": tag(release, target) });
    Ok(entry)
}

fn tag(release: &Release, target: &Target) -> String {
    format!("{}-{}", release.version, target.debian)
}

/// Writes bytes under the name of their sum; what names them elsewhere.
fn blob(layout: &Path, bytes: &[u8], kind: &str) -> anyhow::Result<Value> {
    let sum = super::sum(bytes);
    fs::write(layout.join("blobs/sha256").join(&sum), bytes)?;
    Ok(json!({ "mediaType": kind, "digest": format!("sha256:{sum}"), "size": bytes.len() }))
}

/// Has other tools read the image.
fn check(release: &mut Release, targets: &[&Target], layout: &Path) -> anyhow::Result<()> {
    let has_skopeo = release.has("skopeo", "the image is not inspected");
    let has_umoci = release.has("umoci", "the image is not unpacked");
    for target in targets {
        let image = format!("{}:{}", layout.display(), tag(release, target));
        if has_skopeo {
            let mut command = Command::new("skopeo");
            command.args(["inspect", "--override-arch", target.debian, "--format"]);
            command.arg("{{.Architecture}} {{.Created}} {{.Digest}}");
            dist::run(command.arg(format!("oci:{image}")))?;
        }
        if has_umoci {
            let bundle = release.stage("bundles")?.join(target.debian);
            dist::run(Command::new("umoci").args(["unpack", "--image", &image]).arg(bundle))?;
        }
    }
    Ok(())
}
