//! What the simulator says of our store on a device of the proxy's delay and bandwidth, beside what
//! the proxy then counts for a store that was told these costs.

use super::means::{Means, Trial};
use super::prepared::PACK;
use super::storage::{BUCKET, device};
use super::way::Way;
use anyhow::Context;
use seekless::device::CostsSource;
use seekless::io::Store;
use seekless::policy::eviction::Id;
use seekless::policy::layout::extents::Extent;
use seekless::policy::planner::Memory;
use seekless::sim::store::{Archive, Settings, StoreFigures, Work, listed, on_demand};
use std::time::Instant;

/// Our store as simulated, and as it was when told the device's costs.
pub(super) struct Simulated {
    pub(super) way: Way,
    pub(super) figures: StoreFigures,
    pub(super) live: Trial,
}

/// Each of our ways, simulated and live.
pub(super) fn beside_live(means: &Means<'_>, delay_ms: u64) -> anyhow::Result<Vec<Simulated>> {
    let spec = device(means.args, delay_ms)?;
    let costs = spec.costs();
    let ours = Way::ALL.into_iter().filter(|way| way.is_ours() && way.is_asked(means.args));
    let mut all = Vec::new();
    for way in ours {
        let predict = way == Way::OnDemand { predict: true };
        let before = means.storage.served();
        let store = means.store(predict, Some(costs))?;
        let opened = means.storage.served();
        let opening = (opened.requests - before.requests, opened.bytes - before.bytes);
        let (archive, loads) = archive(means, &store, opening)?;
        let settings = Settings {
            policy: "landlord".to_owned(),
            together_bytes: None,
            memory: Memory {
                cache_bytes: means.args.cache << 20,
                read_ahead_bytes: None,
                window_bytes: None,
            },
            costs,
            source: CostsSource::Given,
            work: Work::default(),
            prediction: predict.then(|| store.learned()).flatten(),
        };
        drop(store);
        let mut model = spec.model();
        let simulate = if way == Way::Listed { listed } else { on_demand };
        let figures = simulate(&archive, &loads, &settings, &mut model)?;
        let live = means.trial(|| {
            let began = Instant::now();
            let store = means.store(predict, Some(costs))?;
            match way {
                Way::Listed => means.load_all(&store, began),
                _ => means.load_each(&store, began),
            }
        })?;
        all.push(Simulated { way, figures, live });
    }
    Ok(all)
}

/// The pack as the store sees it, and the entries that the start loads. Opening it takes this many
/// requests and bytes.
fn archive(
    means: &Means<'_>,
    store: &Store,
    (requests, bytes): (u64, u64),
) -> anyhow::Result<(Archive, Vec<Id>)> {
    let index = store.index();
    let extents: Vec<Extent> = index
        .entries()
        .map(|entry| Extent { offset: entry.header_offset, bytes: entry.extent_bytes })
        .collect();
    let loads =
        means.prepared.wanted.iter().map(|wanted| {
            store.entry_of(&wanted.name).with_context(|| format!("no {}", wanted.name))
        });
    let pack = means.prepared.root.join(BUCKET).join(PACK);
    let file_bytes = std::fs::metadata(pack)?.len();
    let each = bytes / requests.max(1);
    let archive = Archive {
        extents: extents.into(),
        bytes: (0..index.len() as u32).map(|number| index.bytes(number)).collect(),
        file_bytes,
        alignment: store.alignment(),
        opening: (0..requests).map(|_| Extent { offset: file_bytes - each, bytes: each }).collect(),
        names: None,
    };
    Ok((archive, loads.collect::<anyhow::Result<_>>()?))
}
