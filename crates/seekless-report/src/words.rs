//! Words into lines: broken at spaces, and a longer word where it must be.

use crate::drawing::text_width;

/// Lines at most `width` pixels wide in the drawing's font.
pub(crate) fn wrap_pixels(text: &str, size: f64, bold: bool, width: f64) -> Vec<String> {
    let fits = |line: &str| text_width(line, size, bold) <= width;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        if let Some(line) = lines.last_mut()
            && fits(&format!("{line} {word}"))
        {
            line.push(' ');
            line.push_str(word);
            continue;
        }
        lines.push(String::new());
        for letter in word.chars() {
            if let Some(line) = lines.last()
                && !line.is_empty()
                && !fits(&format!("{line}{letter}"))
            {
                lines.push(String::new());
            }
            lines.last_mut().into_iter().for_each(|line| line.push(letter));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping_keeps_every_letter_and_the_width() {
        let long = "y".repeat(300);
        let lines = wrap_pixels(&format!("one two {long} three"), 12.0, false, 200.0);
        assert_eq!(lines.concat().replace(' ', ""), format!("onetwo{long}three"));
        assert!(lines.iter().all(|line| text_width(line, 12.0, false) <= 200.0));
        assert_eq!(lines[0], "one two");
        assert!(wrap_pixels(" ", 12.0, false, 9.0).is_empty());
    }
}
