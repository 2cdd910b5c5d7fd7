//! The table of all policies. A row has the name, the constructor, the memory, one line on what it
//! does, and the source.

use super::Eviction;
use super::family::Family;
use super::landlord::{Charging, Division, Lazy, Reciprocal};
use super::{
    Arc, Auto, Car, Cflru, Clock, ClockOzen, ClockPro, ClockProOzen, DeviceTime, Fab, Fifo, Fwf,
    Gds, Gdsf,
};
use super::{
    Belady, BeladySize, Hyperbolic, Landlord, Lfu, LfuDa, Lru, Lru2, LruK, LruWsr, Mq, Opt, Random,
    Random2,
};
use super::{Cacheus, Camp, Cart, Frd, GdWheel, SampledLfu, SampledLru, SrLru};
use super::{
    Clock2QPlus, Clock2QPlusShort, Lirs, Qdlp, S3Fifo, S3Fifo2024, Sieve, TwoLists, WTinyLfu,
};
use super::{CrLfu, LeCaR, Lhd, Mru, Size, SizeHeap};
use super::{Random2Ozen, Rrip, Slru, SpatialClock, SpatialClockOzen, TwoQueue, TwoQueueSimple};
use crate::{Error, ErrorKind, Result};

/// Code that is compiled for each policy's own type: this gives the simulator a separate loop for
/// each policy.
pub trait Visitor {
    /// The result of a visit.
    type Output;
    /// Called once with the policy that has the name.
    fn visit<E: Eviction + Send + 'static>(self, policy: E) -> Self::Output;
}

/// A policy as lists show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// Its name; a variant has a suffix after `@`.
    pub name: &'static str,
    /// What it goes by.
    pub family: Family,
    /// What it does.
    pub what: &'static str,
    /// Who published it, or which program it is from.
    pub source: &'static str,
    /// Most bytes an id: where every weight and cost is 1, and in other cases.
    bytes_per_id: (u64, u64),
}

const OZEN: &str = "Ozen 2018, blockcacheperf";
const CACHEUS: &str = "Rodriguez and others, FAST 2021";
const WASSENBERG: &str = "Wassenberg 2006";
/// Seed of the bimodal insertions.
const RRIP_SEED: u64 = 3;

/// Makes the list and the constructor from rows of: name, family, constructor, bytes an id (see
/// [`About`]), what it does, source.
macro_rules! policies {
    ($(
        $name:literal => $family:ident, $build:expr, $bytes:expr, $what:literal, $source:expr;
    )*) => {
        /// Every policy that [`visit`](super::visit) and [`named`](super::named) know.
        pub const POLICIES: &[About] = &[
            $(About {
                name: $name,
                family: Family::$family,
                what: $what,
                source: $source,
                bytes_per_id: $bytes,
            },)*
        ];

        /// Builds the policy called `name` with `capacity` units of weight, and passes it to
        /// `visitor` with its own type.
        pub(super) fn visit_plain<V: Visitor>(
            name: &str,
            capacity: u64,
            visitor: V,
        ) -> Result<V::Output> {
            Ok(match name {
                $($name => visitor.visit(($build)(capacity)),)*
                _ => return Err(unknown(name)),
            })
        }
    };
}

