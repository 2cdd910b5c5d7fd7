//! Raw asynchronous reads: a ring, a thread pool, and two engines for tests.
//!
//! **Invariant:** reads bytes; knows no cache, policy or archive.
