//! Splits the text of a date into numbers, words and signs.

use super::SECOND_NS;
use super::token::{Number, Token};
use super::words::{self, LocalZones};

/// Longer words are cut off.
const WORD_MAX: usize = 19;

/// Splits a text into tokens; `None` if a word is unknown or a number is too large.
pub(super) fn tokens(text: &[u8], local: &LocalZones) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_ascii_start();
        let Some(&first) = rest.first() else { return Some(tokens) };
        match first {
            b'0'..=b'9' => tokens.push(number(&mut rest, None)?),
            b'+' | b'-' => {
                rest = rest[1..].trim_ascii_start();
                // A sign is ignored unless a number follows.
                if rest.first().is_some_and(u8::is_ascii_digit) {
                    tokens.push(number(&mut rest, Some(first == b'-'))?);
                }
            }
            b'(' => match after_comment(rest) {
                Some(after) => rest = after,
                None => return Some(tokens),
            },
            _ if first.is_ascii_alphabetic() => {
                let end = rest.iter().position(|byte| !byte.is_ascii_alphabetic() && *byte != b'.');
                let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
                tokens.push(words::token(
                    &word[..word.len().min(WORD_MAX)].to_ascii_uppercase(),
                    local,
                )?);
                rest = after;
            }
            _ => {
                tokens.push(Token::Sign(first));
                rest = &rest[1..];
            }
        }
    }
}

/// Reads a number. `negative` is the sign before it, if any.
fn number(rest: &mut &[u8], negative: Option<bool>) -> Option<Token> {
    let text = *rest;
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let minus = negative == Some(true);
    let value = text[..digits].iter().try_fold(0_i64, |value, digit| {
        let digit = i64::from(digit - b'0');
        value.checked_mul(10)?.checked_add(if minus { -digit } else { digit })
    })?;
    let after = &text[digits..];
    let [b'.' | b',', part @ ..] = after else {
        *rest = after;
        return Some(Token::Number(Number {
            value,
            digits,
            signed: negative.is_some(),
            negative: minus,
        }));
    };
    let part_digits = part.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if part_digits == 0 {
        *rest = after;
        return Some(Token::Number(Number {
            value,
            digits,
            signed: negative.is_some(),
            negative: minus,
        }));
    }
    let (part, after) = part.split_at(part_digits);
    let mut ns = part
        .iter()
        .chain(std::iter::repeat(&b'0'))
        .take(9)
        .fold(0_i128, |ns, digit| ns * 10 + i128::from(digit - b'0'));
    // Digits beyond nanoseconds round down.
    if minus && part.iter().skip(9).any(|&digit| digit != b'0') {
        ns += 1;
    }
    *rest = after;
    let ns = i128::from(value) * SECOND_NS + if minus { -ns } else { ns };
    Some(Token::Decimal { ns, signed: negative.is_some() })
}

/// The text after a comment in parentheses; `None` if the comment does not end.
fn after_comment(text: &[u8]) -> Option<&[u8]> {
    let mut nested = 0;
    let end = text.iter().position(|byte| {
        match byte {
            b'(' => nested += 1,
            b')' => nested -= 1,
            _ => {}
        }
        nested == 0
    })?;
    Some(&text[end + 1..])
}
