//! Estimates what files will take in a pack, before any is coded: some files of each kind are coded
//! in part. An order is made for what is read, and that is the coded bytes.

use super::tree::{Node, Tree};
use seekless_pack::{About, Codec, prepare};
use std::collections::HashMap;

/// Files of a kind that are sampled, and the bytes of each.
const SAMPLES: usize = 4;
const SAMPLE_BYTES: u64 = 64 << 10;

/// Samples of all kinds together: they are read from where they lie.
const SAMPLES_MAX: usize = 256;

/// The bytes of each node of `tree` in a pack, without headers. What cannot be read now counts as
/// it is; packing will report it.
pub(super) fn coded_bytes(tree: &Tree, codec: Codec) -> Vec<u64> {
    let mut kinds: HashMap<&str, Vec<&Node>> = HashMap::new();
    for node in tree.nodes.iter().filter(|node| node.stamp.bytes > 0 && !node.is_link()) {
        kinds.entry(kind(&node.name)).or_default().push(node);
    }
    let mut common: Vec<(&str, Vec<&Node>)> = kinds.into_iter().collect();
    common.sort_unstable_by_key(|(kind, nodes)| (std::cmp::Reverse(nodes.len()), *kind));
    common.truncate(SAMPLES_MAX / SAMPLES);
    let shares: HashMap<&str, Share> =
        common.into_iter().map(|(kind, nodes)| (kind, Share::of(&nodes, codec))).collect();
    let coded = |node: &Node| match shares.get(kind(&node.name)) {
        _ if node.is_link() => node.stamp.bytes,
        Some(share) => share.coded(node.stamp.bytes),
        None => node.stamp.bytes,
    };
    tree.nodes.iter().map(coded).collect()
}

/// What follows the last dot of a name.
fn kind(name: &str) -> &str {
    let base = name.rsplit_once('/').map_or(name, |(_, base)| base);
    base.rsplit_once('.').map_or("", |(_, kind)| kind)
}

/// Coded bytes for this many bytes of content.
#[derive(Clone, Copy, Default)]
struct Share {
    bytes: u64,
    coded: u64,
}

impl Share {
    /// Samples `nodes` evenly.
    fn of(nodes: &[&Node], codec: Codec) -> Self {
        let mut share = Share::default();
        for node in nodes.iter().step_by(nodes.len().div_ceil(SAMPLES).max(1)) {
            let sample = node.begin(SAMPLE_BYTES).filter(|sample| !sample.is_empty());
            let Some(sample) = sample else { continue };
            let bytes = sample.len() as u64;
            if let Ok(prepared) = prepare(About::named("sample"), sample, codec) {
                share.bytes += bytes;
                share.coded += prepared.coded_bytes();
            }
        }
        share
    }

    fn coded(self, bytes: u64) -> u64 {
        let coded = u128::from(bytes) * u128::from(self.coded);
        match self.bytes {
            0 => bytes,
            sampled => (coded / u128::from(sampled)) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Options;
    use super::super::exclude::Exclude;
    use super::*;

    #[test]
    fn a_kind_that_shrinks_counts_for_what_it_will_take() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes);
        write("a.txt", &[b'a'; 40_000]).unwrap();
        write("b.txt", &[b'b'; 20_000]).unwrap();
        let mut draws = seekless_device::SplitMix64::new(0);
        let noise: Vec<u8> = (0..20_000).map(|_| draws.bits() as u8).collect();
        write("c.bin", &noise).unwrap();
        write("empty", b"").unwrap();
        let (none, options) = (Exclude::new(&[]).unwrap(), Options::default());
        let tree = Tree::walk(folder.path(), None, &none, &options).unwrap();
        let coded = coded_bytes(&tree, Codec::Auto);
        assert!(coded[0] < 1_000 && coded[1] < 1_000, "{coded:?}");
        assert_eq!(coded[2..], [20_000, 0]);
        assert_eq!(coded_bytes(&tree, Codec::Stored), [40_000, 20_000, 20_000, 0]);
    }
}