policies! {
    "lru" => Recency, Lru::new, (9, 17),
        "what was used longest ago leaves first", "folklore; Mattson and others 1970";
    "arc" => Ghost, Arc::new, (10, 18),
        "recency and frequency share the cache; ghosts say which gets more",
        "Megiddo and Modha, FAST 2003";
    "landlord" => SizeAware, Landlord::new, (48, 48),
        "files pay rent by their size; a use restores 3/4 of the credit",
        "Young 1998; Wassenberg 2006";
    "landlord@full" => SizeAware, Gds::full_landlord, (17, 50),
        "a use restores all of the credit", "Young 1998; Cao and Irani 1997";
    "landlord@naive" => SizeAware, Charging::<Division, false>::new, (29, 37),
        "as landlord, in floats; each eviction visits every file", WASSENBERG;
    "landlord@naive-reciprocal" => SizeAware, Charging::<Reciprocal, false>::new, (37, 45),
        "the same, multiplying instead of dividing", WASSENBERG;
    "landlord@cached" => SizeAware, Charging::<Division, true>::new, (29, 37),
        "as landlord@naive; remembers the poorest file", WASSENBERG;
    "landlord@cached-reciprocal" => SizeAware, Charging::<Reciprocal, true>::new, (37, 45),
        "the same, multiplying instead of dividing", WASSENBERG;
    "landlord@lazy" => SizeAware, Lazy::<Division>::new, (45, 53),
        "as landlord@naive, with a heap that is rebuilt when needed", WASSENBERG;
    "landlord@lazy-reciprocal" => SizeAware, Lazy::<Reciprocal>::new, (53, 61),
        "the same, multiplying instead of dividing", WASSENBERG;
    "fifo" => Recency, Fifo::new, (9, 17),
        "what came in first leaves first", "folklore; Belady 1966";
    "slru" => Recency, Slru::new, (10, 18),
        "LRU in segments: a hit climbs one, overflow sinks one", "Karedla, Love and Wherry 1994";
    "slru@4" => Recency, Slru::four, (10, 18),
        "the same in four equal segments", "libCacheSim";
    "lfu" => Frequency, Lfu::new, (35, 43),
        "what was used least often while here leaves first", "folklore";
    "cr-lfu" => Frequency, CrLfu::new, (35, 43),
        "LFU of which the newest leaves first among equal counts", CACHEUS;
    "lfu-da" => Frequency, LfuDa::new, (48, 56),
        "LFU that ages: what was popular once does leave", "Arlitt and others 2000";
    "camp" => SizeAware, Camp::new, (48, 53),
        "GreedyDual-Size with few classes of worth", "Ghandeharizadeh and others, Middleware 2014";
    "cart" => Ghost, Cart::new, (11, 19),
        "CAR that tells pages of short use from pages of long use", "Bansal and Modha, FAST 2004";
    "gd-wheel" => SizeAware, GdWheel::new, (18, 26),
        "GreedyDual-Size in wheels of queues, without a heap", "Li and Cox, EuroSys 2015";
    "frd" => Ghost, Frd::new, (18, 18),
        "a small LRU as a filter, and a stack of reuse distances", "Park and Park, MSST 2017";
    "sampled-lru" => Sampled, SampledLru::new, (37, 45),
        "of a few random pages that used longest ago leaves", "Redis since 3.0";
    "sampled-lfu" => Sampled, SampledLfu::new, (37, 45),
        "of a few random pages that used least often leaves", "Redis since 4.0";
    "sr-lru" => Ghost, SrLru::new, (11, 19),
        "LRU of which a part takes newcomers; both parts adapt", CACHEUS;
    "cacheus" => Learned, Cacheus::new, (54, 62),
        "LeCaR of SR-LRU and CR-LFU, and its rate of learning adapts", CACHEUS;
    "cacheus@libcachesim" => Learned, Cacheus::as_in_program, (54, 62),
        "the same as that program has it", "libCacheSim";
    "lecar" => Learned, LeCaR::new, (52, 60),
        "LRU and LFU take turns, by weights that their mistakes change",
        "Vietri and others, HotStorage 2018";
    "lhd" => Learned, Lhd::lhd, (58, 58),
        "the least hits for the room and time that it takes, as learned, leaves first",
        "Beckmann, Chen and Cidon, NSDI 2018";
    "mru" => Recency, Mru::new, (9, 17),
        "what was used last leaves first", "Chou and DeWitt, VLDB 1985";
    "size" => SizeAware, Size::new, (9, 57),
        "the largest leaves first, of equal sizes that used longest ago",
        "Williams and others, SIGCOMM 1996";
    "size@heap" => SizeAware, SizeHeap::new, (29, 29),
        "the same with the ties of a binary heap", "libCacheSim";
    "fwf" => Recency, Fwf::new, (9, 17),
        "when something does not fit, everything leaves", "Karlin and others 1988";
    "random" => Sampled, Random::new, (13, 21),
        "any page may leave, each with the same chance", "Belady 1966";
    "lru-2" => Recency, Lru2::new, (52, 60),
        "the page whose last use but one is longest ago leaves first",
        "O'Neil, O'Neil and Weikum, SIGMOD 1993";
    "lru-2@history" => Recency, Lru2::with_history, (52, 60),
        "also remembers the last use of pages that left", "O'Neil, O'Neil and Weikum, SIGMOD 1993";
    "lru-k" => Recency, LruK::new, (48, 56),
        "the page whose k-th last use is longest ago leaves first",
        "O'Neil, O'Neil and Weikum, SIGMOD 1993";
    "mq" => Frequency, Mq::new, (22, 30),
        "a queue for each order of magnitude of use, with time limits",
        "Zhou, Philbin and Li, USENIX 2001";
    "mq@fixed" => Frequency, Mq::fixed, (22, 30),
        "the same with a life time of 10,000 requests", "Zhou, Philbin and Li, USENIX 2001";
    "gds" => SizeAware, Gds::new, (17, 50),
        "GreedyDual-Size: cost for each byte, and age", "Cao and Irani, USITS 1997";
    "gdsf" => SizeAware, Gdsf::new, (48, 53),
        "GreedyDual-Size with frequency: small, dear, often used files stay", "Cherkasova 1998";
    "hyperbolic" => Sampled, Hyperbolic::new, (61, 61),
        "uses for each request that a page has been here", "Blankstein, Sen and Freedman, ATC 2017";
    "opt" => Offline, Opt::new, (21, 21),
        "what is used again last leaves first; knows the future",
        "Belady 1966; Mattson and others 1970";
    "opt@bypass" => Offline, Opt::with_bypass, (21, 21),
        "the same, and may leave the newcomer out", "Belady 1966; Mattson and others 1970";
    "belady" => Offline, Belady::new, (42, 50),
        "what is used again last leaves first or stays out, whatever its size", "Belady 1966";
    "belady-size" => Offline, BeladySize::new, (57, 57),
        "the future for files: weight times distance; no bound", "libCacheSim";
    "clock" => Recency, Clock::new, (10, 18),
        "LRU's choice at FIFO's price, with one bit a page", "Corbató 1968";
    "clock@read-hits" => Recency, Clock::read_hits_only, (10, 18),
        "only a read hit sets the bit", OZEN;
    "clock@ozen" => Recency, ClockOzen::new, (10, 18),
        "CLOCK as his program has it", OZEN;
    "2q" => Ghost, TwoQueue::new, (18, 26),
        "a page must be asked for again, after a while, to be kept",
        "Johnson and Shasha, VLDB 1994";
    "2q@simple" => Ghost, TwoQueueSimple::new, (10, 18),
        "a FIFO for what came once, LRU for what came back meanwhile",
        "Johnson and Shasha, VLDB 1994";
    "2q@ozen" => Ghost, TwoQueue::as_published, (18, 26),
        "a promoted page keeps its place among the ghosts", OZEN;
    "clock-pro" => Ghost, ClockPro::new, (18, 26),
        "LIRS with reference bits; the share of cold pages adapts",
        "Jiang, Chen and Zhang, ATC 2005";
    "clock-pro@ozen" => Ghost, ClockProOzen::new, (10, 18),
        "CLOCK-Pro as his program has it", OZEN;
    "rrip" => Recency, Rrip::new, (15, 15),
        "a newcomer's next use is taken to be far away until it proves otherwise",
        "Jaleel and others, ISCA 2010";
    "brrip" => Recency, |capacity| Rrip::duel(capacity, RRIP_SEED), (15, 15),
        "static and bimodal RRIP in a duel (DRRIP)", "Jaleel and others, ISCA 2010";
    "brrip@alone" => Recency, |capacity| Rrip::bimodal(capacity, RRIP_SEED), (15, 15),
        "bimodal RRIP: one newcomer in 32 is given a chance", "Jaleel and others, ISCA 2010";
    "brrip@ozen" => Recency, Rrip::bimodal_as_published, (15, 15),
        "one newcomer in 20, his generator", OZEN;
    "cflru" => Device, Cflru::new, (26, 26),
        "among pages unused for long, clean ones leave first", "Park and others, CASES 2006";
    "device-time" => Device, DeviceTime::new, (53, 53),
        "what the device writes and fetches again in little time leaves first",
        "Seekless; after Ozen 2018 and Jiang and others, FAST 2005 (DULO)";
    "lru-wsr" => Device, LruWsr::new, (10, 18),
        "a dirty page gets a second chance, a clean one does not", "Jung and others 2008";
    "fab" => Device, Fab::new, (46, 46),
        "pages leave by the erase block, the fullest first", "Jo and others 2006";
    "fab@ozen" => Device, Fab::as_published, (61, 61),
        "groups of 4 pages; a wholly dirty group leaves first", OZEN;
    "spatial-clock" => Device, SpatialClock::new, (34, 34),
        "a clock whose hand moves over the device, not over time",
        "Kim, Ryu and Ramachandran, SIGMETRICS 2012";
    "spatial-clock@ozen" => Device, SpatialClockOzen::new, (34, 34),
        "the spatial clock as his program has it", OZEN;
    "arc@ozen" => Ghost, Arc::as_published, (10, 18),
        "ARC whose target moves by whole numbers", OZEN;
    "car" => Ghost, Car::new, (11, 19),
        "ARC's lesson with CLOCK's hits", "Bansal and Modha, FAST 2004";
    "car@read-hits" => Ghost, Car::read_hits_only, (11, 19),
        "only a read hit sets the bit", OZEN;
    "car@ozen" => Ghost, Car::as_published, (11, 19),
        "CAR as his program has it", OZEN;
    "random2" => Sampled, Random2::new, (21, 29),
        "of two pages drawn at random the one unused for longer leaves",
        "Mitzenmacher and others 2000; Luu 2014";
    "random2@ozen" => Sampled, Random2Ozen::new, (21, 29),
        "the same with his generator", OZEN;
    "sieve" => Recency, Sieve::new, (10, 18),
        "a FIFO whose hand spares what was used since it last passed",
        "Zhang and others, NSDI 2024";
    "s3-fifo" => Ghost, S3Fifo::new, (11, 19),
        "three FIFO queues, and two uses on probation to pass", "Yang and others, SOSP 2023";
    "s3-fifo@2024" => Ghost, S3Fifo2024::new, (11, 19),
        "as its authors changed it in 2024", "libCacheSim";
    "qdlp" => Ghost, Qdlp::new, (11, 19),
        "quick demotion by a small FIFO, lazy promotion by a CLOCK", "Yang and others, HotOS 2023";
    "clock2q+" => Ghost, Clock2QPlus::new, (19, 27),
        "probation in which uses right after the first do not count", "Zhai and others, VLDB 2026";
    "clock2q+@short-ghosts" => Ghost, Clock2QPlusShort::new, (19, 27),
        "the same with half as many ghosts", "Zhai and others, VLDB 2026";
    "lirs" => Ghost, Lirs::new, (18, 26),
        "what was used twice at a short distance stays", "Jiang and Zhang, SIGMETRICS 2002";
    "linux" => Ghost, TwoLists::new, (19, 27),
        "the page cache: an inactive and an active list, and refaults",
        "Linux since 3.15; Weiner 2014";
    "w-tinylfu" => Frequency, WTinyLfu::new, (34, 42),
        "a newcomer enters only if it is used more than what it replaces",
        "Einziger and others 2017, 2018";
    "w-tinylfu@fixed" => Frequency, WTinyLfu::fixed, (34, 42),
        "the same with a window of always 1 %", "Einziger, Friedman and Manes 2017";
    "auto" => Learned, Auto::new, (111, 149),
        "follows the policy that is best for the requests of late",
        "Seekless; after Fiat and others 1991";
}

