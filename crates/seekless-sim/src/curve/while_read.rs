//! SHARDS of a trace that is too long for memory: only the requests of the sample are kept while it
//! is read. The curve is that of [`shards`](super::shards()).

use super::hash::{Hash, threshold};
use super::shards::{Shards, curve_of};
use super::{Curve, Totals, spread};
use crate::Result;
use crate::requests::{Reading, Requests, Window};
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
    // What each id weighs, and how often it is requested: at most 2^32 times, the reader's bound.
    let (mut weights, mut uses) = (Vec::<u64>::new(), Vec::<u32>::new());
    let mut count = 0;
    loop {
        window.clear();
        let mut told = |done, total| progress(done, total);
        let more = reader.read(&mut window, WINDOW_REQUESTS, &mut told)?;
        count += window.ids.len() as u64;
        kept.extend(window.ids.iter().filter(|&&id| hash.of(id) < limit));
        if !reading.unit_weights {
            window.weigh(&mut weights);
            uses.resize(weights.len(), 0);
            for &id in &window.ids {
                let uses = &mut uses[id as usize];
                *uses = uses.saturating_add(1);
            }
        }
        if !more {
            break;
        }
    }
    let weight = match weights.iter().all(|&weight| weight == 1) {
        true => count,
        false => weights.iter().zip(&uses).map(|(weight, &uses)| weight * u64::from(uses)).sum(),
    };
    let distinct = reader.objects.len();
    // The names of the objects, which are the most of all.
    drop((reader, uses));
    let requests = Requests::part(unit, kept, weights, distinct);
    let totals = Totals::new(&requests, count, weight);
    let sizes = spread(&requests, points);
    Ok(Some(curve_of(&requests, &sizes, sample, totals)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::shards;
    use std::fs;

    /// Records of libCacheSim's oracleGeneral: seconds, id, size, next use.
    fn trace(path: &std::path::Path, size: impl Fn(u64) -> u32) {
        let (mut bytes, mut draw) = (Vec::new(), 5_u64);
        for at in 0..300_000_u32 {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let id = (draw >> 33) % 300 * ((draw >> 45) % 200);
            bytes.extend((at / 1000).to_le_bytes());
            bytes.extend(id.to_le_bytes());
            bytes.extend(size(id).to_le_bytes());
            bytes.extend((-1_i64).to_le_bytes());
        }
        fs::write(path, bytes).unwrap();
    }

    #[test]
    fn the_curve_is_that_of_a_trace_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.oracleGeneral");
        for (sized, unit_weights) in [(false, false), (true, false), (true, true)] {
            trace(&path, |id| if sized { 10 + (id % 90) as u32 } else { 1 });
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
