//! The live engine: asynchronous, cached reads of packs and files.
