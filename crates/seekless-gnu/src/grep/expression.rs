//! Translates a parsed expression into the form that the automata take: `regex_syntax`'s `Hir`.

use super::Locale;
use super::classes::Characters;
use super::syntax::Ast;
use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, Look, Repetition,
};

impl Characters {
    /// Translates an expression. A back-reference becomes an expression that matches anything, so
    /// the result matches at least where the original does.
    pub(super) fn hir(self, ast: &Ast) -> Hir {
        match ast {
            Ast::Empty => Hir::empty(),
            Ast::Char(character) => self.literal(*character),
            Ast::Byte(byte) => Hir::literal([*byte]),
            Ast::Any => Hir::class(self.any()),
            Ast::Set(set) => Hir::class(self.class(set)),
            Ast::LineStart => Hir::look(Look::StartLF),
            Ast::LineEnd => Hir::look(Look::EndLF),
            Ast::WordStart => self.look(Look::WordStartAscii, Look::WordStartUnicode),
            Ast::WordEnd => self.look(Look::WordEndAscii, Look::WordEndUnicode),
            Ast::WordEdge => self.look(Look::WordAscii, Look::WordUnicode),
            Ast::NotWordEdge => self.look(Look::WordAsciiNegate, Look::WordUnicodeNegate),
            Ast::Group(_, inner) => self.hir(inner),
            Ast::Back(_) => repeat(Hir::class(self.any_byte()), 0, None),
            Ast::Repeat(inner, low, high) => repeat(self.hir(inner), *low, *high),
            Ast::Concat(parts) => Hir::concat(parts.iter().map(|part| self.hir(part)).collect()),
            Ast::Either(parts) => {
                Hir::alternation(parts.iter().map(|part| self.hir(part)).collect())
            }
        }
    }

    fn literal(self, character: char) -> Hir {
        if u32::from(character) == u32::from(self.terminator) {
            return Hir::fail();
        }
        let variants = self.one(character);
        if let [only] = variants[..] {
            return Hir::literal(only.encode_utf8(&mut [0; 4]).as_bytes());
        }
        Hir::class(match self.locale {
            Locale::C => Class::Bytes(ClassBytes::new(
                variants.iter().map(|&variant| ClassBytesRange::new(variant as u8, variant as u8)),
            )),
            Locale::Utf8 => Class::Unicode(ClassUnicode::new(
                variants.iter().map(|&variant| ClassUnicodeRange::new(variant, variant)),
            )),
        })
    }

    fn look(self, in_c: Look, in_utf8: Look) -> Hir {
        Hir::look(if self.locale == Locale::C { in_c } else { in_utf8 })
    }

    fn any_byte(self) -> Class {
        let mut class = ClassBytes::new([ClassBytesRange::new(self.terminator, self.terminator)]);
        class.negate();
        Class::Bytes(class)
    }
}

fn repeat(sub: Hir, min: u32, max: Option<u32>) -> Hir {
    Hir::repetition(Repetition { min, max, greedy: true, sub: Box::new(sub) })
}

/// Matches whole lines only.
pub(super) fn whole_line(inner: Hir) -> Hir {
    Hir::concat(vec![Hir::look(Look::StartLF), inner, Hir::look(Look::EndLF)])
}

/// Matches only where no word character comes before or after, in the C locale.
pub(super) fn whole_words(inner: Hir) -> Hir {
    Hir::concat(vec![Hir::look(Look::WordStartHalfAscii), inner, Hir::look(Look::WordEndHalfAscii)])
}
