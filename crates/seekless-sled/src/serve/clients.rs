//! The connected clients, and which of them must make room for another. An address with too many
//! connections loses its own that has been silent for longest. A full server loses the one that has
//! been silent for longest of all. So silent clients cannot keep others out.

use std::net::IpAddr;
use std::time::Instant;

/// The clients of a server, each with its connection.
#[derive(Debug)]
pub(super) struct Clients<C> {
    clients_max: usize,
    per_peer_max: usize,
    next: u64,
    entries: Vec<Entry<C>>,
}

#[derive(Debug)]
struct Entry<C> {
    number: u64,
    peer: IpAddr,
    /// Since when the server waits for the client, to ask or to fetch the answer. `None` while the
    /// answer is being made.
    silent_since: Option<Instant>,
    connection: C,
}

/// What happens to a new connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Entered<C> {
    /// It is accepted as a client with this number. The other connection, if any, must be closed.
    As(u64, Option<C>),
    /// It is refused: all clients that could make room are being answered.
    Refused(C),
}

impl<C> Clients<C> {
    pub(super) fn new(clients_max: usize, per_peer_max: usize) -> Self {
        Clients { clients_max, per_peer_max, next: 0, entries: Vec::new() }
    }

    pub(super) fn enter(&mut self, peer: IpAddr, connection: C, now: Instant) -> Entered<C> {
        let peer = peer.to_canonical();
        let of_peer = self.entries.iter().filter(|entry| entry.peer == peer).count();
        let mut gone = None;
        if of_peer >= self.per_peer_max || self.entries.len() >= self.clients_max {
            let own_only = of_peer >= self.per_peer_max;
            gone = self.remove_silent(|entry| !own_only || entry.peer == peer);
            if gone.is_none() {
                return Entered::Refused(connection);
            }
        }
        let number = self.next;
        self.next += 1;
        self.entries.push(Entry { number, peer, silent_since: Some(now), connection });
        Entered::As(number, gone)
    }

    /// Removes the client that has been silent for longest.
    pub(super) fn make_room(&mut self) -> Option<C> {
        self.remove_silent(|_| true)
    }

    fn remove_silent(&mut self, among: impl Fn(&Entry<C>) -> bool) -> Option<C> {
        let silent = self.entries.iter().enumerate().filter(|(_, entry)| among(entry));
        let silent =
            silent.filter_map(|(index, entry)| Some((entry.silent_since?, entry.number, index)));
        let (_, _, index) = silent.min()?;
        Some(self.entries.swap_remove(index).connection)
    }

    /// Notes that an answer is being made for a client (`None`), or that the client is silent since
    /// then. False if it was removed.
    pub(super) fn is_silent_since(&mut self, number: u64, since: Option<Instant>) -> bool {
        let entry = self.entries.iter_mut().find(|entry| entry.number == number);
        entry.map(|entry| entry.silent_since = since).is_some()
    }

    pub(super) fn leave(&mut self, number: u64) {
        self.entries.retain(|entry| entry.number != number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const ONE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));
    const TWO: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2));

    /// A server of four clients, two of a peer, and a clock.
    fn server() -> (Clients<&'static str>, impl FnMut() -> Instant) {
        let mut now = Instant::now();
        let tick = move || {
            now += Duration::from_secs(1);
            now
        };
        (Clients::new(4, 2), tick)
    }

    #[test]
    fn a_peer_with_too_many_loses_its_own_that_is_silent_for_longest() {
        let (mut clients, mut tick) = server();
        assert_eq!(clients.enter(TWO, "other", tick()), Entered::As(0, None));
        assert_eq!(clients.enter(ONE, "first", tick()), Entered::As(1, None));
        assert_eq!(clients.enter(ONE, "second", tick()), Entered::As(2, None));
        assert_eq!(clients.enter(ONE, "third", tick()), Entered::As(3, Some("first")));
        assert!(!clients.is_silent_since(1, None), "hung up on");
        assert!(clients.is_silent_since(2, None) && clients.is_silent_since(3, None));
        assert_eq!(
            clients.enter(ONE, "fourth", tick()),
            Entered::Refused("fourth"),
            "both are being answered"
        );
        assert!(clients.is_silent_since(3, Some(tick())));
        assert_eq!(clients.enter(ONE, "fifth", tick()), Entered::As(4, Some("third")));
    }

    #[test]
    fn a_full_server_hangs_up_on_the_silent_and_on_nobody_whom_it_answers() {
        let (mut clients, mut tick) = server();
        let peers = [1, 2, 3, 4].map(|last| IpAddr::from([192, 168, 0, last]));
        for (number, peer) in peers.into_iter().enumerate() {
            assert_eq!(clients.enter(peer, "silent", tick()), Entered::As(number as u64, None));
        }
        assert!(clients.is_silent_since(0, None));
        assert_eq!(clients.enter(ONE, "new", tick()), Entered::As(4, Some("silent")));
        assert!(clients.is_silent_since(0, None) && !clients.is_silent_since(1, None));
        clients.leave(0);
        assert_eq!(clients.enter(TWO, "next", tick()), Entered::As(5, None), "there is room again");
        for number in [2, 3, 4, 5] {
            assert!(clients.is_silent_since(number, None));
        }
        assert_eq!(clients.enter(ONE, "late", tick()), Entered::Refused("late"));
        assert_eq!(clients.make_room(), None);
    }

    #[test]
    fn an_address_of_version_4_is_one_peer_however_it_is_written() {
        let (mut clients, mut tick) = server();
        let mapped = "::ffff:10.0.0.1".parse().expect("an address");
        clients.enter(ONE, "first", tick());
        clients.enter(mapped, "second", tick());
        assert_eq!(clients.enter(ONE, "third", tick()), Entered::As(2, Some("first")));
    }
}
