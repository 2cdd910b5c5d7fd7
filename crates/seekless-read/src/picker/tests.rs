//! The picker against a naive model, and the paper's Figs. 3 and 4.

use super::*;
use proptest::prelude::*;
use std::convert::Infallible;

/// A file in memory.
struct Text<'a>(&'a [u8]);

impl FindDelimiter for Text<'_> {
    type Error = Infallible;
    fn first(&mut self, range: Range<u64>) -> Result<Option<u64>, Infallible> {
        let part = &self.0[range.start as usize..range.end as usize];
        Ok(part.iter().position(|&byte| byte == b'\n').map(|at| range.start + at as u64 + 1))
    }
    fn last(&mut self, range: Range<u64>) -> Result<Option<u64>, Infallible> {
        let part = &self.0[range.start as usize..range.end as usize];
        Ok(part.iter().rposition(|&byte| byte == b'\n').map(|at| range.start + at as u64 + 1))
    }
}

fn priced(lengths_and_costs: &[(u64, u64)]) -> Vec<Priced> {
    let mut start = 0;
    lengths_and_costs
        .iter()
        .map(|&(length, cost)| {
            let range = start..start + length;
            start += length;
            Priced { range, cost }
        })
        .collect()
}

fn picks<F: FindDelimiter<Error = Infallible>>(
    picker: &mut Picker,
    find: &mut F,
) -> Vec<Range<u64>> {
    std::iter::from_fn(|| picker.next_read(find).unwrap()).collect()
}

/// Blocks in the order of their last use, as in the paper's Fig. 3.
struct Lru {
    blocks: Vec<u64>,
    fetched: u32,
}

impl Lru {
    fn read(&mut self, block: u64) {
        match self.blocks.iter().position(|&held| held == block) {
            Some(at) => {
                self.blocks.remove(at);
            }
            None => {
                self.fetched += 1;
                self.blocks.truncate(2);
            }
        }
        self.blocks.insert(0, block);
    }
}

#[test]
fn five_blocks_and_a_cache_of_three_as_in_figure_3() {
    let mut cache = Lru { blocks: Vec::new(), fetched: 0 };
    (0..5).for_each(|block| cache.read(block));
    (0..5).for_each(|block| cache.read(block));
    assert_eq!(cache.fetched, 10, "a second linear pass gains nothing");
    cache.fetched = 0;
    let costs: Vec<_> =
        (0..5).map(|block| (1, u64::from(!cache.blocks.contains(&block)))).collect();
    let mut picker = Picker::new(priced(&costs), 1, Records::None, &mut NoDelimiter).unwrap();
    let order: Vec<_> =
        picks(&mut picker, &mut NoDelimiter).into_iter().map(|chunk| chunk.start).collect();
    assert_eq!(order, [2, 3, 4, 0, 1]);
    order.into_iter().for_each(|block| cache.read(block));
    assert_eq!(cache.fetched, 2, "two blocks instead of five");
}

#[test]
fn edges_are_pulled_in_to_records_as_in_figure_4() {
    let text = b"aaa\nbbbb\ncc\ndddd\nee\n";
    // The cheap range lies from the middle of the b's to the middle of the d's.
    let ranges = priced(&[(6, 9), (8, 1), (6, 9)]);
    let mut picker = Picker::new(ranges, 100, Records::Delimiter(b'\n'), &mut Text(text)).unwrap();
    assert_eq!(picks(&mut picker, &mut Text(text)), [9..12, 0..9, 12..20]);
}

#[test]
fn a_cheap_range_without_a_whole_record_goes_to_its_neighbours() {
    let text = b"aaaaaaaaaaaa\n";
    let mut picker = Picker::new(
        priced(&[(4, 9), (4, 1), (5, 9)]),
        100,
        Records::Delimiter(b'\n'),
        &mut Text(text),
    )
    .unwrap();
    let all = picks(&mut picker, &mut Text(text));
    assert_eq!(all.iter().map(|chunk| chunk.end - chunk.start).sum::<u64>(), 13);
    assert_eq!((all.len(), all.first()), (1, Some(&(0..13))));
}

#[test]
fn new_prices_change_the_order_of_what_is_left() {
    let mut picker =
        Picker::new(priced(&[(4, 1), (4, 2), (4, 3)]), 2, Records::None, &mut NoDelimiter).unwrap();
    assert_eq!(picker.next_read(&mut NoDelimiter).unwrap(), Some(0..2));
    picker.refresh(&priced(&[(8, 5), (4, 0)]), &mut NoDelimiter).unwrap();
    assert_eq!(picker.unseen_bytes(), 10);
    assert_eq!(picks(&mut picker, &mut NoDelimiter), [8..10, 10..12, 2..4, 4..6, 6..8]);
}

proptest! {
    #[test]
    fn the_cheapest_byte_left_is_always_next(
        ranges in prop::collection::vec((1..20_u64, 0..4_u64), 1..12),
        chunk_bytes in 1..9_u64,
    ) {
        let ranges = priced(&ranges);
        let mut picker = Picker::new(ranges.clone(), chunk_bytes, Records::None, &mut NoDelimiter).unwrap();
        let cost = |byte: u64| ranges.iter().find(|priced| priced.range.contains(&byte)).unwrap().cost;
        let end = ranges.last().unwrap().range.end;
        let mut left: BTreeSet<(u64, u64)> = (0..end).map(|byte| (cost(byte), byte)).collect();
        for chunk in picks(&mut picker, &mut NoDelimiter) {
            prop_assert!(chunk.end - chunk.start <= chunk_bytes);
            for byte in chunk {
                prop_assert_eq!(left.pop_first(), Some((cost(byte), byte)));
            }
        }
        prop_assert!(left.is_empty());
    }

    #[test]
    fn records_stay_whole_and_every_byte_comes_once(
        text in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'a'), Just(b'b')], 1..120),
        lengths in prop::collection::vec((1..30_u64, 0..4_u64), 1..10),
        chunk_bytes in 1..40_u64,
        fixed in prop::option::of((0..30_u64, 1..9_u64)),
    ) {
        let mut ranges = Vec::new();
        for priced in priced(&lengths) {
            let range = priced.range.start.min(text.len() as u64)..priced.range.end.min(text.len() as u64);
            ranges.push(Priced { range, ..priced });
        }
        let covered = ranges.last().unwrap().range.end;
        if covered < text.len() as u64 {
            ranges.push(Priced { range: covered..text.len() as u64, cost: 9 });
        }
        let records =
            fixed.map_or(Records::Delimiter(b'\n'), |(origin, bytes)| Records::Fixed { origin, bytes });
        let mut picker = Picker::new(ranges, chunk_bytes, records, &mut Text(&text)).unwrap();
        let mut all = picks(&mut picker, &mut Text(&text));
        all.sort_by_key(|chunk| chunk.start);
        let mut at = 0;
        for chunk in all {
            prop_assert_eq!(chunk.start, at);
            prop_assert!(chunk.end > chunk.start);
            at = chunk.end;
            let whole = at == text.len() as u64 || match records {
                Records::Fixed { .. } => records.starts_at(at),
                _ => text[at as usize - 1] == b'\n',
            };
            prop_assert!(whole, "{} of {:?}", at, text);
        }
        prop_assert_eq!(at, text.len() as u64);
    }
}
