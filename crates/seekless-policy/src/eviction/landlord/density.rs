//! Credit for each unit of weight, by division or by a stored reciprocal: the two ways that
//! Wassenberg 2006 compares in section 3.5.3.

/// A smaller credit counts as 0, as in 0 A.D.
pub(super) const NO_CREDIT: f32 = 1e-4;
/// Fraction of the lost credit that a hit restores, as in 0 A.D.
const RESTORE: f32 = 0.75;

/// How a credit is divided by a weight.
pub trait Density: Copy {
    /// The divisor for a weight.
    fn new(weight: f32) -> Self;
    /// `credit` for each unit of `weight`. The weight is that of [`Density::new`].
    fn density(self, credit: f32, weight: f32) -> f32;
}

/// Divides each time.
#[derive(Clone, Copy, Debug)]
pub struct Division;

impl Density for Division {
    fn new(_weight: f32) -> Self {
        Self
    }

    #[inline]
    fn density(self, credit: f32, weight: f32) -> f32 {
        credit / weight
    }
}

/// Divides once and multiplies each time: 4 bytes more for each file.
#[derive(Clone, Copy, Debug)]
pub struct Reciprocal(f32);

impl Density for Reciprocal {
    fn new(weight: f32) -> Self {
        Self(1.0 / weight)
    }

    #[inline]
    fn density(self, credit: f32, _weight: f32) -> f32 {
        credit * self.0
    }
}

/// A file that pays rent. 8 bytes, 12 with the reciprocal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tenant<D> {
    pub(super) credit: f32,
    weight: f32,
    divisor: D,
}

impl<D: Density> Tenant<D> {
    /// A weight of 0 counts as 1, so that it ranks.
    pub(super) fn new(weight: u64, cost: u32) -> Self {
        let weight = weight.max(1) as f32;
        Self { credit: cost as f32, weight, divisor: D::new(weight) }
    }

    #[inline]
    pub(super) fn density(&self) -> f32 {
        self.divisor.density(self.credit, self.weight)
    }

    #[inline]
    pub(super) fn charge(&mut self, rent: f32) {
        self.credit -= rent * self.weight;
    }

    /// It keeps its credit.
    pub(super) fn reweigh(&mut self, weight: u64) {
        *self = Self { credit: self.credit, ..Self::new(weight, 0) };
    }

    pub(super) fn restore(&mut self, cost: u32) {
        self.credit += (cost as f32 - self.credit).max(0.0) * RESTORE;
    }
}