/// The names of [`POLICIES`], in the same order.
pub const NAMES: &[&str] = &{
    let mut names = [""; POLICIES.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = POLICIES[at].name;
        at += 1;
    }
    names
};

/// Most bytes that the policy called `name` takes for each id below the largest; `unit_weights` if
/// every weight and cost is 1. Ghosts and weights are included, and the spare room of arrays that
/// double. The queues by position that [`Opt`] keeps are not, nor the table of
/// ages of [`Lhd`]. `tests/memory.rs` counts the real
/// allocations.
///
/// # Errors
/// There is no such policy.
pub fn bytes_per_id(name: &str, unit_weights: bool) -> Result<u64> {
    let plain = name.split(':').next().unwrap_or(name);
    let policy =
        POLICIES.iter().find(|policy| policy.name == plain).ok_or_else(|| unknown(name))?;
    let (pages, files) = policy.bytes_per_id;
    Ok(if unit_weights { pages } else { files })
}

pub(super) fn unknown(name: &str) -> Error {
    let near = match nearest(name) {
        near if near.is_empty() => String::new(),
        near => format!("; near it are {}", near.join(", ")),
    };
    let message =
        format!("no policy is called {name:?}{near}; `seekless sim --policies` lists all");
    Error::new(ErrorKind::UnknownName, message)
}

/// The names that `wrong` may have been meant for, the nearest first: at most three, perhaps none.
#[must_use]
pub fn nearest(wrong: &str) -> Vec<&'static str> {
    seekless_device::nearest(wrong, NAMES.iter().copied())
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
            assert!(
                POLICIES[..at].iter().all(|other| other.name != policy.name),
                "{} twice",
                policy.name
            );
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
            ("beladysize", "belady-size"),
            ("landlrod", "landlord"),
        ] {
            assert_eq!(nearest(wrong).first(), Some(&meant), "{wrong}: {:?}", nearest(wrong));
        }
    }

    #[test]
    fn what_is_near_no_name_is_answered_without_any() {
        let said = named("something else entirely", 1).unwrap_err().to_string();
        let expected = "no policy is called \"something else entirely\"; `seekless sim --policies` \
                        lists all";
        assert_eq!(said, expected);
    }
}
