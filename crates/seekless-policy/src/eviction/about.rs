//! What each policy is, in a line, and where it comes from. The registry of names: [`named`](super::named) builds them.

/// A policy as a list shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// What it is called; a variant follows after `@`.
    pub name: &'static str,
    /// What it does.
    pub what: &'static str,
    /// Who published it, or which program has it so.
    pub source: &'static str,
}

const fn about(name: &'static str, what: &'static str, source: &'static str) -> About {
    About { name, what, source }
}

const OZEN: &str = "Ozen 2018, blockcacheperf";
const WASSENBERG: &str = "Wassenberg 2006";

/// Every policy that [`visit`](super::visit) and [`named`](super::named) know.
pub const POLICIES: &[About] = &[
    about("lru", "what was used longest ago leaves first", "folklore; Mattson and others 1970"),
    about(
        "arc",
        "recency and frequency share the cache; ghosts say which gets more",
        "Megiddo and Modha, FAST 2003",
    ),
    about(
        "landlord",
        "files pay rent by their size; a use restores 3/4 of the credit",
        "Young 1998; Wassenberg 2006",
    ),
    about("landlord@full", "a use restores all of the credit", "Young 1998; Cao and Irani 1997"),
    about("landlord@naive", "as landlord, in floats; each eviction visits every file", WASSENBERG),
    about("landlord@naive-reciprocal", "the same, multiplying instead of dividing", WASSENBERG),
    about("landlord@cached", "as landlord@naive; remembers the poorest file", WASSENBERG),
    about("landlord@cached-reciprocal", "the same, multiplying instead of dividing", WASSENBERG),
    about("landlord@lazy", "as landlord@naive, with a heap that is rebuilt when needed", WASSENBERG),
    about("landlord@lazy-reciprocal", "the same, multiplying instead of dividing", WASSENBERG),
    about("fifo", "what came in first leaves first", "folklore; Belady 1966"),
    about("slru", "LRU in segments: a hit climbs one, overflow sinks one", "Karedla, Love and Wherry 1994"),
    about("slru@4", "the same in four equal segments", "libCacheSim"),
    about("lfu", "what was used least often while here leaves first", "folklore"),
    about("lfu-da", "LFU that ages: what was popular once does leave", "Arlitt and others 2000"),
    about("fwf", "when something does not fit, everything leaves", "Karlin and others 1988"),
    about("random", "any page may leave, each with the same chance", "Belady 1966"),
    about(
        "lru-2",
        "the page whose last use but one is longest ago leaves first",
        "O'Neil, O'Neil and Weikum, SIGMOD 1993",
    ),
    about(
        "lru-2@history",
        "also remembers the last use of pages that left",
        "O'Neil, O'Neil and Weikum, SIGMOD 1993",
    ),
    about(
        "mq",
        "a queue for each order of magnitude of use, with time limits",
        "Zhou, Philbin and Li, USENIX 2001",
    ),
    about("mq@fixed", "the same with a life time of 10,000 requests", "Zhou, Philbin and Li, USENIX 2001"),
    about("gds", "GreedyDual-Size: cost for each byte, and age", "Cao and Irani, USITS 1997"),
    about("gdsf", "GreedyDual-Size with frequency: small, dear, often used files stay", "Cherkasova 1998"),
    about(
        "hyperbolic",
        "uses for each request that a page has been here",
        "Blankstein, Sen and Freedman, ATC 2017",
    ),
    about(
        "opt",
        "what is used again last leaves first; knows the future",
        "Belady 1966; Mattson and others 1970",
    ),
    about("opt@bypass", "the same, and may leave the newcomer out", "Belady 1966; Mattson and others 1970"),
    about("belady-size", "the future for files: weight times distance; no bound", "libCacheSim"),
    about("clock", "LRU's choice at FIFO's price, with one bit a page", "Corbató 1968"),
    about("clock@read-hits", "only a read hit sets the bit", OZEN),
    about("clock@ozen", "CLOCK as his program has it", OZEN),
    about("2q", "a page must be asked for again, after a while, to be kept", "Johnson and Shasha, VLDB 1994"),
    about(
        "2q@simple",
        "a FIFO for what came once, LRU for what came back meanwhile",
        "Johnson and Shasha, VLDB 1994",
    ),
    about("2q@ozen", "a promoted page keeps its place among the ghosts", OZEN),
    about(
        "clock-pro",
        "LIRS with reference bits; the share of cold pages adapts",
        "Jiang, Chen and Zhang, ATC 2005",
    ),
    about("clock-pro@ozen", "CLOCK-Pro as his program has it", OZEN),
    about(
        "rrip",
        "a newcomer's next use is taken to be far away until it proves otherwise",
        "Jaleel and others, ISCA 2010",
    ),
    about("brrip", "static and bimodal RRIP in a duel (DRRIP)", "Jaleel and others, ISCA 2010"),
    about(
        "brrip@alone",
        "bimodal RRIP: one newcomer in 32 is given a chance",
        "Jaleel and others, ISCA 2010",
    ),
    about("brrip@ozen", "one newcomer in 20, his generator", OZEN),
    about("cflru", "among pages unused for long, clean ones leave first", "Park and others, CASES 2006"),
    about("lru-wsr", "a dirty page gets a second chance, a clean one does not", "Jung and others 2008"),
    about("fab", "pages leave by the erase block, the fullest first", "Jo and others 2006"),
    about("fab@ozen", "groups of 4 pages; a wholly dirty group leaves first", OZEN),
    about(
        "spatial-clock",
        "a clock whose hand moves over the device, not over time",
        "Kim, Ryu and Ramachandran, SIGMETRICS 2012",
    ),
    about("spatial-clock@ozen", "the spatial clock as his program has it", OZEN),
    about("arc@ozen", "ARC whose target moves by whole numbers", OZEN),
    about("car", "ARC's lesson with CLOCK's hits", "Bansal and Modha, FAST 2004"),
    about("car@read-hits", "only a read hit sets the bit", OZEN),
    about("car@ozen", "CAR as his program has it", OZEN),
    about(
        "random2",
        "of two pages drawn at random the one unused for longer leaves",
        "Mitzenmacher and others 2000; Luu 2014",
    ),
    about("random2@ozen", "the same with his generator", OZEN),
    about(
        "sieve",
        "a FIFO whose hand spares what was used since it last passed",
        "Zhang and others, NSDI 2024",
    ),
    about("s3-fifo", "three FIFO queues, and two uses on probation to pass", "Yang and others, SOSP 2023"),
    about("s3-fifo@2024", "as its authors changed it in 2024", "libCacheSim"),
    about("qdlp", "quick demotion by a small FIFO, lazy promotion by a CLOCK", "Yang and others, HotOS 2023"),
    about(
        "clock2q+",
        "probation in which uses right after the first do not count",
        "Zhai and others, VLDB 2026",
    ),
    about("clock2q+@short-ghosts", "the same with half as many ghosts", "Zhai and others, VLDB 2026"),
    about("lirs", "what was used twice at a short distance stays", "Jiang and Zhang, SIGMETRICS 2002"),
    about(
        "linux",
        "the page cache: an inactive and an active list, and refaults",
        "Linux since 3.15; Weiner 2014",
    ),
    about(
        "w-tinylfu",
        "a newcomer enters only if it is used more than what it replaces",
        "Einziger and others 2017, 2018",
    ),
    about("w-tinylfu@fixed", "the same with a window of always 1 %", "Einziger, Friedman and Manes 2017"),
];

