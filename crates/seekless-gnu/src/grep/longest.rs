//! Finds the longest of the matches that begin at one place, as POSIX requires. A lazy automaton
//! runs until no longer match is possible.

use regex_automata::hybrid::dfa::{self, DFA};
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures, pikevm};
use regex_automata::util::look::LookMatcher;
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::Hir;

/// The most memory that an automaton may take; beyond it the expression is refused.
pub(super) const AUTOMATON_BYTES_MAX: usize = 64 << 20;

/// Finds the end of the longest match from a given place.
#[derive(Debug)]
pub(super) struct Longest {
    automaton: Option<(DFA, dfa::Cache)>,
    /// The fallback for cases that the automaton cannot decide: word boundaries beside letters
    /// beyond ASCII.
    simulation: pikevm::PikeVM,
    simulation_cache: Option<pikevm::Cache>,
}

impl Longest {
    pub(super) fn new(expression: &Hir, terminator: u8) -> Result<Self, Box<thompson::BuildError>> {
        let mut look = LookMatcher::new();
        look.set_line_terminator(terminator);
        let config = thompson::Config::new()
            .utf8(false)
            .nfa_size_limit(Some(AUTOMATON_BYTES_MAX))
            .which_captures(WhichCaptures::Implicit)
            .look_matcher(look);
        let nfa: NFA = thompson::Compiler::new().configure(config).build_from_hir(expression)?;
        let simulation = pikevm::Builder::new()
            .configure(pikevm::Config::new().match_kind(MatchKind::All))
            .build_from_nfa(nfa.clone())?;
        let config = DFA::config()
            .match_kind(MatchKind::All)
            .unicode_word_boundary(true)
            .skip_cache_capacity_check(true)
            .cache_capacity(8 << 20);
        let automaton = dfa::Builder::new().configure(config).build_from_nfa(nfa).ok().map(|dfa| {
            let cache = dfa.create_cache();
            (dfa, cache)
        });
        Ok(Longest { automaton, simulation, simulation_cache: None })
    }

    /// The end of the longest match that begins at `start` and ends at `limit` or before.
    pub(super) fn end(&mut self, text: &[u8], start: usize, limit: usize) -> Option<usize> {
        let input = Input::new(text).span(start..limit).anchored(Anchored::Yes);
        if let Some((dfa, cache)) = &mut self.automaton
            && let Ok(found) = dfa.try_search_fwd(cache, &input)
        {
            return found.map(|found| found.offset());
        }
        let simulation = &self.simulation;
        let cache = self.simulation_cache.get_or_insert_with(|| simulation.create_cache());
        let mut slots = [None, None];
        simulation.search_slots(cache, &input, &mut slots)?;
        slots[1].map(|end| end.get())
    }
}
