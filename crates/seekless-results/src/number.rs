//! Numbers as a table prints them.

/// The number with as many digits behind the point as asked for, else with as many as it needs.
/// Thousands are set apart from 10,000 on.
#[must_use]
pub fn number(value: f64, decimals: Option<usize>) -> String {
    let text = match decimals {
        Some(decimals) => format!("{value:.decimals$}"),
        None => format!("{value}"),
    };
    let (sign, text) = text.strip_prefix('-').map_or(("", text.as_str()), |rest| ("-", rest));
    let (whole, rest) =
        text.split_once('.').map_or((text, None), |(whole, rest)| (whole, Some(rest)));
    let whole = if whole.len() > 4 { grouped(whole) } else { whole.to_owned() };
    match rest {
        Some(rest) => format!("{sign}{whole}.{rest}"),
        None => format!("{sign}{whole}"),
    }
}

fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_whole() {
        let plain = [0.731, 12.0, 4_408.0, 36_266.0, 1_234_567.5, -0.6];
        let shown = ["0.731", "12", "4408", "36,266", "1,234,567.5", "-0.6"];
        assert_eq!(plain.map(|value| number(value, None)), shown);
        assert_eq!(number(0.6, Some(2)), "0.60");
    }
}
