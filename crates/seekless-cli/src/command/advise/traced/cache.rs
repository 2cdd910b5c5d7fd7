//! Advice on a cache in words.

use crate::output::{line, table};
use seekless::device::units::{counted, format_bytes, format_count, format_duration};
use seekless::sim::Unit;
use seekless::tools::advise::traced::cache::{
    BaseSource, CacheAdvice, CacheMeasure, Outcome, ReadingAhead,
};
use std::fmt::Write as _;

/// Write-back and readahead matter from this share on.
const MATTERS: f64 = 0.05;
/// A choice is certain if one on half of the requests saves this share of it in the other half.
const CERTAIN: f64 = 0.5;

/// What a user reads. `words` name the traces for `seekless sim`.
pub(super) fn report(advice: &CacheAdvice, words: &str) -> String {
    heading(advice)
        + &sentence(advice)
        + &sizes(advice)
        + &helps(advice)
        + &further(advice)
        + &commands(advice, words)
}

pub(super) fn heading(advice: &CacheAdvice) -> String {
    let unit = match advice.unit {
        Unit::File => "file",
        Unit::Page => "page",
        Unit::Object => "object",
    };
    let bytes = match advice.in_bytes {
        true => format!(" of {}", format_bytes(advice.working_set)),
        false => String::new(),
    };
    let sampled = match advice.sampled_share < 1.0 {
        true => format!("; policies are compared on {} of them", percent(advice.sampled_share)),
        false => String::new(),
    };
    format!(
        "{}\n{} for {}{bytes}{sampled}\n\n",
        line(&advice.traces.join(" ")),
        counted(advice.requests, "request"),
        counted(advice.distinct, unit),
    )
}

/// The answer.
pub(super) fn sentence(advice: &CacheAdvice) -> String {
    let present = &advice.present;
    let base = size(advice, present.capacity);
    let mut text = match advice.base.source {
        BaseSource::Given => format!("Your cache of {base} hits"),
        BaseSource::Knee => format!("A cache of {base}, at the knee of the curve, hits"),
        BaseSource::Assumed => {
            format!("A cache of {base}, a tenth of all (--cache gives yours), hits")
        }
    };
    let _ = write!(text, " {} of the requests with {}", hits(present), line(&present.policy));
    let others = advice.measures.iter().map(|it| &it.outcome);
    let same = others.clone().filter(|it| it.policy == present.policy);
    if let Some(it) = same.min_by_key(|it| it.capacity) {
        let _ = write!(text, "; {} would hit {}", size(advice, it.capacity), hits(it));
    }
    if let Some(it) = others.into_iter().find(|it| it.capacity == present.capacity) {
        let _ = write!(text, "; {} at {base} {}", line(&it.policy), hits(it));
    }
    text + ".\n" + &knee(advice)
}

fn knee(advice: &CacheAdvice) -> String {
    let most = percent(1.0 - advice.compulsory_miss_ratio);
    match &advice.knee {
        None => format!(
            "LRU's curve has no knee: each doubling brings about as much as the last. No cache hits \
             more than {most}.\n"
        ),
        Some(knee) if knee.is_everything => format!(
            "LRU's curve falls until everything fits ({}); no cache hits more than {most}.\n",
            size(advice, advice.working_set)
        ),
        Some(knee) => format!(
            "LRU's knee is at {}: the doubling up to there brings {}, the next one {}. No cache hits \
             more than {most}.\n",
            size(advice, knee.capacity),
            points(knee.last_doubling),
            points(knee.next_doubling),
        ),
    }
}

fn sizes(advice: &CacheAdvice) -> String {
    let mut before: Option<f64> = None;
    let rows = advice.sizes.iter().map(|it| {
        let gain =
            before.map_or(String::new(), |last| format!("+{}", points(last - it.miss_ratio)));
        before = Some(it.miss_ratio);
        vec![size(advice, it.capacity), percent(1.0 - it.miss_ratio), gain]
    });
    "\n".to_owned() + &table(&["LRU at", "hits", "gain"], rows.collect())
}

fn helps(advice: &CacheAdvice) -> String {
    if advice.measures.is_empty() {
        let what = advice.useless.iter().map(|it| name(advice, &it.outcome));
        let mut text =
            "\nNothing helps: no policy and no doubling saves 5 % of the misses".to_owned();
        let tried: Vec<String> = what.collect();
        if !tried.is_empty() {
            let _ = write!(text, " (best tried: {})", tried.join("; "));
        }
        return text + ".\n";
    }
    let share = |saved: f64, of: f64| percent(saved / of.max(f64::MIN_POSITIVE));
    let present = &advice.present;
    let row = |it: &CacheMeasure| {
        let chosen = it.held_out.policy != present.policy || it.outcome.policy != present.policy;
        let held_out = match chosen {
            true => format!("{} with {}", held_out_saved(advice, it), it.held_out.policy),
            false => held_out_saved(advice, it),
        };
        vec![
            name(advice, &it.outcome),
            hits(&it.outcome),
            share(it.misses_saved, present.miss_ratio),
            held_out,
        ]
    };
    let now = vec![
        format!("(now: {})", name(advice, present)),
        hits(present),
        String::new(),
        String::new(),
    ];
    let mut rows: Vec<Vec<String>> = advice.measures.iter().map(row).collect();
    rows.push(now);
    "\n".to_owned()
        + &table(&["what helps", "hits", "fewer misses", "held out"], rows)
        + "Held out: fewer misses in the second half of the requests, with the policy that misses \
           least in the first half.\n"
        + &doubt(advice)
}

