//! Formats numbers as C's printf(3) does.

use super::Shape;

impl Shape {
    /// `%d` of a number that is not negative.
    pub(super) fn decimal(&self, value: usize) -> Vec<u8> {
        let sign = if self.plus { "+" } else { self.blank_sign() };
        self.whole(sign, &value.to_string(), value == 0)
    }

    /// `%o`
    pub(super) fn octal(&self, value: u32) -> Vec<u8> {
        let mut digits = format!("{value:o}");
        let padded = self.precision.is_some_and(|precision| precision > digits.len());
        if self.alternate && value != 0 && !padded {
            digits.insert(0, '0');
        }
        // With `#`, 0 is printed even if the precision is 0.
        self.whole("", &digits, value == 0 && !self.alternate)
    }

    fn blank_sign(&self) -> &'static str {
        if self.blank { " " } else { "" }
    }

    fn whole(&self, sign: &str, digits: &str, is_zero: bool) -> Vec<u8> {
        let digits = match self.precision {
            Some(0) if is_zero => String::new(),
            Some(precision) => format!("{digits:0>precision$}"),
            None => digits.to_owned(),
        };
        self.padded(sign, &digits, self.zero && self.precision.is_none())
    }

    /// `%g` of a number that is not negative.
    pub(super) fn real(&self, value: f64) -> Vec<u8> {
        let sign = if self.plus { "+" } else { self.blank_sign() };
        if value.is_infinite() {
            return self.padded(sign, "inf", false);
        }
        let digits = general(value, self.precision.unwrap_or(6).max(1), self.alternate);
        self.padded(sign, &digits, self.zero)
    }

    fn padded(&self, sign: &str, digits: &str, zeros: bool) -> Vec<u8> {
        let room = self.width.saturating_sub(sign.len() + digits.len());
        match (self.left, zeros) {
            (true, _) => format!("{sign}{digits}{:room$}", ""),
            (false, true) => format!("{sign}{:0>room$}{digits}", ""),
            (false, false) => format!("{:room$}{sign}{digits}", ""),
        }
        .into_bytes()
    }
}

/// Formats `digits` significant digits, with an exponent if `%g` would use one. Removes zeros at
/// the end unless `whole` is set.
fn general(value: f64, digits: usize, whole: bool) -> String {
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| match text.contains('.') {
        true if !whole => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        true => text.to_owned(),
        false if whole => format!("{text}."),
        false => text.to_owned(),
    };
    match usize::try_from(exponent) {
        Ok(above) if above >= digits => {}
        _ if exponent < -4 => {}
        _ => {
            let places = i32::try_from(digits).map_or(0, |digits| digits - 1 - exponent).max(0);
            return trim(&format!("{value:.*}", places as usize));
        }
    }
    format!("{}e{}{:02}", trim(mantissa), if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn general_numbers_are_written_as_c_does() {
        for (value, text) in [
            (1_365.333_333, "1365.33"),
            (0.0, "0"),
            (1.0, "1"),
            (0.5, "0.5"),
            (1_234_567.0, "1.23457e+06"),
            (0.000_012_3, "1.23e-05"),
            (999_999.5, "1e+06"),
        ] {
            assert_eq!(general(value, 6, false), text);
        }
        assert_eq!(general(1.0, 6, true), "1.00000");
        assert_eq!(general(8.0, 1, true), "8.");
    }

    #[test]
    fn flags_width_and_precision_are_printfs() {
        let shape = |text: &str| Shape::parse(text.as_bytes()).0;
        for (flags, value, text) in [
            ("+", 3, "+3"),
            (" ", 3, " 3"),
            ("+ 05", 3, "+0003"),
            ("-05", 3, "3    "),
            ("05.3", 3, "  003"),
            (".0", 0, ""),
        ] {
            assert_eq!(shape(flags).decimal(value), text.as_bytes(), "%{flags}d of {value}");
        }
        for (flags, value, text) in
            [("#", 0o755, "0755"), ("#", 0, "0"), ("#.5", 0o755, "00755"), ("06", 0o7, "000007")]
        {
            assert_eq!(shape(flags).octal(value), text.as_bytes(), "%{flags}o of {value:o}");
        }
        assert_eq!(shape("08.2").real(1.0 / 3.0), b"00000.33");
    }
}
