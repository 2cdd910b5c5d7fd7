//! A fast pass over a text that finds the groups of bytes in which a fragment may begin, and
//! whether the text holds a NUL. The compiler turns its rows into vector code.

use super::fragment::{Fragment, PROBES, Probe};
use crate::wide::widely;
use seekless_sys::memory::fetch;
use std::ops::Range;

/// Bytes in a group, which are marked together.
const GROUP: usize = 1 << 10;
/// Bytes in a row, which the compiler turns into vectors.
const ROW: usize = 32;
/// Places in a text that are swept in turn, one group at a time: memory delivers several streams
/// faster than one.
const STREAMS: usize = 4;
/// How many bytes ahead each stream prefetches.
const AHEAD: usize = 2 * GROUP;
/// If one group in this many is marked, searching the whole text costs no more.
const DENSE: usize = 4;

/// The places in a text where a fragment may begin.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// One byte per group, which is not 0 if a fragment may begin there. Empty if the text was not
    /// swept.
    groups: Vec<u8>,
}

impl Marks {
    /// The next marked range that ends after `from`, without the bytes before `from`.
    pub(super) fn next(&self, from: usize, length: usize) -> Option<Range<usize>> {
        if self.groups.is_empty() || from >= length {
            return (from < length).then_some(from..length);
        }
        let first =
            from / GROUP + self.groups.get(from / GROUP..)?.iter().position(|&mark| mark != 0)?;
        let behind = self.groups[first..].iter().position(|&mark| mark == 0);
        let end = behind.map_or(length, |groups| (first + groups) * GROUP);
        Some(from.max(first * GROUP)..end.min(length))
    }

    /// Whether the text was swept.
    pub(super) fn are_known(&self) -> bool {
        !self.groups.is_empty()
    }

    /// Whether most is marked, so that the sweep saved little.
    pub(super) fn are_dense(&self) -> bool {
        let marked = self.groups.iter().filter(|&&mark| mark != 0).count();
        self.groups.len() > DENSE && marked * DENSE > self.groups.len()
    }
}

/// Marks the groups in which a fragment may begin. Also returns whether the text holds a NUL, if
/// `nuls` is set.
pub(super) fn sweep(text: &[u8], fragments: &[Fragment], nuls: bool) -> (Marks, bool) {
    let mut groups = vec![0; text.len().div_ceil(GROUP)];
    let mut has_nul = false;
    for (index, fragment) in fragments.iter().enumerate() {
        has_nul |= match (fragment.folds, nuls && index == 0) {
            (false, false) => mark_all::<false, false>(text, fragment, &mut groups),
            (false, true) => mark_all::<false, true>(text, fragment, &mut groups),
            (true, false) => mark_all::<true, false>(text, fragment, &mut groups),
            (true, true) => mark_all::<true, true>(text, fragment, &mut groups),
        };
    }
    (Marks { groups }, has_nul)
}

/// Marks groups for one fragment. Returns whether the text holds a NUL, if `NULS` is set.
fn mark_all<const FOLDS: bool, const NULS: bool>(
    text: &[u8],
    fragment: &Fragment,
    groups: &mut [u8],
) -> bool {
    widely(
        text.len(),
        #[inline(always)]
        || mark_rows::<FOLDS, NULS>(text, fragment, groups),
    )
}

#[inline(always)]
fn mark_rows<const FOLDS: bool, const NULS: bool>(
    text: &[u8],
    fragment: &Fragment,
    groups: &mut [u8],
) -> bool {
    // In these groups, the rows of all probes lie inside the text. Later groups are marked
    // without looking.
    let whole = text.len().saturating_sub(fragment.reach()) / GROUP;
    let each = whole / STREAMS;
    let mut zero = [0; ROW];
    for step in 0..each {
        for stream in 0..STREAMS {
            let group = stream * each + step;
            if let Some(next) =
                text.get(group * GROUP + AHEAD..).and_then(<[u8]>::first_chunk::<GROUP>)
            {
                fetch(next);
            }
            groups[group] |=
                mark::<FOLDS, NULS>(&text[group * GROUP..], &fragment.probes, &mut zero);
        }
    }
    for group in each * STREAMS..whole {
        groups[group] |= mark::<FOLDS, NULS>(&text[group * GROUP..], &fragment.probes, &mut zero);
    }
    groups[whole..].fill(1);
    NULS && (zero.iter().any(|&lane| lane != 0) || text[whole * GROUP..].contains(&0))
}

/// Not 0 if the fragment may begin in the first group of `text`.
#[inline(always)]
fn mark<const FOLDS: bool, const NULS: bool>(
    text: &[u8],
    probes: &[Probe; PROBES],
    zero: &mut [u8; ROW],
) -> u8 {
    let windows: [&[u8; GROUP]; PROBES] = probes.map(|probe| window(text, probe.at));
    let plain: &[u8; GROUP] = window(text, 0);
    let (mut hits, mut nuls) = ([0; ROW], [0; ROW]);
    for at in (0..GROUP).step_by(ROW) {
        for lane in 0..ROW {
            let mut hit = 0xff;
            for (window, probe) in windows.iter().zip(probes) {
                let byte = if FOLDS { window[at + lane] | probe.mask } else { window[at + lane] };
                hit &= if byte == probe.byte { 0xff } else { 0 };
            }
            hits[lane] |= hit;
            if NULS {
                nuls[lane] |= if plain[at + lane] == 0 { 0xff } else { 0 };
            }
        }
    }
    for lane in 0..ROW {
        zero[lane] |= nuls[lane];
    }
    hits.iter().fold(0, |all, &hit| all | hit)
}

