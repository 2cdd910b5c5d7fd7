//! Draws ranks by Zipf's law in O(1): Walker's alias method, as Vose builds its table (1991). A
//! column takes the weight of one rank, and what it lacks of another.

use super::power::weight;
use seekless_device::SplitMix64;

/// What the table takes of memory for each rank.
pub(super) const RANK_BYTES: u64 = (size_of::<Column>() + size_of::<f64>()) as u64;

#[derive(Clone, Copy, Debug)]
struct Column {
    /// The share of its own rank, of 2^32.
    own: u32,
    other: u32,
}

/// Ranks from 0, each drawn in proportion to (rank + 1)^-alpha.
#[derive(Debug)]
pub(super) struct Ranks(Vec<Column>);

impl Ranks {
    /// `ranks` must be from 1 to below 2^32.
    pub(super) fn new(ranks: u64, alpha: f64) -> Self {
        let mut weights: Vec<f64> = (1..=ranks).map(|rank| weight(rank, alpha)).collect();
        let mean = weights.iter().sum::<f64>() / ranks as f64;
        weights.iter_mut().for_each(|weight| *weight /= mean);
        let mut columns: Vec<Column> =
            (0..ranks as u32).map(|rank| Column { own: u32::MAX, other: rank }).collect();
        // Weights fall with the rank, so the heavy ones are in front.
        let heavy_end = weights.partition_point(|weight| *weight >= 1.0);
        let mut heavy: u32 = 0;
        for light in (heavy_end..weights.len()).rev() {
            let mut next = light;
            loop {
                if heavy as usize >= heavy_end {
                    return Self(columns);
                }
                columns[next] = Column { own: share(weights[next]), other: heavy };
                weights[heavy as usize] -= 1.0 - weights[next];
                if weights[heavy as usize] >= 1.0 {
                    break;
                }
                // What gave too much is light itself now.
                next = heavy as usize;
                heavy += 1;
            }
        }
        Self(columns)
    }

    #[inline]
    pub(super) fn draw(&self, draws: &mut SplitMix64) -> u64 {
        let bits = u128::from(draws.bits()) * self.0.len() as u128;
        let (place, part) = ((bits >> 64) as usize, (bits as u64 >> 32) as u32);
        let column = self.0[place];
        if part < column.own { place as u64 } else { column.other.into() }
    }
}

fn share(weight: f64) -> u32 {
    (weight * 4_294_967_296.0) as u32 // saturates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_come_as_often_as_the_law_says() {
        const DRAWS: u64 = 1_000_000;
        for (ranks, alpha) in [(1, 1.0), (2, 0.0), (10, 1.0), (1000, 0.8), (50, 2.5)] {
            let table = Ranks::new(ranks, alpha);
            let mut draws = SplitMix64::new(5);
            let mut counts = vec![0_u64; ranks as usize];
            (0..DRAWS).for_each(|_| counts[table.draw(&mut draws) as usize] += 1);
            let sum: f64 = (1..=ranks).map(|rank| (rank as f64).powf(-alpha)).sum();
            for (rank, &count) in (1..).zip(&counts) {
                let expected = DRAWS as f64 * f64::powf(f64::from(rank), -alpha) / sum;
                let off = (count as f64 - expected).abs();
                assert!(off < 6.0 * expected.sqrt() + 3.0, "{ranks} {alpha}: {rank} came {count}");
            }
        }
    }
}
