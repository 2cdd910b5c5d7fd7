//! The before-and-after picture of a README: labelled bars of time as a small SVG, written by hand.
//!
//! Light and dark: the colours are for a light page, and a style rule swaps them where the reader asks for dark. Labels
//! stand above their bars and long text is wrapped, so nothing overlaps whatever the words are.

use seekless_device::units;
use std::fmt::Write;

const WIDTH: u32 = 720;
const MARGIN: u32 = 24;
/// Room to the right of the longest bar for its figure.
const FIGURE: u32 = 176;
const BAR: u32 = 22;
/// Characters of a line at each text size; a wide font still fits.
const TITLE_CHARACTERS: usize = 62;
const LABEL_CHARACTERS: usize = 84;
const CAPTION_CHARACTERS: usize = 90;

const STYLE: &str = "\
.page{fill:#ffffff}.ink{fill:#1f2328}.quiet{fill:#59636e}.track{fill:#eaeef2}.before{fill:#9a6700}.after{fill:#1a7f37}
text{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif}
@media (prefers-color-scheme:dark){.page{fill:#0d1117}.ink{fill:#e6edf3}.quiet{fill:#9198a1}.track{fill:#21262d}.before{fill:#d29922}.after{fill:#3fb950}}";

/// Draws `rows` of (label, seconds) as bars: the first is *before*, the others *after*, with their ratio to the first.
/// The caption should say the command, the device and the machine. Returns a whole SVG document.
#[must_use]
pub fn before_after_svg(title: &str, rows: &[(&str, f64)], caption: &str) -> String {
    let mut body = String::new();
    let mut y = MARGIN;
    for line in wrap(title, TITLE_CHARACTERS) {
        y += 22;
        text(&mut body, (MARGIN, y), "ink", 19, 600, &line);
    }
    y += 14;
    let longest = rows.iter().map(|row| row.1).filter(|seconds| seconds.is_finite()).fold(0.0, f64::max);
    let before = rows.first().map_or(0.0, |row| row.1);
    for (index, &(label, seconds)) in rows.iter().enumerate() {
        y = bar(&mut body, y, label, &figure(seconds, before, index == 0), seconds / longest, index == 0);
    }
    y += 8;
    for line in wrap(caption, CAPTION_CHARACTERS) {
        y += 18;
        text(&mut body, (MARGIN, y), "quiet", 13, 400, &line);
    }
    document(title, &body, y + MARGIN)
}

fn document(title: &str, body: &str, height: u32) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n\
         <rect class=\"page\" width=\"{WIDTH}\" height=\"{height}\" rx=\"8\" fill=\"#ffffff\"/>\n{body}</svg>\n",
        escape(title)
    )
}

/// One label with its bar below and its figure behind; returns where the next may start.
fn bar(body: &mut String, y: u32, label: &str, figure: &str, share: f64, is_before: bool) -> u32 {
    let mut y = y;
    for line in wrap(label, LABEL_CHARACTERS) {
        y += 18;
        text(body, (MARGIN, y), "ink", 14, 400, &line);
    }
    y += 7;
    let room = WIDTH - 2 * MARGIN - FIGURE;
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let length = (share * f64::from(room)).max(2.0);
    let (class, fill) = if is_before { ("before", "#9a6700") } else { ("after", "#1a7f37") };
    rectangle(body, y, f64::from(room), "track", "#eaeef2");
    rectangle(body, y, length, class, fill);
    text(body, (MARGIN + room + 12, y + 16), "ink", 14, 600, figure);
    y + BAR + 8
}

fn rectangle(body: &mut String, y: u32, width: f64, class: &str, fill: &str) {
    let _ = writeln!(
        body,
        "<rect class=\"{class}\" x=\"{MARGIN}\" y=\"{y}\" width=\"{width:.1}\" height=\"{BAR}\" rx=\"3\" fill=\"{fill}\"/>"
    );
}

fn text(body: &mut String, (x, y): (u32, u32), class: &str, size: u32, weight: u32, line: &str) {
    let _ = writeln!(
        body,
        "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" font-size=\"{size}\" font-weight=\"{weight}\">{}</text>",
        escape(line)
    );
}

/// The bar's figure: its time, and how much faster than the first it is.
fn figure(seconds: f64, before: f64, is_before: bool) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "unknown".to_owned();
    }
    let time = units::format_duration((seconds * 1e9) as u64);
    let ratio = before / seconds;
    let digits = if ratio < 0.95 { 2 } else { 1 }; // else a slow pack would be 0.0×
    if is_before || !ratio.is_finite() { time } else { format!("{time}  ({ratio:.digits$}×)") }
}

/// Lines of at most `characters` characters, broken at spaces; a longer word is broken where it must be.
fn wrap(text: &str, characters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut used = 0;
    for word in text.split_whitespace() {
        let letters: Vec<char> = word.chars().collect();
        for piece in letters.chunks(characters / 2) {
            let length: usize = piece.iter().map(|&letter| columns(letter)).sum();
            let starts_word = std::ptr::eq(piece.as_ptr(), letters.as_ptr());
            let space = usize::from(starts_word && used > 0);
            if lines.is_empty() || used + space + length > characters {
                lines.push(String::new());
                used = 0;
            } else if space == 1 {
                used += 1;
                lines.last_mut().into_iter().for_each(|line| line.push(' '));
            }
            lines.last_mut().into_iter().for_each(|line| line.extend(piece));
            used += length;
        }
    }
    lines
}

/// A rough width: East Asian and wider letters take two columns.
fn columns(letter: char) -> usize {
    if u32::from(letter) >= 0x1100 && !('\u{2000}'..='\u{2bff}').contains(&letter) { 2 } else { 1 }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
#[path = "picture/tests.rs"]
mod tests;
