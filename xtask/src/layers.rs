//! A crate depends only on crates of a lower layer, dev-dependencies too (DESIGN, "The house").

use anyhow::{Context, bail};
use cargo_metadata::{MetadataCommand, Package};
use std::collections::HashMap;

/// Fails, naming each import that goes up or sideways.
pub(crate) fn check() -> anyhow::Result<()> {
    let metadata = MetadataCommand::new().no_deps().exec()?;
    let packages = metadata.workspace_packages();
    let layers: HashMap<&str, u64> = packages
        .iter()
        .map(|package| Ok((package.name.as_str(), layer(package)?)))
        .collect::<anyhow::Result<_>>()?;
    let imports = packages.iter().flat_map(|package| {
        package.dependencies.iter().map(|import| (package.name.as_str(), import.name.as_str()))
    });
    let wrong = not_down(&layers, imports);
    if !wrong.is_empty() {
        bail!("imports that do not go down:\n  {}", wrong.join("\n  "));
    }
    println!("layers: {} crates, every import goes down", packages.len());
    Ok(())
}

fn layer(package: &Package) -> anyhow::Result<u64> {
    package.metadata["seekless"]["layer"]
        .as_u64()
        .with_context(|| format!("{}: say its layer in [package.metadata.seekless]", package.manifest_path))
}

/// The imports among crates that have a layer which do not go to a lower one, in words.
fn not_down<'a>(
    layers: &HashMap<&str, u64>,
    imports: impl Iterator<Item = (&'a str, &'a str)>,
) -> Vec<String> {
    imports
        .filter_map(|(from, to)| Some((from, *layers.get(from)?, to, *layers.get(to)?)))
        .filter(|(_, from_layer, _, to_layer)| to_layer >= from_layer)
        .map(|(from, from_layer, to, to_layer)| {
            format!("{from} (layer {from_layer}) imports {to} (layer {to_layer})")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::not_down;
    use std::collections::HashMap;

    #[test]
    fn an_import_that_goes_up_or_sideways_is_named() {
        let layers = HashMap::from([("trace", 0), ("policy", 1), ("engine", 1), ("sim", 2)]);
        let imports = [("sim", "policy"), ("sim", "serde"), ("policy", "engine"), ("trace", "sim")];
        let wrong = not_down(&layers, imports.into_iter());
        assert_eq!(
            wrong,
            ["policy (layer 1) imports engine (layer 1)", "trace (layer 0) imports sim (layer 2)"]
        );
    }
}
