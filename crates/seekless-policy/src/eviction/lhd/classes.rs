//! How the files of each class fared at each age, and the hit densities that follow.

/// Ages are counted below this; the last one stands for all that are higher.
pub(super) const AGES: usize = 20_000;
const CLASSES: usize = 16;
/// The program numbers the classes of applications from 16 to 31 here, and its first densities
/// depend on the number.
const FIRST_CLASS: usize = 16;
/// The first unit of age is 2^10 hits and admissions.
const SHIFT: u32 = 10;
/// The unit of age is chosen anew at these updates, so that this share of the ages is one lifetime.
const RESCALED_AT: [u32; 2] = [5, 25];
const LIFETIME: f32 = 0.01;
const DECAY: f32 = 0.9;

/// A class: events by age, and the density at each age.
#[derive(Clone, Debug, Default)]
struct Class {
    hits: Vec<f32>,
    evictions: Vec<f32>,
    densities: Vec<f32>,
}

/// Events and densities of all classes. The arrays reach to the highest age that is possible so
/// far, and never beyond [`AGES`].
#[derive(Clone, Debug)]
pub(super) struct Classes {
    classes: [Class; CLASSES],
    ages: usize,
    shift: u32,
    /// The turn at which the arrays must grow.
    full_at: u64,
    /// Whether the first densities are still used.
    untaught: bool,
    /// Sums of numbers of files, and of their number, both decaying.
    files: f32,
    times: f32,
}

impl Classes {
    pub(super) fn new() -> Self {
        let mut classes = Self {
            classes: std::array::from_fn(|_| Class::default()),
            ages: 0,
            shift: SHIFT,
            full_at: 0,
            untaught: true,
            files: 0.0,
            times: 0.0,
        };
        classes.grow(1);
        classes
    }

    /// The class of a file whose last two ages at hits have this sum: the higher, the shorter they
    /// were.
    #[inline]
    pub(super) fn of(ages: usize) -> u8 {
        let last = CLASSES as u32 - 1;
        if ages == 0 {
            return last as u8;
        }
        // As many doublings as make it as long as the limit in bits, and perhaps one more.
        let doublings = ages.leading_zeros().saturating_sub(AGES.leading_zeros());
        (doublings + u32::from(ages << doublings < AGES)).min(last) as u8
    }

    /// The age of a file that was used this many turns ago.
    #[inline]
    pub(super) fn age(&self, turns: u64) -> usize {
        ((turns >> self.shift) as usize).min(AGES - 1)
    }

    #[inline]
    pub(super) fn density(&self, class: u8, age: usize) -> f32 {
        self.classes[usize::from(class)].densities[age]
    }

    #[inline]
    pub(super) fn count_hit(&mut self, class: u8, age: usize) {
        self.classes[usize::from(class)].hits[age] += 1.0;
    }

    #[inline]
    pub(super) fn count_eviction(&mut self, class: u8, age: usize) {
        self.classes[usize::from(class)].evictions[age] += 1.0;
    }

    /// Makes room for the ages that are possible at turn `now`.
    #[inline]
    pub(super) fn reach(&mut self, now: u64) {
        if now >= self.full_at {
            let wanted = (now >> self.shift) as usize + 1;
            self.grow(wanted.max(self.ages + self.ages / 2).min(AGES));
        }
    }

    #[cold]
    fn grow(&mut self, ages: usize) {
        let ages = ages.max(self.ages);
        for (number, class) in self.classes.iter_mut().enumerate() {
            for column in [&mut class.hits, &mut class.evictions, &mut class.densities] {
                column.reserve_exact(ages - column.len());
            }
            class.hits.resize(ages, 0.0);
            class.evictions.resize(ages, 0.0);
            // As GDSF has it, roughly. Once taught, an age that was never reached has no hits.
            let rank = (FIRST_CLASS + number + 1) as f64;
            let untaught = self.untaught;
            let first = |age: usize| if untaught { (rank / (age + 1) as f64) as f32 } else { 0.0 };
            class.densities.extend((self.ages..ages).map(first));
        }
        self.ages = ages;
        self.full_at = if ages == AGES { u64::MAX } else { (ages as u64) << self.shift };
    }

