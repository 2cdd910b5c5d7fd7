//! The links and the headings of a Markdown text.

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};
use std::collections::BTreeMap;
use std::ops::Range;

/// A link or a picture.
#[derive(Debug, PartialEq)]
pub(super) struct Link {
    /// Where it leads, as it is written.
    pub(super) target: String,
    /// All of `[text](target)`, in bytes.
    pub(super) whole: Range<usize>,
    pub(super) is_picture: bool,
    /// Counted from 1.
    pub(super) line: usize,
    /// Whether it is written `[text](target)`; only such links are changed on the site.
    pub(super) is_inline: bool,
}

impl Link {
    /// The file and the heading that it names.
    pub(super) fn parts(&self) -> (&str, Option<&str>) {
        match self.target.split_once('#') {
            Some((file, heading)) => (file, Some(heading)),
            None => (&self.target, None),
        }
    }
}

/// The links of a text, in their order.
pub(super) fn links(text: &str) -> Vec<Link> {
    let events = Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter();
    let found = events.filter_map(|(event, whole)| {
        let (kind, target, is_picture) = match event {
            Event::Start(Tag::Link { link_type, dest_url, .. }) => (link_type, dest_url, false),
            Event::Start(Tag::Image { link_type, dest_url, .. }) => (link_type, dest_url, true),
            _ => return None,
        };
        let line = text[..whole.start].matches('\n').count() + 1;
        let is_inline = kind == LinkType::Inline;
        Some(Link { target: target.into_string(), whole, is_picture, line, is_inline })
    });
    found.collect()
}

/// The names of a text's headings in links, as GitHub and mdBook make them: a second heading of the
/// same name gets `-1`.
pub(super) fn headings(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(words) | Event::Code(words) => {
                if let Some(heading) = &mut heading {
                    *heading += &words;
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let name = name(&heading.take().unwrap_or_default());
                let before = times.entry(name.clone()).or_default();
                names.push(if *before == 0 { name } else { format!("{name}-{before}") });
                *before += 1;
            }
            _ => {}
        }
    }
    names
}

/// Small letters, a dash for each blank, no punctuation.
fn name(heading: &str) -> String {
    let small = heading.trim().to_lowercase();
    let kept = small.chars().filter(|&at| at.is_alphanumeric() || "- _".contains(at));
    kept.map(|at| if at == ' ' { '-' } else { at }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_of_code() {
        let text = "`[a](b)` [one](x.md#y)\n\n```\n[c](d)\n```\n| t |\n|---|\n| ![p](p.svg) |\n";
        let found = links(text);
        let shown: Vec<_> = found.iter().map(|link| (&*link.target, link.is_picture)).collect();
        assert_eq!(shown, [("x.md#y", false), ("p.svg", true)]);
        assert_eq!(&text[found[0].whole.clone()], "[one](x.md#y)");
        assert_eq!(found[0].parts(), ("x.md", Some("y")));
        assert_eq!([found[0].line, found[1].line], [1, 8]);
    }

    #[test]
    fn headings_are_named_as_in_links() {
        let text = "# `run`: what it does\n\n```\n# not one\n```\n\n## Why?\n\n## Why?\n";
        assert_eq!(headings(text), ["run-what-it-does", "why", "why-1"]);
    }
}