/// One group's worth of bytes from `at` on.
#[inline(always)]
fn window(text: &[u8], at: usize) -> &[u8; GROUP] {
    match text[at..].first_chunk() {
        Some(window) => window,
        None => &[0; GROUP],
    }
}

/// The first place in `range` of a text at which the fragment begins; it may end after `range`.
pub(super) fn find(text: &[u8], fragment: &Fragment, range: Range<usize>) -> Option<usize> {
    let mut at = range.start;
    while at < range.end {
        let Some(hits) = row(text, at, fragment) else { break };
        if hits.iter().fold(0, |all, &hit| all | hit) != 0 {
            let starts =
                (at..range.end).zip(hits).filter(|(_, hit)| *hit != 0).map(|(start, _)| start);
            if let Some(found) = starts.into_iter().find(|&start| fragment.leads(&text[start..])) {
                return Some(found);
            }
        }
        at += ROW;
    }
    (at..range.end).find(|&start| fragment.leads(&text[start..]))
}

/// The places in the row at `at` where all probes match. `None` if the text is too short for the
/// row of some probe.
#[inline(always)]
fn row(text: &[u8], at: usize, fragment: &Fragment) -> Option<[u8; ROW]> {
    let mut hits = [0xff; ROW];
    for probe in &fragment.probes {
        let row: &[u8; ROW] = text.get(at + probe.at..)?.first_chunk()?;
        for lane in 0..ROW {
            hits[lane] &= if row[lane] | probe.mask == probe.byte { 0xff } else { 0 };
        }
    }
    Some(hits)
}

#[cfg(test)]
mod tests {
    use super::super::Locale;
    use super::super::classes::Characters;
    use super::super::fragment::fragments;
    use super::super::syntax::Ast;
    use super::*;
    use proptest::prelude::*;

    fn fragment(text: &str, ignore_case: bool) -> Fragment {
        let ast = Ast::Concat(text.chars().map(Ast::Char).collect());
        let characters = Characters { locale: Locale::C, ignore_case, terminator: b'\n' };
        fragments(std::iter::once(&ast), characters).remove(0)
    }

    /// All places of the fragment, by trying each.
    fn places(text: &[u8], fragment: &Fragment) -> Vec<usize> {
        (0..text.len()).filter(|&at| fragment.leads(&text[at..])).collect()
    }

    /// The same places, by marks and rows.
    fn found(text: &[u8], fragment: &Fragment, marks: &Marks) -> Vec<usize> {
        let (mut places, mut at) = (Vec::new(), 0);
        while let Some(part) = marks.next(at, text.len()) {
            assert!(part.start >= at && part.end > part.start && part.end <= text.len());
            match find(text, fragment, part.clone()) {
                Some(place) => {
                    places.push(place);
                    at = place + 1;
                }
                None => at = part.end,
            }
        }
        places
    }

    proptest! {
        #[test]
        fn every_place_is_found(
            needle in "[ab_]{1,5}",
            needles in prop::collection::vec(0usize..20_000, 0..9),
            length in 0usize..20_000,
            nul in prop::option::of(0usize..20_000),
            ignore_case: bool,
        ) {
            let mut text = vec![b'x'; length];
            for (index, at) in needles.into_iter().enumerate() {
                let needle = if index % 2 == 0 { needle.clone() } else { needle.to_uppercase() };
                let end = length.min(at + needle.len());
                if at < end {
                    text[at..end].copy_from_slice(&needle.as_bytes()[..end - at]);
                }
            }
            if let Some(byte) = nul.and_then(|at| text.get_mut(at)) {
                *byte = 0;
            }
            let fragment = fragment(&needle, ignore_case);
            let one = std::slice::from_ref(&fragment);
            let (marks, has_nul) = sweep(&text, one, true);
            prop_assert_eq!(has_nul, text.contains(&0));
            prop_assert_eq!(found(&text, &fragment, &marks), places(&text, &fragment));
            prop_assert!(!sweep(&text, one, false).1);
        }
    }

    #[test]
    fn only_groups_that_hold_the_fragment_are_marked() {
        let mut text = vec![b'x'; 64 * GROUP];
        text[5 * GROUP + 17] = b'q';
        text[6 * GROUP - 1] = b'q';
        text[17 * GROUP] = b'q';
        let (marks, _) = sweep(&text, &[fragment("q", false)], true);
        let mut parts = Vec::new();
        let mut at = 0;
        while let Some(part) = marks.next(at, text.len()) {
            at = part.end;
            parts.push(part);
        }
        assert_eq!(parts, [5 * GROUP..6 * GROUP, 17 * GROUP..18 * GROUP]);
        assert!(!marks.are_dense());
        assert!(sweep(&text, &[fragment("z", false), fragment("x", false)], false).0.are_dense());
    }

    #[test]
    fn a_text_that_was_not_swept_is_one_part() {
        let marks = Marks::default();
        assert!(!marks.are_known());
        assert_eq!((marks.next(3, 9), marks.next(9, 9)), (Some(3..9), None));
    }
}