/// The name of each, in the same order.
pub const NAMES: &[&str] = &{
    let mut names = [""; POLICIES.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = POLICIES[at].name;
        at += 1;
    }
    names
};

/// Names offered for one that is not known.
const OFFERED: usize = 3;

/// The names nearest to `wrong`, nearest first.
#[must_use]
pub fn nearest(wrong: &str) -> Vec<&'static str> {
    let plain = |name: &str| -> String { name.chars().filter(char::is_ascii_alphanumeric).collect() };
    let wrong = plain(&wrong.to_lowercase());
    let likeness = |name: &str| {
        let name = plain(name);
        let longer = name.len().max(wrong.len()).max(1) as f64;
        let apart = strsim::damerau_levenshtein(&wrong, &name) as f64 / longer;
        // Half a name is nearer than another of its length.
        if name.contains(&wrong) { apart / 2.0 } else { apart }
    };
    let mut ranked: Vec<(f64, &str)> = NAMES.iter().map(|name| (likeness(name), *name)).collect();
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
    ranked.into_iter().take(OFFERED).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eviction::named;

    #[test]
    fn every_policy_has_a_line_and_can_be_built() {
        for (at, policy) in POLICIES.iter().enumerate() {
            assert!(named(policy.name, 100).is_ok(), "{}", policy.name);
            assert!(!policy.what.is_empty() && !policy.source.is_empty(), "{}", policy.name);
            assert!(policy.what.len() + policy.name.len() < 96, "{}: one line", policy.name);
            assert!(POLICIES[..at].iter().all(|other| other.name != policy.name), "{} twice", policy.name);
        }
        assert_eq!(NAMES.len(), POLICIES.len());
    }

    #[test]
    fn a_typo_is_near_what_was_meant() {
        for (wrong, meant) in [
            ("lur", "lru"),
            ("s3fifo", "s3-fifo"),
            ("tinylfu", "w-tinylfu"),
            ("ARC", "arc"),
            ("clockpro", "clock-pro"),
            ("belady", "belady-size"),
            ("landlrod", "landlord"),
        ] {
            assert_eq!(nearest(wrong).first(), Some(&meant), "{wrong}: {:?}", nearest(wrong));
        }
        assert_eq!(nearest("").len(), 3);
        assert_eq!(nearest("something else entirely").len(), 3);
    }
}
