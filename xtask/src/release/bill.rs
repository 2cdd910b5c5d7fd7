//! The bill of materials: every package that is linked into what is released, as CycloneDX.

use super::Release;
use crate::licences;
use crate::workspace::{Package, Workspace};
use anyhow::Context;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs;

/// The part of Cargo.lock that names sums.
#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    checksum: Option<String>,
}

/// Writes `seekless-VERSION.cdx.json`.
pub(super) fn write(release: &Release) -> anyhow::Result<()> {
    let workspace = Workspace::whole()?;
    let text = fs::read_to_string(release.root.join("Cargo.lock")).context("Cargo.lock")?;
    let lock: Lock = toml::from_str(&text).context("cannot read Cargo.lock")?;
    let sums: HashMap<(&str, &str), &str> = lock
        .package
        .iter()
        .filter_map(|p| Some(((p.name.as_str(), p.version.as_str()), p.checksum.as_deref()?)))
        .collect();
    let components: Vec<Value> = licences::linked(&workspace)?
        .into_iter()
        .map(|package| {
            component(package, sums.get(&(package.name.as_str(), package.version.as_str())))
        })
        .collect();
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": release.commit.iso,
            "component": {
                "type": "application",
                "bom-ref": format!("pkg:cargo/seekless-cli@{}", release.version),
                "name": "seekless",
                "version": release.version,
                "licenses": [{ "expression": "MIT OR Apache-2.0" }],
            },
        },
        "components": components,
    });
    let mut text = serde_json::to_string_pretty(&bill)?;
    text.push('\n');
    release.write(&format!("seekless-{}.cdx.json", release.version), text.as_bytes())
}

fn component(package: &Package, sum: Option<&&str>) -> Value {
    let at = format!("pkg:cargo/{}@{}", package.name, package.version);
    let mut component = json!({
        "type": "library",
        "bom-ref": at,
        "name": package.name,
        "version": package.version,
        "purl": at,
    });
    if let Some(license) = &package.license {
        component["licenses"] = json!([{ "expression": license.replace('/', " OR ") }]);
    }
    if let Some(sum) = sum {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
    }
    component
}
