//! Bars of text for a terminal: one row a figure, the longest fills the width.

/// The eighths of a block, so that short bars still differ.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// One bar.
#[derive(Clone, Debug, PartialEq)]
pub struct BarRow {
    /// What stands before the bar.
    pub label: String,
    /// The bar's length relative to the other rows; negative or not finite counts as zero.
    pub value: f64,
    /// What stands behind the bar: the figure in words.
    pub figure: String,
}

/// Draws `rows` with the longest bar `width` characters long; every line ends with a newline.
#[must_use]
pub fn bars(rows: &[BarRow], width: usize) -> String {
    let longest = rows.iter().map(|row| length(row.value)).fold(0.0, f64::max);
    let cells = rows.iter().map(|row| {
        let bar =
            if longest > 0.0 { bar(length(row.value) / longest, width) } else { String::new() };
        vec![row.label.clone(), format!("{bar} {}", row.figure)]
    });
    crate::table::lay_out(&[], &cells.collect::<Vec<_>>(), &[false, false])
}

fn length(value: f64) -> f64 {
    if value.is_finite() { value.max(0.0) } else { 0.0 }
}

/// A bar of `share` of the width; anything above nothing shows at least an eighth of a block.
fn bar(share: f64, width: usize) -> String {
    let eighths = (share * width as f64 * 8.0).round() as usize;
    let eighths = if share > 0.0 { eighths.max(1) } else { 0 };
    let mut bar = "█".repeat(eighths / 8);
    bar.extend(EIGHTHS.get((eighths % 8).wrapping_sub(1)));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(label: &str, value: f64, figure: &str) -> BarRow {
        BarRow { label: label.into(), value, figure: figure.into() }
    }

    #[test]
    fn the_longest_fills_the_width_and_the_others_keep_their_share() {
        let text = bars(
            &[row("loose files", 8.0, "8.0 s"), row("pack", 1.2, "1.2 s"), row("none", 0.0, "0 s")],
            10,
        );
        assert_eq!(
            text,
            "loose files  ██████████ 8.0 s\npack         █▌ 1.2 s\nnone          0 s\n"
        );
    }

    #[test]
    fn odd_values_are_no_bars() {
        assert_eq!(
            bars(&[row("a", f64::NAN, "unknown"), row("b", -1.0, "-1")], 4),
            "a   unknown\nb   -1\n"
        );
    }

    #[test]
    fn a_sliver_still_shows() {
        assert!(bars(&[row("long", 1e9, ""), row("short", 1.0, "")], 20).contains('▏'));
    }
}
