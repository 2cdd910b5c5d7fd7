//! The longer parts of the help of `seekless sim`.

/// What stands below the options.
pub(super) const EXAMPLES: &str = "\
Examples:
  seekless sim run.parquet --capacity 64MB
  seekless sim run.parquet --unit page --policy lru,arc --capacity 1MB..256MB*2
  seekless sim monday.csv.gz tuesday.csv.gz --policy landlord --capacity 10MB --json
  seekless sim w105.oracleGeneral.zst --policy lru,s3-fifo --capacity 1GB,10GB
  seekless sim w105.oracleGeneral.zst --warm-up 20% --sample 1% --policy lru --capacity 100MB
  seekless sim kv.csv --columns time:s=#1,key=#2,bytes=#3+#4,op=#6 --no-header --where op=get
  seekless sim kv.csv --columns time:s=#1,key=#2,bytes=#3+#4,ttl:s=#7 --no-header --expiry active
  seekless sim own.parquet --columns time:us=at,key=id,bytes=size --admission adaptsize
  seekless sim zipf:objects=1M,alpha=0.9,requests=100M --policy lru,sieve --capacity 1%,10%
  seekless sim blocks.parquet --raw --policy lru,2q --capacity 10000pages
  seekless sim blocks.parquet --policy s3-fifo,s3-fifo:small=0.05,ghost=1 --capacity 10%
  seekless sim blocks.parquet --policy arc --capacity 10% --write-back every=30s,dirty=20%,sync --post-cache below.parquet
  seekless sim blocks.parquet --policy lru,cflru --write-back linux,expire=10s --capacity 64MB
  seekless sim ids.parquet --unit-weights --policy lru,sieve --capacity 1%,5%,10% --every 5000
  seekless sim run.parquet --unit page --curve exact --policy lru --picture curve.svg
  seekless sim run.parquet --unit page --capacity 1MB..256MB*2 --html caches.html
  seekless sim run.parquet --device iops=500,bandwidth=150MB/s --readahead none,ondemand,linux --readahead-max 1MiB
  seekless sim run.parquet --pack data.zip --device iops=500,bandwidth=150MB/s --policy lru,landlord
  seekless sim blocks.parquet --shards 0.05 --policy lru,arc,s3-fifo --picture curves.png
  zstdcat w105.oracleGeneral.zst | seekless sim - --unit-weights --policy lru,arc --capacity 1000000";

/// The rules of `--write-back`.
pub(super) const WRITE_BACK: &str = "\
Rules of --write-back, separated by commas (PERIOD is a time of the trace such as 30s, or a number
of requests; SHARE is of the capacity, such as 10%):
  evict              nothing but eviction writes: Ozen's program, and the default
  linux              expire=30s,wake=5s,background=10%,limit=20%,cluster=file,sync; rules behind it
                     replace its own
  sync               the pages of a file when the trace syncs it
  every=PERIOD       all dirty pages once in a period
  dirty=SHARE        all dirty pages when there are more
  expire=PERIOD      a page that has been dirty for so long, at the flusher's next wake
  wake=PERIOD        how often the flusher wakes [5s, or a sixth of expire in requests]
  background=SHARE   at a wake, the oldest pages until no more are dirty
  limit=SHARE        a write above it is held up until the oldest are written, down to the middle
                     between background and limit
  cluster=file|SIZE  with a page that is due go the dirty ones of its file, or of its file within
                     an aligned group of SIZE (64KiB, 16pages)
  shrink=SHARE@FROM..UNTIL
                     the cache has this share of its capacity for a while (50%@60s..90s)
With --device, periods are times of the simulation, and writers wait for what a limit or a sync has
written; there is no shrink.
";
