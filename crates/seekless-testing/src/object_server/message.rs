//! Requests and responses of HTTP/1.1, as far as clients of object storage use it.

use std::io::{self, BufRead, Read, Write};

/// The head of a request is not longer.
const HEAD_BYTES_MAX: u64 = 64 << 10;

/// A request with its body.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: String,
    /// As it came: path and query.
    pub(super) target: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

/// An answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    /// What `Content-Length` says, where that is not the length of the body.
    pub(super) length: Option<u64>,
}

impl Request {
    /// The next request; `None` if the connection was closed.
    pub(super) fn read(reader: &mut impl BufRead) -> io::Result<Option<Self>> {
        let Some((first, headers)) = head(reader)? else { return Ok(None) };
        let mut words = first.split(' ').map(str::to_owned);
        let (Some(method), Some(target)) = (words.next(), words.next()) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let mut request = Self { method, target, headers, body: Vec::new() };
        let bytes = request.header("content-length").and_then(|bytes| bytes.parse().ok());
        reader.by_ref().take(bytes.unwrap_or(0)).read_to_end(&mut request.body)?;
        Ok(Some(request))
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    pub(super) fn without(&self, name: &str) -> Self {
        let mut request = self.clone();
        request.headers.retain(|(header, _)| !header.eq_ignore_ascii_case(name));
        request
    }

    pub(super) fn path(&self) -> &str {
        self.target.split_once('?').map_or(&self.target, |(path, _)| path)
    }

    /// A value of the query; empty if its name stands alone.
    pub(super) fn query(&self, name: &str) -> Option<&str> {
        let (_, query) = self.target.split_once('?')?;
        let parts = query.split('&').map(|part| part.split_once('=').unwrap_or((part, "")));
        parts.into_iter().find(|(found, _)| *found == name).map(|(_, value)| value)
    }

    pub(super) fn is_read(&self) -> bool {
        self.method == "GET" && self.header("range").is_some()
    }

    /// Whether it asks for names of objects or buckets, not for an object.
    pub(super) fn is_list(&self) -> bool {
        let is_of_bucket = self.path().trim_matches('/').split('/').count() < 2;
        self.method == "GET" && is_of_bucket
    }

    pub(super) fn send(&self, to: &mut impl Write) -> io::Result<()> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.target);
        let own = |name: &str| name.eq_ignore_ascii_case("connection");
        for (name, value) in self.headers.iter().filter(|(name, _)| !own(name)) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("Connection: close\r\n\r\n");
        to.write_all(head.as_bytes())?;
        to.write_all(&self.body)
    }
}

impl Response {
    pub(super) fn of(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    /// An error in S3's words. As S3 does, it repeats what the client said of itself.
    pub(super) fn error(status: u16, code: &str) -> Self {
        let body = format!(
            "<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>no</Message>\
             <AWSAccessKeyId>the-access-key</AWSAccessKeyId></Error>"
        );
        Self { body: body.into_bytes(), ..Self::of(status) }
    }

    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    pub(super) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.set(name, value);
        self
    }

    pub(super) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.headers.retain(|(header, _)| !header.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.into()));
    }

    pub(super) fn send_head(&self, to: &mut impl Write) -> io::Result<()> {
        let length = self.length.unwrap_or(self.body.len() as u64);
        let mut head = format!("HTTP/1.1 {} X\r\nContent-Length: {length}\r\n", self.status);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        to.write_all(head.as_bytes())
    }
}

type Head = (String, Vec<(String, String)>);

/// The first line and the headers of a message; `None` if the connection was closed before it.
pub(super) fn head(reader: &mut impl BufRead) -> io::Result<Option<Head>> {
    let mut reader = reader.take(HEAD_BYTES_MAX);
    let mut next = || -> io::Result<String> {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    };
    let first = next()?;
    if first.is_empty() {
        return Ok(None);
    }
    let mut headers = Vec::new();
    loop {
        let line = next()?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    Ok(Some((first, headers)))
}

pub(super) fn find<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let found = headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name));
    found.map(|(_, value)| &**value)
}
