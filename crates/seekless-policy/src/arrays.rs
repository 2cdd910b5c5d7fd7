//! Arrays from which policies are made: each has an element an id, and allocates nothing for a
//! request once it has grown.

pub(crate) mod bits;
pub(crate) mod column;
pub(crate) mod counts;
pub(crate) mod heap;
pub(crate) mod key_order;
pub(crate) mod list;
pub(crate) mod queues;
pub(crate) mod radix;
pub(crate) mod ranking;
pub(crate) mod segments;
pub(crate) mod weights;
