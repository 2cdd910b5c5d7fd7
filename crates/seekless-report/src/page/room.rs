//! What fits into the room of a section.

/// The first of `costs` that fit into `room` together, at most `most` of them.
pub(super) fn fitting(costs: impl Iterator<Item = usize>, room: usize, most: usize) -> usize {
    let mut used = 0_usize;
    let fits = |cost: &usize| {
        used = used.saturating_add(*cost);
        used <= room
    };
    costs.take(most).take_while(fits).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_fit_than_there_is_room_or_a_limit() {
        assert_eq!(fitting([4, 4, 4].into_iter(), 8, 9), 2);
        assert_eq!(fitting([4, 4, 4].into_iter(), 99, 1), 1);
        assert_eq!(fitting([usize::MAX, 4].into_iter(), 99, 9), 0);
    }
}
