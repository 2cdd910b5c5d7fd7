//! Columns: one array a property, with an element an id. A column only grows.

/// Makes room for ids below `ids`, each with `value`; never shrinks. A new column of zeros takes
/// memory only where it is used.
pub(crate) fn grow<T: Clone>(column: &mut Vec<T>, ids: u32, value: T) {
    if column.is_empty() {
        // The allocator hands out zeros without touching them.
        *column = vec![value; ids as usize];
    } else if ids as usize > column.len() {
        column.resize(ids as usize, value);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_column_keeps_what_it_has() {
        let mut column = vec![7, 8];
        super::grow(&mut column, 3, 0);
        super::grow(&mut column, 1, 0);
        assert_eq!(column, [7, 8, 0]);
    }
}
