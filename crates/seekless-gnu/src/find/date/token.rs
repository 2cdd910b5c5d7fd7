//! What a date is made of: numbers, names and signs.

use super::Zone;

/// A token of a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Number(Number),
    /// A number with a fraction, in nanoseconds, and whether it has a sign.
    Decimal {
        ns: i128,
        signed: bool,
    },
    Meridian(Meridian),
    /// Counted from 1.
    Month(i64),
    /// Counted from 0, which is Sunday.
    Weekday(i32),
    Zone(Zone),
    /// The local zone by its name: 1 in summer time, 0 out of it, negative if the name does not
    /// decide.
    LocalZone(i32),
    SummerTime,
    Unit(Unit),
    /// Days from today.
    DayShift(i64),
    /// A word such as `next` or `third`.
    Ordinal(i64),
    /// `ago`, which negates the span before it.
    Ago(i64),
    /// The zone T, or the letter between a day and a time.
    T,
    Sign(u8),
}

/// A whole number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) value: i64,
    pub(super) digits: usize,
    pub(super) signed: bool,
    pub(super) negative: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meridian {
    Before,
    After,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Year,
    Month,
    Days(i64),
    Hour,
    Minute,
    Second,
}
