//! An algorithm that is a list of patterns: what `ondemand` and `linux` share.

use super::options::{Options, PAGE_BYTES};
use super::pattern::{Call, Decision, Pattern, State};
use super::slab::Slab;
use super::{Ahead, Handle, PageNo, Read, Readahead, Trigger, Window};

/// What makes an algorithm.
#[derive(Debug)]
pub(super) struct Algorithm {
    /// The patterns in the order in which they are asked. The last one recognises every call.
    pub(super) patterns: &'static [Pattern],
    /// The page of [`State::previous`] after a read that ended before the byte given.
    pub(super) previous: fn(u64) -> PageNo,
    /// Has the last word on a window that was decided for a call.
    pub(super) adjust: fn(&Call<'_>, Decision) -> Decision,
    /// How many pages a miss fetches while the device is congested; `None`: as many as ever.
    pub(super) congested_miss_pages: Option<u64>,
    /// Whether a window that reaches the end of the file has no marker.
    pub(super) ends_at_end_of_file: bool,
}

/// An algorithm, and what it knows of each open file.
#[derive(Debug)]
pub(super) struct Matcher {
    algorithm: &'static Algorithm,
    options: Options,
    files: Slab<State>,
}

impl Matcher {
    pub(super) fn new(algorithm: &'static Algorithm, options: Options) -> Self {
        Self { algorithm, options, files: Slab::default() }
    }
}

impl Readahead for Matcher {
    fn open(&mut self, file: Handle) {
        self.files.open(file);
    }

    fn close(&mut self, file: Handle) {
        self.files.close(file);
    }

    /// Lets the first pattern decide that recognises the call, and carries its decision out.
    fn on_page(&mut self, read: Read, page: PageNo, why: Trigger, ahead: &mut dyn Ahead) {
        let Some(state) = self.files.get(read.file) else { return };
        let max = u64::from(self.options.max_pages.min(ahead.budget_pages()));
        let asked = (read.offset + read.bytes).div_ceil(PAGE_BYTES).saturating_sub(page).max(1);
        let call = Call { page, asked, why, max, state, ahead: &*ahead };
        match decide(self.algorithm, &call) {
            Decision::Window { first, pages, lead } => {
                let lead = self.options.lead.of(lead, pages);
                *state = State { first, pages, lead, previous: state.previous };
                let ends = self.algorithm.ends_at_end_of_file && first + pages >= ahead.pages();
                let marker = (lead > 0 && !ends).then(|| state.marker());
                ahead.submit(Window { first, pages: count(pages), marker });
            }
            Decision::Once { first, pages } => {
                ahead.submit(Window { first, pages: count(pages), marker: None });
            }
            Decision::Nothing => {}
        }
    }

    fn on_read_end(&mut self, read: Read, end_byte: u64) {
        if let Some(state) = self.files.get(read.file).filter(|_| end_byte > read.offset) {
            state.previous = Some((self.algorithm.previous)(end_byte));
        }
    }
}

fn count(pages: u64) -> u32 {
    u32::try_from(pages).unwrap_or(u32::MAX)
}

fn decide(algorithm: &Algorithm, call: &Call<'_>) -> Decision {
    let congested = call.ahead.congested();
    match algorithm.congested_miss_pages {
        _ if call.is_async() && (call.max == 0 || congested) => return Decision::Nothing,
        Some(pages) if congested => return Decision::Once { first: call.page, pages },
        _ if call.max == 0 => return Decision::Once { first: call.page, pages: call.asked },
        _ => {}
    }
    let decision = algorithm.patterns.iter().find_map(|pattern| pattern(call));
    (algorithm.adjust)(call, decision.unwrap_or(Decision::Nothing))
}