    /// Learns from what happened, at the update after `updates` others, with `files` resident.
    #[cold]
    pub(super) fn update(&mut self, updates: u32, files: usize) {
        for class in &mut self.classes {
            class.hits.iter_mut().for_each(|hits| *hits *= DECAY);
            class.evictions.iter_mut().for_each(|evictions| *evictions *= DECAY);
        }
        self.files = self.files * DECAY + files as f32;
        self.times = self.times * DECAY + 1.0;
        if RESCALED_AT.contains(&updates) {
            self.rescale();
        }
        self.untaught = false;
        self.classes.iter_mut().for_each(Class::model);
    }

    /// Chooses the unit of age by the number of files.
    fn rescale(&mut self) {
        self.grow(AGES);
        let wanted = f64::from(self.files / self.times) / f64::from(LIFETIME * AGES as f32);
        let mut shift = 1;
        while shift < 31 && f64::from(1_u32 << shift) < wanted {
            shift += 1;
        }
        self.files *= 8.0;
        self.times *= 8.0;
        for class in &mut self.classes {
            for column in [&mut class.hits, &mut class.evictions] {
                match shift < self.shift {
                    true => stretch(column, self.shift - shift),
                    false => compress(column, shift - self.shift),
                }
            }
        }
        self.shift = shift;
    }
}

/// The unit becomes smaller, by `bits`: what was one age is many.
fn stretch(column: &mut [f32], bits: u32) {
    let last = AGES - 1;
    for age in AGES >> bits..last {
        column[last] += column[age];
    }
    for age in (0..last).rev() {
        column[age] = column[age >> bits] / (1_u32 << bits) as f32;
    }
}

/// The unit becomes larger, by `bits`: what were many ages are one.
fn compress(column: &mut [f32], bits: u32) {
    if bits == 0 {
        return;
    }
    for age in 0..AGES >> bits {
        let first = age << bits;
        let sum = (1..1 << bits).fold(column[first], |sum, next| sum + column[first + next]);
        column[age] = sum;
    }
    column[AGES >> bits..AGES - 1].fill(0.0);
}

impl Class {
    /// The density at each age: the hits at this age and later ones, for each turn that files live
    /// from there on.
    fn model(&mut self) {
        let at_last = |column: &[f32]| column.get(AGES - 1).copied().unwrap_or(0.0);
        let mut hits = at_last(&self.hits);
        let mut events = hits + at_last(&self.evictions);
        let mut lifetime = events;
        for age in (0..self.hits.len().min(AGES - 1)).rev() {
            hits += self.hits[age];
            events += self.hits[age] + self.evictions[age];
            lifetime += events;
            self.densities[age] = if f64::from(events) > 1e-5 { hits / lifetime } else { 0.0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_the_doublings_that_an_age_needs() {
        for ages in (0..3 * AGES).step_by(7).chain([1, 2, 625, 10_000, 19_999, AGES]) {
            let (mut age, mut doublings) = (ages, 0);
            while age < AGES && doublings < 15 {
                (age, doublings) = (age * 2, doublings + 1);
            }
            assert_eq!(Classes::of(ages), doublings, "{ages}");
        }
    }

    #[test]
    fn other_units_of_age_keep_the_events() {
        let sum = |column: &[f32]| column.iter().sum::<f32>();
        let mut column = vec![0.0; AGES];
        column[..64].fill(4.0);
        stretch(&mut column, 2);
        assert_eq!((sum(&column), column[0], column[255], column[256]), (256.0, 1.0, 1.0, 0.0));
        compress(&mut column, 2);
        assert_eq!((sum(&column), column[0], column[63], column[64]), (256.0, 4.0, 4.0, 0.0));
    }
}
