//! Addresses of other machines by name, as this machine is configured, without loading a name
//! service into this process (see [`accounts`](crate::accounts)).

use crate::getent;
use std::ffi::OsStr;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

/// The addresses of a server, named as `HOST:PORT`, best first.
///
/// # Errors
/// `server` has no port, or its host has no address.
pub fn addresses(server: &str) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = server.parse() {
        return Ok(vec![address]);
    }
    let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidInput, why);
    let (host, port) = server
        .rsplit_once(':')
        .ok_or_else(|| invalid(format!("{server} has no port: write HOST:PORT")))?;
    let port = port.parse().map_err(|_| invalid(format!("{port} is no port: write HOST:PORT")))?;
    let none = || io::Error::new(io::ErrorKind::NotFound, format!("{host} has no address"));
    // `getent` takes a name that starts with a dash for an option.
    if host.is_empty() || host.starts_with('-') {
        return Err(none());
    }
    let programs = getent::programs();
    if !programs.iter().any(|program| program.exists()) {
        return Ok(server.to_socket_addrs()?.collect()); // files and DNS, which the C library asks itself
    }
    let answer = getent::ask(&programs, "ahosts", OsStr::new(host)).unwrap_or_default();
    let found = listed(&answer, port);
    if found.is_empty() { Err(none()) } else { Ok(found) }
}

/// Parses the lines of `getent ahosts`: an address, a kind of socket, a name. Each address is
/// listed once for each kind.
fn listed(answer: &[u8], port: u16) -> Vec<SocketAddr> {
    let text = String::from_utf8_lossy(answer);
    let mut found: Vec<SocketAddr> = Vec::new();
    for address in
        text.lines().filter_map(|line| line.split_whitespace().next()?.parse::<IpAddr>().ok())
    {
        let address = SocketAddr::new(address, port);
        if !found.contains(&address) {
            found.push(address);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_address_needs_nobody() {
        assert_eq!(addresses("127.0.0.1:80").unwrap(), ["127.0.0.1:80".parse().unwrap()]);
        assert_eq!(addresses("[::1]:80").unwrap(), ["[::1]:80".parse().unwrap()]);
    }

    #[test]
    fn each_address_is_taken_once_and_other_lines_never() {
        let answer =
            b"::1             STREAM localhost\n::1             DGRAM\n127.0.0.1 RAW\nnonsense\n\n";
        assert_eq!(listed(answer, 7), ["[::1]:7".parse().unwrap(), "127.0.0.1:7".parse().unwrap()]);
    }

    #[test]
    fn what_names_no_server_is_an_error_in_words() {
        for (server, words) in [
            ("localhost", "HOST:PORT"),
            ("localhost:x", "HOST:PORT"),
            (":80", "no address"),
            ("-s:80", "no address"),
        ] {
            let error = addresses(server).unwrap_err().to_string();
            assert!(error.contains(words), "{server}: {error}");
        }
    }

    #[test]
    fn localhost_is_found() {
        if getent::programs().iter().all(|program| !program.exists()) {
            return eprintln!("skipped: getent is not installed");
        }
        assert!(
            addresses("localhost:80").unwrap().iter().all(|address| address.ip().is_loopback())
        );
    }
}
