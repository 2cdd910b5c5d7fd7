//! What was read: accesses, the Parquet trace file, importers and exporters.
