//! The file mappings of one address space: they hold a file open after its last descriptor is closed.

use crate::descriptions::DescriptionId;

/// One mapped range of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) description: DescriptionId,
    /// The file offset of `start`.
    pub(crate) offset: u64,
}

/// The mappings, each a holder of its description.
#[derive(Clone, Debug, Default)]
pub(crate) struct Space {
    pub(crate) mappings: Vec<Mapping>,
}

impl Space {
    /// Takes a range out. What was cut away is pushed to `gone`, the new piece of what was cut in two to `split`.
    pub(crate) fn unmap(
        &mut self,
        start: u64,
        end: u64,
        gone: &mut Vec<DescriptionId>,
        split: &mut Vec<DescriptionId>,
    ) {
        let mut at = 0;
        while at < self.mappings.len() {
            let mapping = self.mappings[at];
            if mapping.start >= end || mapping.end <= start {
                at += 1;
                continue;
            }
            self.mappings.swap_remove(at);
            let pieces = [(mapping.start, start.min(mapping.end)), (end.max(mapping.start), mapping.end)];
            let mut left = 0;
            for (from, to) in pieces.into_iter().filter(|(from, to)| from < to) {
                self.mappings.push(Mapping {
                    start: from,
                    end: to,
                    offset: mapping.offset + (from - mapping.start),
                    ..mapping
                });
                left += 1;
            }
            match left {
                0 => gone.push(mapping.description),
                1 => {}
                _ => split.push(mapping.description),
            }
        }
    }

    /// The mapping that an address lies in.
    pub(crate) fn at(&self, address: u64) -> Option<Mapping> {
        self.mappings.iter().copied().find(|mapping| (mapping.start..mapping.end).contains(&address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cutting_keeps_count_of_holders() {
        let mut space = Space::default();
        space.mappings.push(Mapping { start: 100, end: 200, description: 7, offset: 1000 });
        let (mut gone, mut split) = (Vec::new(), Vec::new());
        space.unmap(120, 130, &mut gone, &mut split);
        assert_eq!((gone.len(), split.as_slice()), (0, &[7][..]));
        assert_eq!(space.at(150).unwrap().offset + 20, 1050);
        assert_eq!(space.at(125), None);
        space.unmap(0, 110, &mut gone, &mut split);
        assert_eq!((gone.len(), split.len(), space.mappings.len()), (0, 1, 2));
        space.unmap(0, 1000, &mut gone, &mut split);
        assert_eq!((gone.as_slice(), space.mappings.len()), (&[7, 7][..], 0));
    }
}
