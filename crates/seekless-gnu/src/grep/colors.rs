//! Reads `GREP_COLORS`, which sets the terminal colours of the output's parts.

/// The colours of the output's parts. Each is an SGR sequence such as `01;31`, or empty for no
/// colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Colors {
    /// `sl`: selected lines.
    pub selected_line: String,
    /// `cx`: context lines.
    pub context_line: String,
    /// `ms`: matches in selected lines.
    pub selected_match: String,
    /// `mc`: matches in context lines, which are shown with -v only.
    pub context_match: String,
    /// `fn`: file names.
    pub file_name: String,
    /// `ln`: line numbers.
    pub line_number: String,
    /// `bn`: byte offsets.
    pub byte_number: String,
    /// `se`: separators.
    pub separator: String,
    /// `rv`: with -v, `sl` and `cx` change places.
    pub reverse: bool,
    /// `ne`: the rest of the terminal line is not cleared.
    pub no_clear: bool,
}

impl Default for Colors {
    fn default() -> Self {
        Colors {
            selected_line: String::new(),
            context_line: String::new(),
            selected_match: "01;31".into(),
            context_match: "01;31".into(),
            file_name: "35".into(),
            line_number: "32".into(),
            byte_number: "32".into(),
            separator: "36".into(),
            reverse: false,
            no_clear: false,
        }
    }
}

impl Colors {
    /// Reads the value of the variable over the defaults. Unknown names are ignored. As in GNU
    /// grep, a malformed colour ends the reading.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Colors::default().with(text)
    }

    /// As [`Colors::parse`], but the value of `GREP_COLOR` sets the colours of matches that
    /// `GREP_COLORS` leaves unset. Also returns whether it set one.
    #[must_use]
    pub fn parse_with_old(text: &str, old: &str) -> (Self, bool) {
        let is_color =
            !old.is_empty() && old.bytes().all(|byte| byte == b';' || byte.is_ascii_digit());
        if !is_color {
            return (Colors::parse(text), false);
        }
        // A value that the variable cannot have.
        const UNSET: &str = "unset";
        let unset = Colors {
            selected_match: UNSET.into(),
            context_match: UNSET.into(),
            ..Colors::default()
        };
        let mut colors = unset.with(text);
        let mut used = false;
        for color in [&mut colors.selected_match, &mut colors.context_match] {
            if color == UNSET {
                *color = old.to_owned();
                used = true;
            }
        }
        (colors, used)
    }

    fn with(self, text: &str) -> Self {
        let mut colors = self;
        for part in text.split(':') {
            let (name, value) =
                part.split_once('=').map_or((part, None), |(name, value)| (name, Some(value)));
            if value.is_some_and(|value| {
                !value.bytes().all(|byte| byte == b';' || byte.is_ascii_digit())
            }) {
                break;
            }
            if name.is_empty() && value.is_some() {
                break;
            }
            let text = || value.unwrap_or_default().to_string();
            match (name, value.is_some()) {
                ("mt", true) => (colors.selected_match, colors.context_match) = (text(), text()),
                ("ms", true) => colors.selected_match = text(),
                ("mc", true) => colors.context_match = text(),
                ("sl", true) => colors.selected_line = text(),
                ("cx", true) => colors.context_line = text(),
                ("fn", true) => colors.file_name = text(),
                ("ln", true) => colors.line_number = text(),
                ("bn", true) => colors.byte_number = text(),
                ("se", true) => colors.separator = text(),
                ("mt", false) => colors.context_match.clone_from(&colors.selected_match),
                ("rv", _) => colors.reverse = true,
                ("ne", _) => colors.no_clear = true,
                _ => {}
            }
        }
        colors
    }

    /// Starts a colour; prints nothing if it is empty.
    pub(super) fn start(&self, out: &mut Vec<u8>, color: &str) {
        if !color.is_empty() {
            out.extend_from_slice(b"\x1b[");
            out.extend_from_slice(color.as_bytes());
            out.extend_from_slice(if self.no_clear { b"m" } else { b"m\x1b[K" });
        }
    }

    /// Ends a colour; prints nothing if it is empty.
    pub(super) fn end(&self, out: &mut Vec<u8>, color: &str) {
        if !color.is_empty() {
            out.extend_from_slice(if self.no_clear { b"\x1b[m" } else { b"\x1b[m\x1b[K" });
        }
    }
}
