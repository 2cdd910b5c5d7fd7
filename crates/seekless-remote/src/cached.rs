//! A read of an object through the disk cache: what is there costs no request, and what is not is
//! asked for in whole sectors, which are kept.

use crate::disk::{DiskCache, Key};
use crate::object::{self, Object};
use crate::range::Client;
use futures_util::future::try_join_all;
use seekless_engine::AlignedBuf;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// The disk cache, and an object's name in it.
#[derive(Clone, Debug)]
pub(crate) struct Through {
    pub(crate) cache: Arc<DiskCache>,
    pub(crate) key: Key,
}

impl Through {
    /// Fills the first `bytes` of `buffer` with those of `object` from `offset` on, which it has.
    /// Says whether that took a request.
    pub(crate) async fn read(
        self,
        client: &Client,
        object: &Object,
        offset: u64,
        buffer: &mut AlignedBuf,
        bytes: usize,
    ) -> io::Result<bool> {
        let (mut own, object_bytes, through) =
            (std::mem::take(buffer), object.bytes(), self.clone());
        let fill = move || {
            let into = &mut own.whole_mut()[..bytes];
            let missing = through.cache.fill(&through.key, object_bytes, offset, into);
            (own, missing)
        };
        let missing;
        (*buffer, missing) = spawn_blocking(fill).await.map_err(io::Error::other)?;
        let costs = client.learned.costs();
        let asks = joined(missing, costs.gap_bytes()).into_iter().map(|range| async move {
            let mut content = vec![0; object::length(range.end - range.start)?];
            client.read(object, range.start, &mut content).await?;
            Ok::<_, io::Error>((range.start, content))
        });
        let fetched = try_join_all(asks).await?;
        let asked = !fetched.is_empty();
        for (start, content) in fetched {
            let into = &mut buffer.whole_mut()[..bytes];
            copy(&content, start, into, offset);
            self.cache.keep(self.key, start, content);
        }
        Ok(asked)
    }
}

/// Joins ranges with gaps that are cheaper to read than a request is.
fn joined(ranges: Vec<Range<u64>>, gap_bytes: u64) -> Vec<Range<u64>> {
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start - last.end < gap_bytes => last.end = range.end,
            _ => joined.push(range),
        }
    }
    joined
}

/// Copies what of `content`, which begins at `start`, falls into `into`, which begins at `offset`.
pub(crate) fn copy(content: &[u8], start: u64, into: &mut [u8], offset: u64) -> u64 {
    let from = start.max(offset);
    let end = (start + content.len() as u64).min(offset + into.len() as u64);
    let length = end.saturating_sub(from) as usize;
    let (skipped, to) = ((from - start) as usize, (from - offset) as usize);
    into[to..to + length].copy_from_slice(&content[skipped..skipped + length]);
    length as u64
}
