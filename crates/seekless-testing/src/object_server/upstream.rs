//! Passes a request on to another server, and takes its whole answer.

use super::message::{Request, Response, find, head};
use std::io::{self, BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpStream};

/// Room that is made for a body before it comes.
const BODY_BYTES_MAX: u64 = 64 << 20;

pub(super) fn ask(server: SocketAddr, request: &Request) -> io::Result<Response> {
    let mut stream = TcpStream::connect(server)?;
    request.send(&mut stream)?;
    let mut reader = BufReader::new(stream);
    let (first, headers) = head(&mut reader)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or(io::ErrorKind::InvalidData)?;
    let length = find(&headers, "content-length").and_then(|length| length.parse().ok());
    let mut body = Vec::new();
    if find(&headers, "transfer-encoding").is_some_and(|coding| coding == "chunked") {
        read_chunks(&mut reader, &mut body)?;
    } else if request.method != "HEAD" {
        // Grown step by step, a body would be copied as often.
        body.reserve_exact(length.unwrap_or(0).min(BODY_BYTES_MAX) as usize);
        reader.read_to_end(&mut body)?;
    }
    let own = ["content-length", "transfer-encoding", "connection"];
    let passed = |(name, _): &(String, String)| !own.contains(&&*name.to_ascii_lowercase());
    let headers = headers.into_iter().filter(passed).collect();
    Ok(Response { status, headers, body, length })
}

fn read_chunks(reader: &mut impl BufRead, body: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let bytes = u64::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
        if bytes == 0 {
            return Ok(());
        }
        reader.by_ref().take(bytes).read_to_end(body)?;
        reader.read_line(&mut line)?;
    }
}
