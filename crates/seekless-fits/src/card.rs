//! A card: the 80 characters of one line of a FITS header. It holds a keyword, its value and a
//! comment.

/// The length of a card in bytes.
pub(super) const CARD_BYTES: usize = 80;

/// One card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Card(pub(super) [u8; CARD_BYTES]);

/// The value of a card.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    Logical(bool),
    Integer(i128),
    Real(f64),
    Text(&'a str),
}

impl Card {
    /// A card with a value, and as much of the comment as fits.
    pub(super) fn new(key: &str, value: Value<'_>, comment: &str) -> Self {
        let value = match value {
            Value::Logical(yes) => format!("{:>20}", if yes { "T" } else { "F" }),
            Value::Integer(whole) => format!("{whole:>20}"),
            // Rust writes the shortest digits that read back as this number, with a point or
            // exponent.
            Value::Real(real) => format!("{:>20}", format!("{real:?}").to_ascii_uppercase()),
            Value::Text(text) => format!("{:<20}", format!("'{:<8}'", text.replace('\'', "''"))),
        };
        Card::filled(&format!("{key:<8}= {value} / {comment}"))
    }

    /// A card of history, which has no value.
    pub(super) fn history(text: &str) -> Self {
        Card::filled(&format!("HISTORY {text}"))
    }

    fn filled(text: &str) -> Self {
        let mut card = [b' '; CARD_BYTES];
        for (place, byte) in card.iter_mut().zip(text.bytes()) {
            *place = if (0x20..0x7f).contains(&byte) { byte } else { b'?' };
        }
        Card(card)
    }

    /// The keyword without trailing blanks; empty if it is not text.
    pub(super) fn key(&self) -> &str {
        std::str::from_utf8(&self.0[..8]).map_or("", str::trim_end)
    }

    /// Whether the keyword is text. Data that is not a header hardly ever passes this check.
    pub(super) fn is_text(&self) -> bool {
        self.0[..8].iter().all(|byte| (0x20..0x7f).contains(byte))
    }

    /// The value as it is written, without quotes, or `None` if the card has none.
    pub(super) fn value(&self) -> Option<String> {
        self.parts()
            .map(|(value, _)| value)
            .filter(|value| !value.is_empty() || self.0[10..].contains(&b'\''))
    }

    /// The comment after the value.
    pub(super) fn comment(&self) -> String {
        let rest = self.parts().map(|(_, rest)| rest).unwrap_or_default();
        rest.split_once('/').map_or_else(String::new, |(_, comment)| comment.trim().to_owned())
    }

    /// The value, and the rest of the card after it.
    fn parts(&self) -> Option<(String, String)> {
        if &self.0[8..10] != b"= " {
            return None;
        }
        let field = String::from_utf8_lossy(&self.0[10..]);
        let field = field.trim();
        let Some(quoted) = field.strip_prefix('\'') else {
            let end = field.find('/').unwrap_or(field.len());
            return Some((field[..end].trim().to_owned(), field[end..].to_owned()));
        };
        let mut text = String::new();
        let mut characters = quoted.chars().peekable();
        while let Some(character) = characters.next() {
            // FITS doubles a quote within text.
            if character == '\'' && characters.next_if_eq(&'\'').is_none() {
                break;
            }
            text.push(character);
        }
        Some((text.trim_end().to_owned(), characters.collect()))
    }

    /// The whole card without trailing blanks, for messages.
    pub(super) fn text(&self) -> String {
        let text: String = self
            .0
            .iter()
            .map(|&byte| if (0x20..0x7f).contains(&byte) { byte as char } else { '?' })
            .collect();
        text.trim_end().to_owned()
    }
}

/// Parses a real number as FITS writes it, also with `D` before the exponent.
pub(super) fn real(text: &str) -> Option<f64> {
    // Rust would also parse "inf" and "nan", which FITS does not allow.
    let figures = text
        .bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'E' | b'e' | b'D' | b'd'));
    let number = figures.then(|| text.replace(['D', 'd'], "E").parse().ok()).flatten()?;
    f64::is_finite(number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(text: &str) -> Card {
        Card::filled(text)
    }

    #[test]
    fn values_are_what_stands_between_the_equals_sign_and_the_slash() {
        for (text, value) in [
            ("BITPIX  =                  -32 / pixels", Some("-32")),
            ("SIMPLE  =                    T", Some("T")),
            ("OBJECT  = 'it''s a / b '       / a name", Some("it's a / b")),
            ("EMPTY   =                      / nothing", None),
            ("COMMENT = no value, but ... one", Some("no value, but ... one")),
            ("HISTORY made of cards", None),
        ] {
            assert_eq!(card(text).value().as_deref(), value, "{text}");
        }
        assert_eq!(card("OBJECT  = 'a / b'  / an object's name").comment(), "an object's name");
        assert_eq!(card("EMPTY   = ''       / no text").value().as_deref(), Some(""));
        assert_eq!(card("BITPIX  =   8").comment(), "");
    }

    #[test]
    fn what_is_written_reads_back() {
        for value in [0.0, -1.5, 1e-300, 2.0_f64.powi(70), 0.1 + 0.2] {
            let written = Card::new("BZERO", Value::Real(value), "zero").value().expect("a value");
            assert_eq!(real(&written), Some(value), "{written}");
        }
        assert_eq!(Card::new("EXTNAME", Value::Text("it's"), "").value().as_deref(), Some("it's"));
        assert_eq!(
            Card::new("EXTEND", Value::Logical(true), "").text(),
            "EXTEND  =                    T /"
        );
        assert_eq!(real("1.5D3"), Some(1500.0));
        assert_eq!((real("NaN"), real("1E999"), real("x")), (None, None, None));
    }
}
