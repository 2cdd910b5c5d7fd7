//! The protocol between a client and a server of SLEDs over TCP (Van Meter and Gao 2000, section 6:
//! SLEDs as the vocabulary of communication between clients and servers). A question and an answer
//! are a line of JSON each, bounded in size and time.

use crate::{Confidence, Level, Sled};
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The version of the protocol.
pub(crate) const VERSION: u32 = 1;
/// The largest question: a path and little more.
pub(crate) const QUESTION_BYTES_MAX: usize = 16 << 10;
/// The most SLEDs in an answer. What follows them in the file is one SLED of unknown level.
pub(crate) const SLEDS_MAX: usize = 2_000;
/// The largest answer. With all that is parsed from it, a hostile answer costs a client less than 1
/// MB.
pub(crate) const ANSWER_BYTES_MAX: usize = 384 << 10;

/// Asks for the SLEDs of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Question {
    /// [`VERSION`].
    pub(crate) seekless: u32,
    /// Absolute on the server.
    pub(crate) path: String,
}

/// The file's size and its SLEDs, or an error. The fields are optional rather than an enum: serde
/// would parse an enum into a tree first, many times as large as its text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Answer {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sleds: Option<Vec<WireSled>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

impl Answer {
    pub(crate) fn sleds(bytes: u64, sleds: Vec<WireSled>) -> Self {
        Answer { bytes: Some(bytes), sleds: Some(sleds), error: None }
    }

    pub(crate) fn error(why: String) -> Self {
        Answer { error: Some(why), ..Answer::default() }
    }
}

/// A [`Sled`] in plain numbers, as JSON has them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct WireSled {
    offset: u64,
    bytes: u64,
    latency_s: f64,
    /// Bytes per second; `null` if infinite.
    bandwidth: Option<f64>,
    level: Level,
    confidence: Confidence,
    age_s: f64,
}

impl From<&Sled> for WireSled {
    fn from(sled: &Sled) -> Self {
        WireSled {
            offset: sled.offset,
            bytes: sled.bytes,
            latency_s: sled.latency.as_secs_f64(),
            bandwidth: Some(sled.bandwidth).filter(|bandwidth| bandwidth.is_finite()),
            level: sled.level,
            confidence: sled.confidence,
            age_s: sled.age.as_secs_f64(),
        }
    }
}

/// Checks the SLEDs of an answer: in order, not overlapping, within a file of `bytes`, with valid
/// times and bandwidths.
pub(crate) fn checked(sleds: &[WireSled], bytes: u64) -> Result<Vec<Sled>, &'static str> {
    let mut end = 0;
    if sleds.len() > SLEDS_MAX {
        return Err("too many SLEDs");
    }
    let mut checked = Vec::with_capacity(sleds.len());
    for sled in sleds {
        let next =
            sled.offset.checked_add(sled.bytes).filter(|&next| sled.bytes > 0 && next <= bytes);
        let next =
            next.filter(|_| sled.offset >= end).ok_or("ranges out of order or beyond the file")?;
        let bandwidth = sled.bandwidth.unwrap_or(f64::INFINITY);
        if bandwidth.is_nan() || bandwidth <= 0.0 {
            return Err("a bandwidth is zero or negative");
        }
        let time = |seconds| Duration::try_from_secs_f64(seconds).map_err(|_| "a time is invalid");
        let (latency, age) = (time(sled.latency_s)?, time(sled.age_s)?);
        let (offset, level, confidence) = (sled.offset, sled.level, sled.confidence);
        checked.push(Sled {
            offset,
            bytes: sled.bytes,
            latency,
            bandwidth,
            level,
            confidence,
            age,
        });
        end = next;
    }
    Ok(checked)
}

/// A connection, as far as a conversation needs one.
pub(crate) trait Wire {
    /// As [`Read::read`], for at most so long.
    fn read_within(&self, buffer: &mut [u8], time: Duration) -> io::Result<usize>;

    /// As [`Write::write`], for at most so long.
    fn write_within(&self, bytes: &[u8], time: Duration) -> io::Result<usize>;
}

impl Wire for TcpStream {
    fn read_within(&self, buffer: &mut [u8], time: Duration) -> io::Result<usize> {
        self.set_read_timeout(Some(time))?;
        (&*self).read(buffer)
    }