/// How many fewer misses the second half has with what the first half chose.
fn held_out_saved(advice: &CacheAdvice, it: &CacheMeasure) -> String {
    percent(it.held_out_saved / advice.present.second_miss_ratio.max(f64::MIN_POSITIVE))
}

/// What is said where the first half of the requests would not have chosen what gains over all.
fn doubt(advice: &CacheAdvice) -> String {
    let at_base = |it: &&CacheMeasure| it.outcome.capacity == advice.present.capacity;
    let Some(it) = advice.measures.iter().find(at_base) else { return String::new() };
    if it.held_out_saved >= CERTAIN * it.misses_saved {
        return String::new();
    }
    format!(
        "The trace changes: its first half would have chosen {}. So {} is less sure than a larger \
         cache; a longer trace would say more.\n",
        line(&it.held_out.policy),
        line(&it.outcome.policy),
    )
}

/// Write-back and readahead.
fn further(advice: &CacheAdvice) -> String {
    let mut text = String::new();
    if let Some(writes) = &advice.writes {
        let matters = match writes.absorbed * writes.share >= MATTERS {
            true => "write-back matters",
            false => "write-back matters little",
        };
        let _ = writeln!(
            text,
            "{} of the requests write, {} of these what was written before: {matters}, the cache \
             keeps {} of the writes from the device.",
            percent(writes.share),
            percent(writes.rewritten),
            percent(writes.absorbed),
        );
    }
    if let Some(ahead) = &advice.reading_ahead {
        text += &reading_ahead(ahead);
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}

fn reading_ahead(ahead: &ReadingAhead) -> String {
    let sequential = percent(ahead.sequential_share);
    let start = format!("{sequential} of the requests are for the page behind a recent one: ");
    let Some((without_s, with_s)) = ahead.without_s.zip(ahead.with_s) else {
        return match ahead.sequential_share < MATTERS {
            true => start + "readahead matters little.\n",
            false => {
                start + "readahead may matter (the trace is too long to simulate it in time).\n"
            }
        };
    };
    let seconds = |value: f64| format_duration((value.max(0.0) * 1e9) as u64);
    let matters = match without_s - with_s >= MATTERS * without_s {
        true => "readahead matters",
        false => "readahead matters little",
    };
    format!(
        "{start}{matters}. On {} the program would wait {} without it, {} with Linux's.\n",
        line(&ahead.device),
        seconds(without_s),
        seconds(with_s),
    )
}

/// The commands that show it in full.
fn commands(advice: &CacheAdvice, words: &str) -> String {
    let words = line(words);
    let mut policies = vec![advice.present.policy.as_str()];
    let mut sizes = vec![advice.present.capacity];
    for it in advice.measures.iter().map(|it| &it.outcome) {
        if !policies.contains(&it.policy.as_str()) {
            policies.push(&it.policy);
        }
        if !sizes.contains(&it.capacity) {
            sizes.push(it.capacity);
        }
    }
    sizes.sort_unstable();
    let sizes: Vec<String> = sizes.into_iter().map(|capacity| exact(advice, capacity)).collect();
    let mut text = format!(
        "\nTo see it in full:\n  seekless sim {words} --policy {} --capacity {}\n",
        policies.join(","),
        sizes.join(","),
    );
    let _ = writeln!(text, "  seekless sim {words} --policy lru --curve exact --picture curve.svg");
    if let Some(ahead) = advice.reading_ahead.as_ref().filter(|ahead| ahead.with_s.is_some()) {
        let _ = writeln!(
            text,
            "  seekless sim {words} --policy lru --capacity {} --device {} --readahead none,linux",
            exact(advice, advice.present.capacity),
            line(&ahead.device),
        );
    }
    text
}

/// `sieve, 1.1 GB`.
fn name(advice: &CacheAdvice, outcome: &Outcome) -> String {
    format!("{}, {}", outcome.policy, size(advice, outcome.capacity))
}

/// A size as people read it.
fn size(advice: &CacheAdvice, capacity: u64) -> String {
    if advice.in_bytes { format_bytes(capacity) } else { format!("{} ids", format_count(capacity)) }
}

/// A size as `seekless sim` reads it, without rounding.
fn exact(advice: &CacheAdvice, capacity: u64) -> String {
    if advice.in_bytes { format!("{capacity}B") } else { capacity.to_string() }
}

fn hits(outcome: &Outcome) -> String {
    percent(1.0 - outcome.miss_ratio)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn points(share: f64) -> String {
    format!("{:.1} points", 100.0 * share)
}
