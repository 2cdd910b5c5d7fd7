//! A file as a bar of cells. Each cell is drawn as the level that holds most of its bytes.

use seekless::sled::{Level, Sled};

/// The number of cells of a bar.
pub(super) const CELLS: u64 = 64;

/// The block and the colour (SGR) of each level, in the order of [`Level`].
const LOOKS: [(Level, char, &str); 6] = [
    (Level::Hole, '·', "2"),
    (Level::Memory, '█', "32"),
    (Level::Device, '▒', "34"),
    (Level::Network, '░', "35"),
    (Level::Archive, '▁', "31"),
    (Level::Unknown, '?', "33"),
];

/// The bar of a file, and a legend for its levels.
pub(super) fn bar(sleds: &[Sled], bytes: u64, colour: bool) -> String {
    let cells = CELLS.min(bytes);
    let drawn: String = (0..cells)
        .map(|cell| {
            let edge =
                |cell: u64| (u128::from(bytes) * u128::from(cell) / u128::from(cells)) as u64;
            painted(most(sleds, edge(cell), edge(cell + 1)), colour)
        })
        .collect();
    let there = LOOKS.iter().filter(|(level, ..)| sleds.iter().any(|sled| sled.level == *level));
    let legend: Vec<String> =
        there.map(|(level, ..)| format!("{} {}", painted(*level, colour), level.name())).collect();
    format!("{drawn}\n{}\n", legend.join("  "))
}

/// The level of most bytes between two edges. If two have the same, the costlier one.
fn most(sleds: &[Sled], start: u64, end: u64) -> Level {
    let first = sleds.partition_point(|sled| sled.end() <= start);
    let mut bytes = [0; LOOKS.len()];
    for sled in sleds[first..].iter().take_while(|sled| sled.offset < end) {
        let index =
            LOOKS.iter().position(|(level, ..)| *level == sled.level).unwrap_or(LOOKS.len() - 1);
        bytes[index] += sled.end().min(end) - sled.offset.max(start);
    }
    let most = (0..LOOKS.len()).max_by_key(|&index| bytes[index]).unwrap_or(LOOKS.len() - 1);
    LOOKS[most].0
}

fn painted(level: Level, colour: bool) -> String {
    let look = LOOKS.iter().find(|(of, ..)| *of == level).unwrap_or(&LOOKS[LOOKS.len() - 1]);
    if colour { format!("\x1b[{}m{}\x1b[0m", look.2, look.1) } else { look.1.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless::sled::Confidence;
    use std::time::Duration;

    fn sled(offset: u64, bytes: u64, level: Level) -> Sled {
        let (latency, age) = (Duration::ZERO, Duration::ZERO);
        Sled { offset, bytes, latency, bandwidth: 1.0, level, confidence: Confidence::Exact, age }
    }

    #[test]
    fn a_cell_shows_what_most_of_it_is() {
        let sleds = [
            sled(0, 320, Level::Memory),
            sled(320, 5, Level::Device),
            sled(325, 315, Level::Memory),
        ];
        let expected = "█".repeat(32) + "▒" + &"█".repeat(31) + "\n█ memory  ▒ device\n";
        assert_eq!(bar(&sleds, 640, false), expected);
    }

    #[test]
    fn small_and_huge_files_have_bars_too() {
        assert_eq!(bar(&[sled(0, 3, Level::Unknown)], 3, false), "???\n? unknown\n");
        assert_eq!(bar(&[], 0, false), "\n\n");
        let huge = bar(&[sled(0, u64::MAX, Level::Archive)], u64::MAX, true);
        assert_eq!(huge.matches('▁').count(), 65, "64 cells and the legend");
    }
}
