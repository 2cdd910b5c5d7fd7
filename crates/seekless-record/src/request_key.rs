//! What distinguishes requests whose results come later.

/// Where results come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Owner {
    /// In the address space of this number, by io_getevents.
    Space(usize),
    /// In the ring of this number.
    Ring(u32),
}

/// The owner of a request, and what comes back with its result: the address of its iocb, or what
/// the program has given it in a ring. Several requests may have the same.
pub(crate) type RequestKey = (Owner, u64);
