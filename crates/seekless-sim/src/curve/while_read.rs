//! SHARDS of a trace that is too long for memory: only the requests of the sample are kept while it
//! is read. The curve is that of [`shards`](super::shards()).

use super::hash::{Hash, threshold};
use super::shards::{Shards, curve_of};
use super::{Curve, Totals, spread};
use crate::Result;
use crate::requests::{Reading, Requests, Window};
use seekless_policy::eviction::Id;
use std::path::PathBuf;

/// Requests that are in memory at a time, beside the sample.
const WINDOW_REQUESTS: usize = 1 << 20;

/// LRU's miss ratios at up to `points` sizes ([`spread`]) from a fixed share of the ids, found
/// while the traces are read once: they may be pipes. Calls `progress` with the rows read and
/// those of all traces, estimated.
///
/// Memory: some 35 bytes an id of the trace, for its name and size, and 4 a request of the sample.
/// `None` if the traces are not of records, or the sample is of a number of ids: then
/// [`shards`](super::shards()) is for them.
///
/// # Errors
/// As [`Reading::read`].
pub fn shards_while_read(
    reading: &Reading,
    traces: &[PathBuf],
    points: usize,
    sample: Shards,
    progress: &mut (dyn FnMut(u64, u64) + Send),
) -> Result<Option<Curve>> {
    if sample.ids_max.is_some() {
        return Ok(None);
    }
    let Some((unit, mut reader)) = reading.reader(traces)? else { return Ok(None) };
    let (hash, limit) = (Hash::new(sample.seed), threshold(sample.rate));
    let (mut window, mut kept) = (Window::default(), Vec::new());
    let mut sizes = Sizes::default();
    let (mut count, mut weight) = (0, 0);
    loop {
        window.clear();
        let mut reported = |done, total| progress(done, total);
        let more = reader.read(&mut window, WINDOW_REQUESTS, &mut reported)?;
        count += window.ids.len() as u64;
        let is_kept = |id: Id| hash.of(id) < limit;
        if !reading.unit_weights {
            weight += sizes.take(&mut window, &kept, is_kept);
        }
        kept.extend(window.ids.iter().filter(|&&id| is_kept(id)));
        if !more {
            break;
        }
    }
    let weight = if reading.unit_weights { count } else { weight };
    let distinct = reader.objects.len();
    // The names of the objects, which are the most of all.
    drop(reader);
    let weights = (sizes.first, sizes.of_kept.unwrap_or_default());
    let requests = Requests::part(unit, kept, weights, distinct);
    let totals = Totals::new(&requests, count, weight);
    let sizes = spread(&requests, points);
    Ok(Some(curve_of(&requests, &sizes, sample, totals)))
}

/// What requests ask for.
#[derive(Default)]
struct Sizes {
    /// Of each id, at its first request and at its last so far.
    first: Vec<u64>,
    last: Vec<u64>,
    /// Of each request of the sample, once that of an id has changed.
    of_kept: Option<Vec<u64>>,
}

impl Sizes {
    /// Takes those of a window, which follows the requests `before` of the sample. Returns the sum
    /// of the window.
    fn take(&mut self, window: &mut Window, before: &[Id], is_kept: impl Fn(Id) -> bool) -> u64 {
        self.first.extend(window.new_sizes());
        let sizes = window.weigh(&mut self.last);
        if !sizes.is_empty() && self.of_kept.is_none() {
            self.of_kept = Some(before.iter().map(|&id| self.first[id as usize]).collect());
        }
        let mut sum = 0;
        for (at, &id) in window.ids.iter().enumerate() {
            let bytes = sizes.get(at).copied().unwrap_or_else(|| self.last[id as usize]);
            sum += bytes;
            if is_kept(id)
                && let Some(of_kept) = &mut self.of_kept
            {
                of_kept.push(bytes);
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::shards;
    use std::fs;

    /// Records of libCacheSim's oracleGeneral: seconds, id, size, next use.
    fn trace(path: &std::path::Path, size: impl Fn(u64, u32) -> u32) {
        let (mut bytes, mut draw) = (Vec::new(), 5_u64);
        for at in 0..300_000_u32 {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let id = (draw >> 33) % 300 * ((draw >> 45) % 200);
            bytes.extend((at / 1000).to_le_bytes());
            bytes.extend(id.to_le_bytes());
            bytes.extend(size(id, at).to_le_bytes());
            bytes.extend((-1_i64).to_le_bytes());
        }
        fs::write(path, bytes).unwrap();
    }

    #[test]
    fn the_curve_is_that_of_a_trace_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.oracleGeneral");
        let sized = |id: u64, _| 10 + (id % 90) as u32;
        let changing = |id: u64, at: u32| 10 + (id % 90) as u32 + at / 200_000 * (at % 5);
        for (size, unit_weights) in [
            (&(|_, _| 1_u32) as &dyn Fn(u64, u32) -> u32, false),
            (&sized, false),
            (&sized, true),
            (&changing, false),
        ] {
            trace(&path, size);
            let reading = Reading { unit_weights, ..Reading::default() };
            let traces = [path.clone()];
            let requests = reading.read(&traces, &mut |_, _| ()).unwrap();
            let sample = Shards { seed: 3, ..Shards::fixed_rate(0.1) };
            let expected = shards(&requests, &spread(&requests, 20), sample);
            let found = shards_while_read(&reading, &traces, 20, sample, &mut |_, _| ()).unwrap();
            assert_eq!(found, Some(expected));
        }
        let ids = Shards::fixed_size(100);
        let none = shards_while_read(&Reading::default(), &[path], 20, ids, &mut |_, _| ());
        assert_eq!(none.unwrap(), None);
    }
}
