//! A network with a delay: what comes to a port of the loopback goes on to another port later.

use anyhow::Context;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

/// Pieces that may be on their way in one direction of a connection: with the size of a piece this
/// bounds the memory.
const ON_THE_WAY_MAX: usize = 1 << 10;
const PIECE_BYTES: usize = 64 << 10;

/// A relay; it serves until the process ends.
#[derive(Debug)]
pub struct Relay {
    port: u16,
    answered: Arc<AtomicU64>,
}

impl Relay {
    /// Begins to relay to `server`, a port of the loopback. Each direction takes half of `delay`.
    ///
    /// # Errors
    /// No port can be had.
    pub fn to(server: u16, delay: Duration) -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port")?;
        let port = listener.local_addr()?.port();
        let answered = Arc::<AtomicU64>::default();
        let counted = Arc::clone(&answered);
        spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, server)) else {
                    continue;
                };
                let _ = client.set_nodelay(true); // without it, answers come later still
                let _ = server.set_nodelay(true);
                let (Ok(from), Ok(to)) = (client.try_clone(), server.try_clone()) else { continue };
                pass(from, server, delay / 2, Arc::default());
                pass(to, client, delay / 2, Arc::clone(&counted));
            }
        });
        Ok(Self { port, answered })
    }

    /// The port to connect to.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The bytes that the server has sent.
    #[must_use]
    pub fn answered_bytes(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }
}

/// Passes one direction of a connection on, each piece `delay` after it came.
fn pass(mut from: TcpStream, mut to: TcpStream, delay: Duration, counted: Arc<AtomicU64>) {
    let (sender, receiver) = mpsc::sync_channel::<(Instant, Vec<u8>)>(ON_THE_WAY_MAX);
    spawn(move || {
        let mut buffer = vec![0; PIECE_BYTES];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if sender.send((Instant::now() + delay, buffer[..count].to_vec())).is_err() {
                break;
            }
        }
    });
    spawn(move || {
        for (due, piece) in receiver {
            sleep(due.saturating_duration_since(Instant::now()));
            counted.fetch_add(piece.len() as u64, Ordering::Relaxed);
            if to.write_all(&piece).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both); // the other side may have closed already
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_arrives_whole_and_later() {
        let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let delay = Duration::from_millis(20);
        let relay = Relay::to(server.local_addr().unwrap().port(), delay).unwrap();
        spawn(move || {
            let (mut connection, _) = server.accept().unwrap();
            let mut asked = [0; 3];
            connection.read_exact(&mut asked).unwrap();
            assert_eq!(&asked, b"ask");
            connection.write_all(&vec![7; 300_000]).unwrap();
        });
        let begun = Instant::now();
        let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, relay.port())).unwrap();
        client.write_all(b"ask").unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).unwrap();
        assert!(begun.elapsed() >= delay);
        assert!(answer == vec![7; 300_000]);
        assert_eq!(relay.answered_bytes(), 300_000);
    }
}