    fn write_within(&self, bytes: &[u8], time: Duration) -> io::Result<usize> {
        self.set_write_timeout(Some(time))?;
        (&*self).write(bytes)
    }
}

/// The time left until the deadline, or an error after it.
pub(crate) fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// Writes all of a line by the deadline, even if the peer takes only a little at a time.
pub(crate) fn write_line(stream: &impl Wire, mut line: &[u8], deadline: Instant) -> io::Result<()> {
    while !line.is_empty() {
        match stream.write_within(line, left(deadline)?) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => line = &line[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads a line by the deadline, without its newline. `None` if the peer has hung up before the
/// first byte.
pub(crate) fn read_line(
    stream: &impl Wire,
    bytes_max: usize,
    deadline: Instant,
) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = match stream.read_within(&mut buffer, left(deadline)?) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        if read == 0 {
            return if line.is_empty() {
                Ok(None)
            } else {
                Err(io::ErrorKind::UnexpectedEof.into())
            };
        }
        if line.len() + read > bytes_max {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a line that is too long"));
        }
        let looked_at = line.len();
        line.extend_from_slice(&buffer[..read]);
        match line[looked_at..].iter().position(|&byte| byte == b'\n').map(|end| looked_at + end) {
            // One question, one answer: bytes after the newline were sent before they were asked
            // for.
            Some(end) if end + 1 < line.len() => {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "more than one line"));
            }
            Some(end) => {
                line.truncate(end);
                return Ok(Some(line));
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sled(offset: u64, bytes: u64) -> WireSled {
        let (level, confidence) = (Level::Device, Confidence::Exact);
        WireSled {
            offset,
            bytes,
            latency_s: 0.018,
            bandwidth: Some(9e6),
            level,
            confidence,
            age_s: 0.0,
        }
    }

    #[test]
    fn sleds_come_back_as_they_went() {
        let before = Sled {
            offset: 7,
            bytes: 9,
            latency: Duration::from_millis(270),
            bandwidth: f64::INFINITY,
            level: Level::Hole,
            confidence: Confidence::Sampled,
            age: Duration::from_secs(3),
        };
        let text = serde_json::to_string(&WireSled::from(&before)).expect("written");
        let wire: WireSled = serde_json::from_str(&text).expect("read");
        assert_eq!(checked(&[wire], 100), Ok(vec![before]));
    }

    #[test]
    fn a_line_that_is_taken_byte_by_byte_ends_with_its_deadline() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let stream = TcpStream::connect(listener.local_addr().expect("known")).expect("connected");
        let (mut slow, _) = listener.accept().expect("accepted");
        let (ended, end) = std::sync::mpsc::channel::<()>();
        let reader = std::thread::spawn(move || {
            let mut taken = 0;
            while matches!(end.try_recv(), Err(std::sync::mpsc::TryRecvError::Empty)) {
                taken += slow.read(&mut [0; 256]).expect("there is more");
                std::thread::sleep(Duration::from_millis(5));
            }
            taken
        });
        // More than the buffers between hold, and more than the reader takes in a minute.
        let line = vec![b'x'; 64 << 20];
        let error = write_line(&stream, &line, Instant::now() + Duration::from_millis(300));
        let kind = error.expect_err("too slow").kind();
        assert!(matches!(kind, io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock), "{kind}");
        drop(ended);
        assert!(reader.join().expect("it ends") > 0);
    }

    #[test]
    fn figures_that_are_none_are_refused() {
        let bad = [
            vec![sled(0, 0)],
            vec![sled(0, 101)],
            vec![sled(u64::MAX, 2)],
            vec![sled(10, 10), sled(5, 5)],
            vec![WireSled { bandwidth: Some(0.0), ..sled(0, 1) }],
            vec![WireSled { bandwidth: Some(f64::NAN), ..sled(0, 1) }],
            vec![WireSled { latency_s: -1.0, ..sled(0, 1) }],
            vec![WireSled { latency_s: 1e300, ..sled(0, 1) }],
            vec![WireSled { age_s: f64::NAN, ..sled(0, 1) }],
            vec![sled(0, 1); SLEDS_MAX + 1],
        ];
        for sleds in bad {
            assert!(checked(&sleds, 100).is_err(), "{:?}", sleds.first());
        }
        assert!(checked(&[sled(0, 10), sled(50, 50)], 100).is_ok());
    }
}
